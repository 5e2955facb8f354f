"""What nodes keep an eye on: who publishes, who is there, which cycle was late, what has come."""

import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.measure.single_publisher import SinglePublisherCheck
from safe_sysid.ros.process.real_time import RealTimeSettings, prepare_process
from safe_sysid.ros.watch.cycle_monitor import CycleMonitor, CycleSettings
from safe_sysid.ros.watch.health import NodeStatus
from safe_sysid.ros.watch.heartbeats import MOST, Heartbeats
from safe_sysid.ros.watch.run_ending import RunEnding
from safe_sysid.ros.watch.sample_gate import SampleGate
from safe_sysid.track.supervisor import Cause, Mode


def heard(name, pid='1', faults=(), **figures):
    return NodeStatus(name, pid, 'trouble' if faults else '', frozenset(faults), figures)


def test_a_second_source_is_not_listened_to_and_is_named():
    watch = SinglePublisherCheck()
    assert watch.accepts('bridge 1', 0.0)
    assert not watch.accepts('foreign', 0.1)
    assert watch.accepts('bridge 1', 0.2)
    assert watch.intruder(0.3) == "'foreign' publishes as well as 'bridge 1'"
    assert watch.intruder(0.7) == ''


def test_a_source_that_is_silent_is_followed_by_another():
    watch = SinglePublisherCheck()
    assert watch.accepts('bridge 1', 0.0)
    taken = [watch.accepts('bridge 2', 0.4 + 0.1 * i) for i in range(8)]
    assert taken == [False] * 6 + [True] * 2
    assert watch.intruder(1.1) == ''  # a bridge that was started again
    assert not watch.accepts('bridge 1', 1.2)


@pytest.mark.parametrize('pause', [0.6, 5.0])
def test_whoever_reads_late_does_not_take_a_foreign_message_for_a_successor(pause):
    """Both publish at 100 Hz, and the process that reads them gets no processor for a while."""
    watch, now = SinglePublisherCheck(), 0.0
    assert watch.accepts('bridge', now)
    for _ in range(4):
        now += pause
        for _ in range(50):
            assert not watch.accepts('foreign', now)
            assert watch.accepts('bridge', now)
    assert watch.intruder(now) == "'foreign' publishes as well as 'bridge'"


def test_faults_are_those_of_the_last_word_of_every_node():
    nodes = Heartbeats('/arm', silence=2.0)
    nodes.hear(heard('/arm/controller', faults=[Cause.TRACKING]), 0.0)
    nodes.hear(heard('/arm/identifier', faults=[Cause.CONTRADICTION]), 0.0)
    nodes.hear(heard('/other/controller', faults=[Cause.BAD_MEASUREMENT]), 0.0)
    nodes.hear(heard('/arm/identifier'), 0.1)
    assert nodes.faults() == {Cause.TRACKING}
    assert nodes.sentence(Cause.TRACKING) == 'controller: trouble'


def test_two_processes_of_one_name_are_a_fault_a_restart_is_none():
    nodes = Heartbeats('/', silence=2.0)
    nodes.hear(heard('/controller', '1'), 0.0)
    nodes.hear(heard('/controller', '2'), 1.5)  # the first one was killed
    assert nodes.faults() == frozenset()
    nodes.hear(heard('/controller', '1'), 1.6)
    assert nodes.faults() == {Cause.SECOND_PUBLISHER}
    assert nodes.sentence(Cause.SECOND_PUBLISHER) == 'controller runs more than once'
    nodes.hear(heard('/controller', '1'), 3.0)
    assert nodes.faults() == frozenset()


def test_processes_that_are_gone_are_forgotten():
    nodes = Heartbeats('/', silence=2.0)
    for number in range(1000):
        nodes.hear(heard('/controller', str(number)), 2.0 * number)
    assert nodes.doubles() == []
    assert len(nodes._pids['controller']) == 1


