"""The bridge to a Franka robot over real middleware; the robot is a fake of its library."""

from itertools import pairwise
import socket
import threading

import numpy as np
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from ros.bridges import fake_franka
from ros.running_loop import changed_settings
from ros.small_loop import SmallLoop, SpringLaw

from safe_sysid.errors import ConfigError
from safe_sysid.model.effort_contract import CommandSignal, EffortContract
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.bridges import franka_bridge, franka_cycle
from safe_sysid.ros.bridges.franka_bridge import FrankaBridge, FrankaSettings
from safe_sysid.ros.bridges.franka_cycle import FrankaCycle
from safe_sysid.track.supervisor import Cause
from safe_sysid.track.torque_guard import GuardSettings

NAME = '/franka_bridge'
LONG = 60.0  # [s] that a busy machine may take to answer
TARGET = 0.02 * np.ones(7)


class FakeProcess:
    """The process of the cycle, which is a thread here."""

    def poll(self):
        return None

    def wait(self, timeout):
        del timeout


class Cell:
    """Robot, bridge and the rest of the loop; time passes in `cycles`."""

    def __init__(self, bridge_end, loop, robot, executor):
        self.robot, self.loop, self._executor = robot, loop, executor
        self.cycle = FrankaCycle(fake_franka.LIBRARY, robot, bridge_end, 1)

    def cycles(self, count):
        """Let the robot live, while everybody else may answer."""
        steps = threading.Thread(target=lambda: [self.cycle.step() for _ in range(count)])
        steps.start()
        while steps.is_alive():
            self._executor.spin_once(timeout_sec=0.001)

    def until(self, condition, what):
        self.loop.wait_until(condition, what, lambda: self.cycles(1))


@pytest.fixture
def cell(tmp_path, monkeypatch):
    settings = changed_settings(
        tmp_path,
        'fr3',
        all__period=0.001,
        franka_bridge__address='robot',
        franka_bridge__patience=0.99,
        franka_bridge__guard__max_age=LONG,
        franka_bridge__guard__rate=[900.0],
        franka_bridge__command__adds_gravity=True,
    )
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    monkeypatch.setattr(franka_bridge, '_cycle', lambda *_: (ours, FakeProcess()))
    monkeypatch.setattr(franka_bridge, 'find_spec', lambda _: True)
    monkeypatch.setattr(franka_bridge, 'AGAIN', 0.0)
    monkeypatch.setattr(franka_cycle, 'SILENCE', LONG)
    rclpy.init(args=['--ros-args', '--params-file', str(settings)])
    try:
        node, bridge = rclpy.create_node('everybody_else'), FrankaBridge()
        model = RobotModel.named('fr3')
        gravity = EffortContract(model, CommandSignal()).gravity
        loop = SmallLoop(node, model, SpringLaw(model, TARGET, 40.0, 12.0))
        executor = SingleThreadedExecutor()
        executor.add_node(bridge)
        executor.add_node(node)
        monkeypatch.setattr(rclpy, 'spin_once', lambda *_, **__: executor.spin_once(0.002))
        cell = Cell(theirs, loop, fake_franka.Robot(gravity=gravity), executor)
        loop.wait_until(lambda: loop.is_connected, 'the bridge')
        cell.until(lambda: NAME in loop.said, 'its condition')
        yield cell
        theirs.close()
        bridge.destroy_node()
        node.destroy_node()
    finally:
        rclpy.shutdown()


def engaged(cell):
    cell.loop.say('task')
    cell.until(lambda: cell.robot.is_controlled, 'control')
    return cell


@pytest.mark.slow
def test_control_begins_with_the_mode_and_torques_move_the_arm(cell):
    cell.cycles(5)
    assert not cell.robot.is_controlled
    engaged(cell)
    cell.cycles(400)
    assert np.abs(cell.robot.q - TARGET).max() < 0.5 * np.abs(TARGET).max()
    samples = cell.loop.samples
    cell.until(lambda: len(samples) > 400, 'samples')
    assert {b.stamp - a.stamp for a, b in pairwise(samples)} == {1_000_000}
    assert cell.loop.trouble(NAME) == ''


@pytest.mark.slow
def test_the_arm_is_handed_back_at_rest_with_a_last_torque(cell):
    engaged(cell)
    cell.cycles(50)
    cell.loop.say('releasing')
    released = lambda: cell.loop.figures(NAME).get('released') == 'True'  # noqa: E731
    cell.until(released, 'the arm is in other hands')
    assert cell.loop.trouble(NAME) == ''
    cell.until(lambda: not cell.robot.is_controlled, 'the last torque, a cycle later')
    assert [ends for _, ends in cell.robot.written].count(True) == 1
    assert cell.robot.written[-1][1]


def test_a_reflex_is_a_fault_and_control_waits_until_it_was_reset(cell):
    engaged(cell)
    cell.cycles(20)
    cell.robot.mode = fake_franka.REFLEX
    faulty = lambda: Cause.ROBOT_NOT_READY in cell.loop.said[NAME].faults  # noqa: E731
    cell.until(faulty, 'the fault')
    assert 'motion aborted by reflex' in cell.loop.trouble(NAME)
    assert not cell.robot.is_controlled
    cell.loop.say('fault')
    cell.until(lambda: cell.robot.recovered, 'recovery')
    cell.until(lambda: not faulty(), 'no fault')
    assert not cell.robot.is_controlled
    cell.loop.say('holding')
    cell.until(lambda: cell.robot.is_controlled, 'control again')


def test_a_load_that_the_robot_holds_up_by_itself_is_refused(cell):
    cell.robot.load = 0.73
    cell.loop.say('task')
    cell.until(lambda: '0.730 kg' in cell.loop.trouble(NAME), 'the refusal')
    faulty = lambda: Cause.ROBOT_NOT_READY in cell.loop.said[NAME].faults  # noqa: E731
    cell.until(faulty, 'the fault')
    assert not cell.robot.is_controlled


def settings(monkeypatch, **changes):
    monkeypatch.setattr(FrankaSettings, 'described', lambda _: RobotModel.named('fr3'))
    made = object.__new__(FrankaSettings)
    for name, value in {
        'address': 'robot',
        'period': 0.001,
        'robot': 'fr3',
        'guard': GuardSettings(rate=(900.0,)),
        **changes,
    }.items():
        object.__setattr__(made, name, value)
    return made


@pytest.mark.parametrize(
    ('changes', 'said'),
    [
        ({'address': ''}, 'has to be that of the robot'),
        ({'period': 0.0015}, 'whole milliseconds'),
        ({'guard': GuardSettings(rate=(3000.0,))}, 'the robot stops above 1000 N m/s'),
        ({}, 'pip install pylibfranka'),
    ],
)
def test_settings_that_a_franka_robot_does_not_take_are_refused(changes, said, monkeypatch):
    monkeypatch.setattr(franka_bridge, 'find_spec', lambda _: None)
    with pytest.raises(ConfigError, match=said):
        franka_bridge._checked(settings(monkeypatch, **changes))


def test_states_of_the_loop_come_every_so_many_cycles(monkeypatch):
    monkeypatch.setattr(franka_bridge, 'find_spec', lambda _: True)
    assert franka_bridge._checked(settings(monkeypatch, period=0.005)) == 5
