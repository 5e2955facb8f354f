"""The bridge to an LBR, with its real messages over real middleware and a simulated arm."""

from threading import Event, Thread
from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
from ros.fri_robot import PERIOD, FriHabits, FriRobot
from ros.generated_messages import importable
from ros.running_loop import changed_settings
from ros.running_node import running_node
from ros.small_loop import SmallLoop, SpringLaw

from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.bridges.fri_state import CommandMode, FriSession
from safe_sysid.ros.bridges.lbr_fri_bridge import Session
from safe_sysid.share import share_directory
from safe_sysid.track.supervisor import Cause

LOOP = share_directory() / 'config' / 'loop' / 'lbr_med7.yaml'
START = [0.0, 0.5, 0.0, -1.2, 0.0, 0.6, 0.0]
TARGET = [0.05, 0.55, -0.05, -1.15, 0.05, 0.65, 0.05]
NAME = '/lbr_fri_bridge'


@pytest.fixture(scope='session')
def fri_messages():
    """Message classes of the driver, here and in processes that are started from here."""
    with importable('lbr_fri_idl'):
        from lbr_fri_idl.msg import LBRState, LBRTorqueCommand

        yield LBRState, LBRTorqueCommand


@pytest.fixture(scope='module')
def connected(fri_messages, tmp_path_factory):
    """Robot and loop with one bridge between them for all tests."""
    settings = changed_settings(  # a busy machine is late, nothing may be refused for that
        tmp_path_factory.mktemp('settings'),
        'lbr_med7',
        lbr_fri_bridge__patience=0.9,
        lbr_fri_bridge__guard__max_age=2.0,
    )
    rclpy.init()
    node = rclpy.create_node('everybody_else')
    model = RobotModel.named('lbr_med7')
    robot = FriRobot(node, *fri_messages, model, START)
    loop = SmallLoop(node, model, SpringLaw(model, TARGET, 60.0, 2.0))
    with running_node('lbr_fri_bridge', '--params-file', str(settings)):
        loop.wait_until(lambda: loop.is_connected and robot.is_connected, 'the bridge')
        yield robot, loop
        say(loop, 'idle')
        leave_torque_control(robot, loop)
        robot.session, robot.command_mode = FriSession.MONITORING_READY, CommandMode.NONE
        is_over = Event()  # until then the bridge, which is told to end, sees that it may
        monitoring = Thread(target=monitor, args=(robot, is_over), daemon=True)
        monitoring.start()
    is_over.set()
    monitoring.join()
    node.destroy_node()
    rclpy.shutdown()


@pytest.fixture
def bridged(connected):
    """The same, with no torque given, ready for one, and nothing kept of what was before."""
    robot, loop = connected
    say(loop, 'idle')
    robot.habits = FriHabits()
    leave_torque_control(robot, loop)
    expect_positions(robot, loop, 'measured')
    is_calm = lambda: loop.trouble(NAME) == ''  # noqa: E731
    loop.wait_until(is_calm, 'no trouble', lambda: cycle(robot, loop))
    loop.samples.clear()
    loop.torques.clear()
    return robot, loop


def say(loop, mode):
    loop.say(mode)
    loop.wait_until(lambda: loop.figures(NAME).get('mode') == mode, f'mode {mode}')


def leave_torque_control(robot, loop):
    """The operator ends the application on the robot and begins it again."""
    robot.session, robot.command_mode = FriSession.MONITORING_READY, CommandMode.NONE

    def monitored():
        robot.send()
        robot.move()

    def is_released():
        is_told = 'session state' in loop.trouble(NAME)
        return is_told and loop.figures(NAME).get('released') == 'True'

    loop.wait_until(is_released, 'the arm is in other hands', monitored)
    robot.session, robot.command_mode = FriSession.COMMANDING_ACTIVE, CommandMode.TORQUE


def monitor(robot, is_over):
    """A robot whose application has ended goes on saying where it is."""
    while not is_over.wait(PERIOD):
        robot.send()
        robot.move()


def expect_positions(robot, loop, what):
    """In the first cycles of a session the bridge finds out what it is told."""
    seen = lambda: loop.figures(NAME).get('reported positions') == what  # noqa: E731
    loop.wait_until(seen, f'positions are {what}', lambda: cycle(robot, loop))


def cycle(robot, loop):
    """One FRI cycle: state, answer, motion."""
    robot.send()
    loop.wait_until(lambda: robot.command is not None, 'a command')
    robot.move()


