"""Faults of the real world, over real processes: the arm brakes or goes on, and one reads why.

What the failsafe matrix (`test/ros/failsafe`) says in a word is looked at closely here.

One loop for all: every test begins with an arm in motion and ends with one that moves again.
"""

import signal
import time

import pytest
from ros.faulty_loop import REST, faulty_loop, recorded
from sensor_msgs.msg import JointState

from safe_sysid.ros.messages.qos import SAMPLES

BRIDGE = 'builtin_sim_bridge'
SECOND = 100  # states


@pytest.fixture(scope='module')
def running(tmp_path_factory):
    with faulty_loop(tmp_path_factory.mktemp('faults')) as loop:
        yield loop


@pytest.fixture
def loop(running):
    """The loop, with its arm in motion; what a test did to it is over afterwards."""
    running.move()
    yield running
    running.kill_extra()
    if running.disturbed.get('disturbance'):
        running.disturb('')


@pytest.mark.slow
def test_states_that_are_lost_or_come_twice_or_late_do_no_harm(loop):
    before = plan_starts(loop)
    loop.disturb('lossy')
    fates = ('lost', 'twice', 'late')
    loop.wait(lambda: all(loop.disturbed.get(fate, 0) >= 10 for fate in fates), 'ten times each')
    loop.wait(lambda: len(plan_starts(loop) - before) >= 2, 'plans follow each other')
    for node in ('controller', 'identifier'):
        loop.wait(lambda n=node: count(loop, n, 'samples twice or out of order') >= 10, node)
    loop.wait(lambda: count(loop, 'controller', 'missed samples') >= 10, 'those that are lost')
    assert 'fault' not in loop.modes


