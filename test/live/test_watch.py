"""`safe-sysid watch` over real topics and on a real bag, in a real browser where there is one."""

from contextlib import contextmanager
import signal
import socket
import subprocess
import sys
import threading

from builtin_interfaces.msg import Time
from live.spoken_loop import BEGIN, PARAMETERS, SpokenLoop
import pytest
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from report.browser import Browser, chromium
from ros.running_node import wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from safe_sysid.cli.main import main
from safe_sysid.plan.message import fill_plan
from safe_sysid.ros.messages.codec import estimate_message
from safe_sysid.ros.messages.qos import PLANS, SAMPLES, STATE
from safe_sysid.ros.process.distributions import single_threaded_executor

pytestmark = pytest.mark.slow
GIVE_UP = 120.0  # [s]


class Speaker(Node):
    """Says what a loop in a namespace says, and answers for its parameters as a planner does."""

    def __init__(self, loop):
        super().__init__('planner', namespace='cell')
        for name, value in PARAMETERS.items():
            self.add_parameter(name, value)
        self._loop, self._time = loop, 0.0
        publish = self.create_publisher
        self.samples = publish(JointState, 'joint_states', SAMPLES)
        self._mode = publish(String, 'mode', STATE)
        self._estimates = publish(Float64MultiArray, 'parameter_estimate', STATE)
        self._certified = publish(Float64MultiArray, 'certified_estimate', PLANS)
        self._followed = publish(JointTrajectory, 'plan_in_force', STATE)
        message = estimate_message(loop.estimate, BEGIN)
        self._estimates.publish(message)
        self._certified.publish(message)
        self._mode.publish(String(data='exciting'))
        plan = JointTrajectory()
        fill_plan(plan, JointTrajectoryPoint, loop.notice, loop.model.layout.joint_names)
        self._followed.publish(plan)
        self.create_timer(0.02, self._move)

    def add_parameter(self, name, value):
        self.declare_parameter(name, Parameter(name, value=value).value)

    def _move(self):
        """Along the plan, then stand; who comes late hears where the arm is, too."""
        sample = self._loop.sample(self._time).data
        self._time += 0.02
        stamp = sample.header.stamp
        msg = JointState(name=sample.name, position=sample.position.tolist())
        msg.header.stamp = Time(sec=stamp.sec, nanosec=stamp.nanosec)
        self.samples.publish(msg)


@contextmanager
def spoken():
    """A loop that speaks in a thread of its own."""
    rclpy.init()
    executor = single_threaded_executor()
    speaker = Speaker(SpokenLoop())
    executor.add_node(speaker)
    is_over = threading.Event()

    def speak():
        while not is_over.is_set():
            executor.spin_once(timeout_sec=0.05)

    thread = threading.Thread(target=speak)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        speaker.destroy_node()
        rclpy.try_shutdown()


@contextmanager
def watching(*arguments):
    """`safe-sysid watch` with these arguments, and the address that it prints."""
    command = [sys.executable, '-m', 'safe_sysid.cli.main', 'watch', *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process, process.stdout.readline().partition(' ')[0]
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def browser():
    if chromium() is None:
        pytest.skip('no Chromium on PATH to look at pages with; install chromium to run this')
    opened = Browser()
    yield opened
    opened.close()


def test_a_loop_that_runs_is_seen_in_a_browser_and_the_end_is_clean(browser):
    with spoken(), watching('--namespace', 'cell') as (process, address):
        assert address.startswith('http://127.0.0.1:')
        browser.open_address(address)
        look = lambda words: lambda: browser.value(words)  # noqa: E731
        wait_until(look('!!window.viewer && viewer.times().length > 20'), 'an arm that moves')
        wait_until(
            look('[...document.querySelectorAll(".fact")][4].textContent[0] === "1"'), 'plan'
        )
        facts = browser.value(
            '[...document.querySelectorAll(".fact .value")].map(e => e.textContent)'
        )
        assert facts[0] == 'exciting' and facts[1].endswith('kg')
        assert browser.value('document.querySelectorAll(".bars .row").length') == 10
        last = float(browser.value('document.getElementById("time").max'))
        follows = f'+document.getElementById("time").value > {last}'
        wait_until(look(follows), 'the slider to follow')
        browser.value(
            "(() => { const s = document.getElementById('time'); s.value = s.min;"
            "s.dispatchEvent(new Event('input')); })()"
        )
        more = '+document.getElementById("time").max > 0.2 + ' + str(last)
        wait_until(look(more), 'the run to go on')
        assert browser.value(follows) is False  # whoever looks back is left in peace
        browser.value('document.getElementById("live").click()')
        assert browser.value(follows)
        assert browser.complaints() == []
        process.send_signal(signal.SIGINT)
        assert process.wait(GIVE_UP) == 0
        ended = 'document.querySelector(".live").textContent.includes("has ended")'
        wait_until(look(ended), 'a sentence about the end')


def test_a_port_that_is_taken_is_a_sentence(capsys):
    with socket.socket() as other:
        other.bind(('127.0.0.1', 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(['watch', '--port', str(port)]) == 2
    assert f'port {port} of 127.0.0.1 cannot be used' in capsys.readouterr().err


def test_a_bag_without_a_loop_is_a_sentence(tmp_path, capsys):
    bag = tmp_path / 'bag'
    bag.mkdir()
    with pytest.raises(SystemExit, match='2'):
        main(['watch', str(bag)])
    assert 'is not a rosbag (it has no metadata.yaml)' in capsys.readouterr().err
    (bag / 'metadata.yaml').write_text('rosbag2_bagfile_information: {version: 9}\n')
    assert main(['watch', str(bag)]) == 2
    assert 'cannot be read as a rosbag' in capsys.readouterr().err