@pytest.mark.slow
def test_torques_arrive_with_their_sign_and_without_the_gravity_the_robot_adds(bridged):
    robot, loop = bridged
    say(loop, 'task')
    for i in range(200):
        cycle(robot, loop)
        applied = robot.arm.truth.torque
        if i > 20:  # until then the guard comes from the torque it measured
            distance = [np.abs(applied - torque).max() for torque in loop.torques[-3:]]
            assert min(distance) < 1e-9  # the impedance about the measured position adds nothing
    truth = robot.arm.truth
    assert np.abs(truth.position - TARGET).max() < 5e-3
    sample = loop.samples[-1]
    assert np.all(np.sign(sample.torque[[1, 3]]) == np.sign(truth.torque[[1, 3]]))
    assert loop.trouble(NAME) == ''


@pytest.mark.slow
def test_samples_have_torque_along_the_axes_and_the_mean_velocity_of_a_cycle(bridged):
    robot, loop = bridged
    say(loop, 'task')
    truths = [robot.arm.truth]
    for _ in range(60):
        cycle(robot, loop)
        truths.append(robot.arm.truth)
    sent = truths[1:-1]  # the first was maybe sent before, the last is not yet
    loop.wait_until(
        lambda: np.array_equal(loop.samples[-1].position, sent[-1].position), 'the last sample'
    )
    first = loop.samples[-1].stamp - sent[-1].stamp
    samples = {sample.stamp - first: sample for sample in loop.samples}
    for before, truth in zip(truths, sent, strict=False):
        sample = samples[truth.stamp]
        np.testing.assert_array_equal(sample.torque, truth.torque)
        np.testing.assert_array_equal(sample.position, truth.position)
        mean = (truth.position - before.position) / PERIOD
        np.testing.assert_allclose(sample.velocity, mean, atol=1e-9)


@pytest.mark.slow
def test_torque_goes_on_until_the_session_leaves_torque_control(bridged):
    """Without it nothing would hold what the robot does not know that it carries."""
    robot, loop = bridged
    say(loop, 'task')
    for _ in range(100):
        cycle(robot, loop)
    say(loop, 'idle')
    for _ in range(100):
        cycle(robot, loop)
        assert np.abs(robot.command.torque).max() > 0.0
    assert loop.figures(NAME)['gives_torque'] == 'True'
    leave_torque_control(robot, loop)
    expect_positions(robot, loop, 'measured')
    where = np.array(robot.command.joint_position)
    assert np.abs(where - robot.arm.truth.position).max() < 1e-3
    for _ in range(10):
        cycle(robot, loop)
        np.testing.assert_array_equal(robot.command.torque, np.zeros(7))
        np.testing.assert_array_equal(robot.command.joint_position, where)


@pytest.mark.slow
@pytest.mark.parametrize('smoothing', ['share', 'low_pass'])
def test_a_driver_that_reports_what_it_commands_gets_no_torque(bridged, smoothing):
    robot, loop = bridged
    robot.habits = FriHabits(echoes=True, smoothing=smoothing)
    leave_torque_control(robot, loop)
    expect_positions(robot, loop, 'what was commanded')
    say(loop, 'task')
    loop.wait_until(lambda: 'set open_loop: false' in loop.trouble(NAME), 'the way out')
    assert loop.said[NAME].faults == {Cause.ROBOT_NOT_READY}
    for _ in range(10):
        cycle(robot, loop)
        np.testing.assert_array_equal(robot.command.torque, np.zeros(7))


@pytest.mark.slow
def test_positions_that_become_an_echo_under_torque_are_a_fault(bridged):
    robot, loop = bridged
    say(loop, 'task')
    for _ in range(20):
        cycle(robot, loop)
    assert np.abs(robot.command.torque).max() > 0.0
    robot.habits = FriHabits(echoes=True)
    loop.more = 0.02  # N m in every sample, which no position answers
    has_fault = lambda: Cause.ROBOT_NOT_READY in loop.said[NAME].faults  # noqa: E731
    loop.wait_until(has_fault, 'the fault', lambda: cycle(robot, loop))
    loop.more = 0.0
    assert 'set open_loop: false' in loop.trouble(NAME)


@pytest.mark.parametrize('takes_torque', [False, True])
@pytest.mark.parametrize('is_under_torque', [False, True])
def test_a_torque_that_the_first_state_tells_of_is_that_of_a_bridge_before(
    takes_torque, is_under_torque
):
    """What is commanded later is commanded by this one."""
    session = Session()
    session.look()
    assert session.has_torque is None
    session.see(SimpleNamespace(takes_torque=takes_torque, is_under_torque=is_under_torque))
    session.see(SimpleNamespace(takes_torque=True, is_under_torque=not is_under_torque))
    assert session.has_torque is (takes_torque and is_under_torque)


