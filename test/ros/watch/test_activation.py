"""Nothing begins before every node that it takes was heard, and is active."""

from types import SimpleNamespace

from lifecycle_msgs.srv import ChangeState
import pytest
import rclpy

from safe_sysid.bringup.processes import MANAGED
from safe_sysid.ros.process.lifecycle import STATE, TRANSITIONS, WAITS, State
from safe_sysid.ros.watch import activation
from safe_sysid.ros.watch.activation import NEEDED, Activation
from safe_sysid.ros.watch.health import NodeStatus
from safe_sysid.ros.watch.heartbeats import Heartbeats
from safe_sysid.track.supervisor import Mode, Signal


def heard(*nodes, state='active'):
    """What is heard of some nodes."""
    beats = Heartbeats('/', 1.0)
    for name in nodes:
        figures = {STATE: state, WAITS: 'False'}
        beats.hear(NodeStatus(f'/{name}', '1', '', frozenset(), figures), 0.0)
    return Activation(SimpleNamespace(), beats)


def test_a_node_that_was_never_heard_is_waited_for():
    refused = heard('planner', 'controller').refusal(Signal.EXCITE)
    assert refused.startswith('excite has to wait, as identifier has not been heard')
    none = heard().refusal(Signal.DO_TASK)
    assert 'identifier and planner and controller have not been heard' in none
    assert heard(*NEEDED).refusal(Signal.EXCITE) == ''
    assert heard().refusal(Signal.BRAKE) == ''


def test_a_node_that_is_off_is_named():
    assert 'planner is inactive' in heard(*NEEDED, state='inactive').refusal(Signal.EXCITE)


@pytest.mark.parametrize('state', [State.UNCONFIGURED, State.INACTIVE])
def test_the_way_back_that_is_named_leads_to_an_active_node(state):
    said = heard(*NEEDED, state=state.label).refusal(Signal.EXCITE)
    for word in said.partition('set NODE ')[2].split(', then '):
        state = next(t.goal for t in TRANSITIONS if (t.start, t.label) == (state, word))
    assert state is State.ACTIVE


def test_no_transition_is_named_where_none_leads_back():
    said = heard(*NEEDED, state='finalized').refusal(Signal.EXCITE)
    assert 'ros2 lifecycle' not in said
    assert 'begin another' in said


def test_no_change_is_announced_or_goes_on_while_a_node_is_off():
    off = heard(*NEEDED, state='inactive')
    assert 'planner is inactive' in off.refusal(Signal.ANNOUNCE_CHANGE)
    assert off.wanted(Mode.CHANGING) is Signal.BRAKE
    assert {off.wanted(mode) for mode in (Mode.HOLDING, Mode.TASK, Mode.FAULT)} == {None}
    assert heard(*NEEDED).wanted(Mode.CHANGING) is None


def test_what_is_needed_is_what_every_way_of_running_starts():
    assert NEEDED == MANAGED


@pytest.fixture
def nodes():
    rclpy.init()
    nodes = [rclpy.create_node(name, namespace='cell') for name in ('asks', 'answers')]
    yield nodes
    for node in nodes:
        node.destroy_node()
    rclpy.shutdown()


def test_requests_that_nobody_answers_are_not_kept(nodes, monkeypatch):
    monkeypatch.setattr(activation, 'AGAIN', 0.0)
    asks, answers = nodes
    answers.create_service(ChangeState, 'planner/change_state', lambda _, answer: answer)
    beats = Heartbeats('/', 1.0)
    figures = {STATE: 'unconfigured', WAITS: 'True'}
    beats.hear(NodeStatus('/planner', '1', '', frozenset(), figures), 0.0)
    active = Activation(asks, beats)
    active.step()
    assert active._clients['planner'].wait_for_service(timeout_sec=60.0)
    active.step()
    first = active._asked['planner']
    for _ in range(20):
        active.step()
    assert active._asked['planner'] is not first
    assert len(active._clients['planner']._pending_requests) == 1
