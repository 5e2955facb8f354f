"""A node of ours in a process of its own, for tests."""

from collections.abc import Iterator
from contextlib import contextmanager
import signal
import subprocess
import sys
import time

from rclpy.duration import Duration

GIVE_UP = 180.0  # [s], on a machine that is busy with other tests


@contextmanager
def running_node(module: str, *arguments: str) -> Iterator[subprocess.Popen]:
    """Process of a node or bridge with ROS arguments; ended with SIGINT, then killed."""
    folder = 'bridges' if module.endswith('_bridge') else 'nodes'
    command = [sys.executable, '-m', f'safe_sysid.ros.{folder}.{module}', '--ros-args', *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.wait(GIVE_UP)
        except BaseException:
            process.kill()
            sys.stderr.write(f'{module} said:\n{process.stderr.read()}')
            raise
        finally:
            process.kill()


def wait_until(condition, what: str, step=lambda: time.sleep(0.01)) -> None:
    """Wait for something that has to come true; `step` is done in between."""
    end = time.monotonic() + GIVE_UP
    while not condition():
        assert time.monotonic() < end, f'waited {GIVE_UP} s for {what}'
        step()


def greet(publisher, msg) -> None:
    """Publish something, and wait until the nodes that listen have found the publisher."""
    greet_on_all([(publisher, msg)])


def greet_on_all(messages) -> None:
    """Publish each message with its publisher, and wait until who listens has found them.

    Each side of DDS finds the other in its own time: who publishes may know of a listener that
    does not yet know of him, and then the first message is lost. Who listens says so when he is
    asked again, after 3 s, for all publishers at once.
    """
    for publisher, _ in messages:
        wait_until(lambda p=publisher: p.get_subscription_count() > 0, publisher.topic_name)
    for publisher, msg in messages:
        publisher.publish(msg)
    for publisher, _ in messages:
        assert publisher.wait_for_all_acked(Duration(seconds=GIVE_UP)), publisher.topic_name