@pytest.mark.slow
def test_a_manager_that_is_slower_than_its_robot_is_told(bridged):
    robot, loop = bridged
    robot.habits = FriHabits(states_every=2)
    sentence = (
        'every 0.01 s, its cycle is 0.005 s: set update_rate of its controller_manager to 200'
    )
    loop.wait_until(lambda: sentence in loop.trouble(NAME), sentence, lambda: cycle(robot, loop))


@pytest.mark.slow
def test_a_payload_that_keeps_the_driver_from_activating_is_told(bridged):
    robot, loop = bridged
    robot.arm.attach(read_payload('dumbbell_4lb'))
    assert np.abs(robot.message().external_torque).max() > 2.0
    robot.session, robot.habits = FriSession.MONITORING_READY, FriHabits(external_limit=2.0)
    robot.activate()
    assert robot.session is FriSession.MONITORING_READY
    robot.send()
    sentence = 'do not let a compliant mode begin above external_torque_limit, 2 N m'
    loop.wait_until(lambda: sentence in loop.trouble(NAME), sentence)
    robot.habits = FriHabits(external_limit=60.0)
    robot.activate()
    assert robot.session is FriSession.COMMANDING_ACTIVE


REFUSED = [
    ({'session_state': 2}, 'session state of the LBR is monitoring_ready; commanding_active is'),
    ({'client_command_mode': 1}, 'client command mode of the LBR is position; torque is needed'),
    ({'control_mode': 0}, 'control mode of the LBR is position; joint_impedance is needed'),
    ({'safety_state': 2}, 'safety state of the LBR is safety_stop_1; normal_operation is needed'),
    ({'drive_state': 0}, 'drives of the LBR is off; active is needed'),
    ({'connection_quality': 1}, 'quality 1 of 0 to 3'),
    ({'sample_time': 0.02}, 'cycle of 0.02 s; torques need 0.002 to 0.01 s'),
    ({'sample_time': 0.01}, 'cycle of 0.01 s and the settings of the loop a period of 0.005 s'),
    ({'session_state': 9}, 'session state of the LBR is 9, which is unknown'),
    ({'measured_torque': np.full(7, np.nan)}, 'measured_torque of A1'),
    ({'measured_joint_position': np.full(7, np.inf)}, 'measured_joint_position of A1'),
]


@pytest.mark.slow
def test_a_robot_that_takes_no_torque_gets_none_and_the_cause_is_said(bridged):
    robot, loop = bridged
    say(loop, 'task')
    for _ in range(3):
        cycle(robot, loop)
    for changed, sentence in REFUSED:
        told = len(robot.told)
        robot.send(**changed)
        loop.wait_until(lambda s=sentence: s in loop.trouble(NAME), sentence)
        is_bad = 'measured' in sentence
        assert (Cause.BAD_MEASUREMENT in loop.said[NAME].faults) == is_bad
        assert (Cause.ROBOT_NOT_READY in loop.said[NAME].faults) or is_bad
        robot.move()
        assert len(robot.told) == told
    cycle(robot, loop)  # and on it goes
    loop.wait_until(lambda: loop.trouble(NAME) == '', 'no trouble')


@pytest.mark.slow
def test_before_anything_is_commanded_a_robot_that_is_not_ready_is_no_fault(bridged):
    robot, loop = bridged
    told = len(robot.told)
    robot.session, robot.command_mode = FriSession.MONITORING_READY, CommandMode.NONE
    for i in range(3):
        robot.move()
        robot.send()
        loop.wait_until(lambda i=i: len(loop.samples) == i + 1, 'samples while monitoring')
    loop.wait_until(lambda: 'monitoring_ready' in loop.trouble(NAME), 'the reason')
    assert loop.said[NAME].faults == frozenset()
    assert len(robot.told) == told


@pytest.mark.slow
@pytest.mark.usefixtures('fri_messages')
def test_what_is_missing_is_said_and_the_process_ends(monkeypatch):
    two_joints = ['-p', 'robot:=two_link', '-p', "payload:=''"]
    with running_node('lbr_fri_bridge', '--params-file', str(LOOP), *two_joints) as process:
        assert 'two_link has 2 joints, an LBR has 7' in process.stderr.read()
        assert process.wait() == 2
    monkeypatch.delenv('PYTHONPATH')
    with running_node('lbr_fri_bridge', '--params-file', str(LOOP)) as process:
        assert 'install lbr_fri_idl of the LBR stack' in process.stderr.read()
        assert process.wait() == 2
