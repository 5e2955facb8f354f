"""A loop of real processes, started as a user would, and what is to be seen of it from outside."""

from contextlib import contextmanager, suppress
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from diagnostic_msgs.msg import DiagnosticArray
import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory
import yaml

from safe_sysid.ros.messages.qos import EVERY_SAMPLE, STATE
from safe_sysid.ros.process.distributions import single_threaded_executor
from safe_sysid.ros.watch.health import heard_from
from safe_sysid.share import share_directory

LONG = 90.0  # [s] for everything to happen on a machine that is busy with other tests
TURN = 20  # events of one observer before it is the turn of the next
EACH = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)  # none for the next one
ANSWER = 10.0  # [s] after which a request or its answer got lost: its service began anew


def changed_settings(tmp_path, robot, **changes):
    """Copy of the settings of a loop; a change has the name node__key__key."""
    blocks = yaml.safe_load((share_directory() / 'config/loop' / f'{robot}.yaml').read_text())
    for name, value in changes.items():
        node, *keys, last = name.split('__')
        place = blocks.setdefault('/**' if node == 'all' else f'/**/{node}', {})
        for key in ('ros__parameters', *keys):
            place = place.setdefault(key, {})
        place[last] = value
    path = tmp_path / f'{robot}.yaml'
    path.write_text(yaml.safe_dump(blocks))
    return path


class Observer(Node):
    """Hears everything and calls services."""

    def __init__(self, namespace='', beside=None):
        super().__init__('observer', namespace=namespace or None)
        self.samples, self.torques, self.modes, self.plans = [], [], [], []
        self.conditions = {}
        self.heard_causes = set()  # of all faults so far, however short
        self._requests = {}
        subscribe = self.create_subscription
        subscribe(JointState, 'joint_states', self.samples.append, EVERY_SAMPLE)
        subscribe(Float64MultiArray, 'torque_command', self.torques.append, EVERY_SAMPLE)
        subscribe(JointTrajectory, 'plan_in_force', self.plans.append, STATE)
        subscribe(String, 'mode', self._on_mode, EACH)
        subscribe(DiagnosticArray, '/diagnostics', self._on_health, EVERY_SAMPLE)
        self._executor = single_threaded_executor()
        self._executor.add_node(self)
        # who looks at another loop beside hears everything while either waits
        self._executors = [] if beside is None else beside._executors
        self._executors.append(self._executor)

    def _on_mode(self, msg):
        if not self.modes or self.modes[-1] != msg.data:
            self.modes.append(msg.data)

    def _on_health(self, msg):
        for status in msg.status:
            heard = heard_from(status)
            self.conditions[heard.name.removeprefix('/')] = heard
            self.heard_causes |= set(filter(None, heard.figures.get('causes', '').split(', ')))

    def close(self):
        """Leave nothing behind that the tests to come would have to talk to."""
        self._executors.remove(self._executor)
        self._executor.shutdown()
        self.destroy_node()

    @property
    def mode(self):
        return self.modes[-1] if self.modes else None

    def _spin(self):
        """Serve what has come; several in turn, so that nobody waits for one who hears nothing."""
        if len(self._executors) == 1:
            self._executor.spin_once(timeout_sec=0.1)
            return
        for executor in self._executors:
            for _ in range(TURN):
                executor.spin_once(timeout_sec=1e-4)

    def wait(self, condition, what, seconds=LONG):
        """Until a condition holds; what it is, in case it does not."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f'{what}; modes {self.modes}, {self.conditions}'
            self._spin()

    def call(self, service):
        """Answer of a service, such as supervisor/start."""
        return self.ask(Trigger, service, Trigger.Request())[0]

    def ask(self, kind, service, request):
        """Answer of a service of any kind, and whether an answer to this request got lost."""
        if service not in self._requests:
            self._requests[service] = self.create_client(kind, service)
        client = self._requests[service]
        deadline, is_asked_again = time.monotonic() + LONG, False
        while True:
            self.wait(client.service_is_ready, f'{service} is there')
            future = client.call_async(request)
            again = min(deadline, time.monotonic() + ANSWER)
            while not future.done() and time.monotonic() < again:
                self._spin()
            if future.done():
                return future.result(), is_asked_again
            assert time.monotonic() < deadline, f'{service} answers; modes {self.modes}'
            is_asked_again = True


@contextmanager
def observed(namespace=''):
    """An observer on the domain of this test run."""
    rclpy.init()
    observer = Observer(namespace)
    try:
        yield observer
    finally:
        observer.close()
        rclpy.try_shutdown()


@contextmanager
def running(*arguments):
    """`safe-sysid run` with these arguments."""
    command = [sys.executable, '-m', 'safe_sysid.cli.main', 'run', *map(str, arguments)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, 'PYTHONFAULTHANDLER': '1'},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=30.0)
        except subprocess.TimeoutExpired:
            kill_with_nodes(process, signal.SIGABRT)
            said, _ = process.communicate()
            raise AssertionError(f'{said[-8000:]}\nwaited 30 s for the end of the run') from None


def kill_with_nodes(process, number=signal.SIGKILL):
    """Leave nobody: a bridge whose robot is gone would hold it for ever.

    SIGABRT has them say where they are.
    """
    nodes = Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text().split()
    for pid in (*map(int, nodes), process.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, number)
    process.wait()