@pytest.mark.slow
@pytest.mark.parametrize(
    ('how', 'words'),
    [
        ('not a number', 'position of joint_2 in joint_states is nan; it has to be finite'),
        pytest.param(
            'wrong names',
            "joint_states has no ['joint_1']; its joints are ['somebody_else'",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_a_state_that_makes_no_sense_is_a_fault_until_it_does(loop, how, words):
    loop.disturb(how)
    loop.expect_fault('BAD_MEASUREMENT', words)
    loop.expect_rest()
    refused = loop.call('supervisor/reset_fault')
    assert not refused.success
    assert 'has to wait, as a measurement is not finite' in refused.message
    loop.disturb('')
    loop.come_back()


@pytest.mark.slow
def test_a_fault_in_idle_gives_no_torque(loop):
    """The arm is in its brakes, or its driver's: a fault is no reason to take hold of it."""
    for mode in ('holding', 'idle'):
        loop.call('supervisor/stop')
        loop.wait(lambda m=mode: loop.mode == m, mode)
    loop.wait(lambda: loop.figure(BRIDGE, 'gives_torque') == 'False', 'no torque')
    before = loop.figure(BRIDGE, 'simulated under torque [s]')
    loop.disturb('not a number')
    loop.expect_fault('BAD_MEASUREMENT', 'it has to be finite')
    loop.wait(lambda: loop.figure(BRIDGE, 'mode') == 'fault', 'the bridge knows of the fault')
    loop.spin_for(REST)
    assert loop.figure(BRIDGE, 'gives_torque') == 'False'
    assert loop.figure(BRIDGE, 'simulated under torque [s]') == before
    loop.disturb('')
    loop.come_back()


@pytest.mark.slow
def test_two_controllers_are_a_fault_until_one_is_gone(loop):
    loop.start_another('controller')
    loop.expect_fault('SECOND_PUBLISHER', 'controller runs more than once')
    loop.expect_rest()
    refused = loop.call('supervisor/reset_fault')
    assert not refused.success
    assert 'another safe_sysid loop publishes on the same topics' in refused.message
    loop.disturb('not a number')
    loop.wait_to_hear('supervisor', 'also: a measurement is not finite')
    loop.disturb('')
    loop.kill_extra()
    loop.come_back()


@pytest.mark.slow
def test_a_foreign_publisher_of_states_is_a_fault_and_nobody_listens_to_it(loop):
    foreign = loop.create_publisher(JointState, 'joint_states', SAMPLES)
    state = JointState(name=['joint_1', 'joint_2'], position=[0.0, 0.0])
    state.velocity, state.effort = [0.0, 0.0], [5.0, -5.0]
    state.header.frame_id = 'somebody'

    def publish():
        state.header.stamp = loop.get_clock().now().to_msg()
        foreign.publish(state)

    timer = loop.create_timer(0.01, publish)
    try:
        loop.expect_fault(
            'SECOND_PUBLISHER', "joint_states: 'somebody' publishes as well as '/built"
        )
        loop.wait_to_hear('identifier', "'somebody' publishes as well as '/builtin_sim_bridge")
        loop.expect_rest()
        assert not loop.call('supervisor/reset_fault').success
    finally:
        loop.destroy_timer(timer)
    loop.come_back()
    assert all('contradict' not in sentence for _, sentence in loop.said)


@pytest.mark.slow
def test_an_arm_beside_its_plan_without_a_fault_is_named_with_the_way_back(loop):
    """Weak drives: the error is above V_M, and below what is a fault in this loop."""
    loop.disturb('torque weak')
    for node in ('controller', 'supervisor'):
        loop.wait_to_hear(node, 'plans that go on from the one in force are refused: rest on')
    assert 'fault' not in loop.modes
    loop.disturb('')
    loop.come_back()
    loop.wait(
        lambda: not loop.figure('controller', 'error beyond V_M'), 'the error is small again'
    )


@pytest.mark.slow
def test_a_simulator_that_was_held_up_does_not_go_on_with_an_old_torque(loop):
    before, bridge = count(loop, BRIDGE, 'periods given up'), loop.processes[BRIDGE]
    bridge.send_signal(signal.SIGSTOP)
    time.sleep(0.5)  # the fault itself: so long a delay, which is less than the guard takes
    bridge.send_signal(signal.SIGCONT)
    loop.wait(lambda: count(loop, BRIDGE, 'periods given up') >= before + 40, 'it gives them up')
    loop.come_back()


@pytest.mark.slow
def test_a_killed_supervisor_lets_no_plan_follow_and_comes_back_in_a_fault(loop):
    loop.kill('supervisor')
    loop.expect_rest_at_the_end_of_its_plan()
    refusal = 'the supervisor has not been heard for'
    loop.wait(
        lambda: refusal in (loop.figure('controller', 'last plan not taken over') or ''), refusal
    )
    loop.start('supervisor')
    loop.expect_fault('RESTARTED', 'the supervisor was started while the robot was under torque')
    loop.come_back()


@pytest.mark.slow
def test_nothing_recorded_is_lost_when_the_recorder_is_killed(loop):
    """Every state once and in order up to its last commit, and the fault that there was."""
    began = stamp(loop.measured[-1])
    loop.disturb('not a number')
    loop.expect_fault('BAD_MEASUREMENT', 'it has to be finite')
    loop.disturb('')
    loop.come_back()
    ended = stamp(loop.measured[-1])

    def is_committed():  # on a busy machine a recorder may be seconds behind
        loop.spin_for(SECOND)
        return stamps(loop.bag)[-1] >= ended

    loop.wait(is_committed, 'the recorder has kept what was measured')
    loop.kill('recorder')
    loop.start('recorder')
    sent = [stamp(msg) for msg in loop.measured if began <= stamp(msg) <= ended]
    kept = stamps(loop.bag)
    assert len(sent) > 100
    assert [s for s in kept if began <= s <= ended] == sent
    said = [status for msg in recorded(loop.bag, '/diagnostics') for status in msg.status]
    causes = {pair.value for status in said for pair in status.values if pair.key == 'cause'}
    assert 'BAD_MEASUREMENT' in causes
    beside = loop.bag.with_name(f'{loop.bag.name}_2')
    loop.wait((beside / 'metadata.yaml').exists, 'it goes on beside the first bag')

    def goes_on():
        loop.spin_for(SECOND)
        return any(stamps(beside))

    loop.wait(goes_on, 'states in the second bag')


def stamps(folder):
    """Those of all states in a bag, in their order."""
    return [stamp(msg) for msg in recorded(folder, '/measured')]


def plan_starts(loop):
    """Starts of all plans that were followed."""
    return {(p.header.stamp.sec, p.header.stamp.nanosec) for p in loop.plans if p.points}


def stamp(msg):
    """Of the header [ns]."""
    return msg.header.stamp.sec * 10**9 + msg.header.stamp.nanosec


def count(loop, node, figure):
    """A figure of a node that is a count; 0 before it was heard."""
    return int(loop.figure(node, figure) or 0)