def test_nodes_beyond_those_of_a_loop_are_a_fault_and_no_last_word_is_forgotten():
    nodes = Heartbeats('/', silence=2.0)
    nodes.hear(heard('/controller', faults=[Cause.TRACKING]), 0.0)
    for number in range(1, MOST):
        nodes.hear(heard(f'/probe_{number}'), 0.1 * number)
    assert nodes.faults() == {Cause.TRACKING}
    for number in range(MOST, 10 * MOST):
        nodes.hear(heard(f'/probe_{number}'), 0.1 * number)
    assert nodes.faults() == {Cause.TRACKING, Cause.SECOND_PUBLISHER}
    assert f'probe_{MOST} is one node too many' in nodes.sentence(Cause.SECOND_PUBLISHER)
    assert len(nodes._heard) == len(nodes._pids) == MOST
    nodes.hear(heard('/controller'), 10.0 * MOST)
    assert nodes.faults() == {Cause.SECOND_PUBLISHER}


def test_nodes_that_fall_silent_are_named_and_their_figures_stay():
    nodes = Heartbeats('/', silence=2.0)
    nodes.hear(heard('/planner', found='x'), 0.0)
    assert nodes.silent(1.9) == []
    assert nodes.silent(2.1) == ['planner']
    assert nodes.figure('planner', 'found') == 'x'
    assert nodes.figure('planner', 'nothing') is None
    assert nodes.any_figure('found') == 'x'


def test_a_node_that_has_gone_does_not_speak_for_the_one_in_its_place():
    """Its arm was in other hands; that of the bridge of now is not."""
    nodes = Heartbeats('/', silence=2.0)
    nodes.hear(heard('/builtin_sim_bridge', released='True'), 0.0)
    nodes.hear(heard('/ros2_control_bridge', released='False'), 2.1)
    assert nodes.any_figure('released') == 'False'
    assert RunEnding(nodes).is_released(Mode.RELEASING) is False
    nodes.hear(heard('/builtin_sim_bridge', released='True'), 5.0)
    assert nodes.any_figure('released') == 'True'
    nodes.hear(heard('/controller'), 50.0)
    assert nodes.any_figure('released') == 'True'  # all that anybody has said


def test_late_and_missed_cycles_are_counted():
    monitor = CycleMonitor(CycleSettings(deadline=0.002), period=0.001)
    for stamp_ms, arrived, left in (
        (0, 0.000, 0.0002),
        (1, 0.001, 0.0035),  # the torque left late
        (2, 0.0041, 0.0042),  # the sample came 3.1 ms after the one before
        (5, 0.0052, 0.0053),  # two samples are missing
    ):
        monitor.step(stamp_ms * 1_000_000, arrived, left)
    assert (monitor.cycles, monitor.late, monitor.waits, monitor.missed) == (4, 1, 1, 2)
    assert monitor.figures()['cycle longest [us]'] == 2500


def test_cycles_without_a_deadline_are_refused():
    with pytest.raises(ConfigError, match='deadline is 0.0, it has to be above 0 and less than'):
        CycleSettings(deadline=0.0)


def test_in_real_time_nothing_is_waited_for():
    gate = SampleGate.of(False, ('estimate', 'plan'))
    assert gate.is_open(5)


def test_in_lockstep_a_sample_waits_for_every_answer_to_it():
    gate = SampleGate.of(True, ('estimate', 'plan'))
    gate.note('estimate', 5)
    assert not gate.is_open(5)
    gate.note('plan', 4)
    assert not gate.is_open(5)
    gate.note('plan', 5)
    assert gate.is_open(5)
    assert not gate.is_open(6)
    gate.forget('plan')
    assert not gate.is_open(5)


def test_a_process_without_wishes_stays_as_it_is():
    assert prepare_process(RealTimeSettings()) == []
    with pytest.raises(ConfigError, match='priority is 100, .* at least 0 and at most 99'):
        RealTimeSettings(priority=100)
