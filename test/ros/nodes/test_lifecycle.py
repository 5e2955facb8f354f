"""Managed nodes over real middleware: activated by the supervisor, deactivated at rest."""

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState
import numpy as np
import pytest
from ros.faulty_loop import COMPILING
from ros.running_loop import changed_settings, observed, running

from safe_sysid.ros.process.lifecycle import TRANSITIONS, State, transition_of

NODES = ('identifier', 'planner', 'controller', 'builtin_sim_bridge')
NEAR = 0.02  # [rad]
SETTLED = ('unconfigured', 'inactive', 'active', 'finalized')
LEADS_TO = {
    'configure': 'inactive',
    'activate': 'active',
    'deactivate': 'inactive',
    'cleanup': 'unconfigured',
}


def test_the_transitions_are_those_of_managed_nodes():
    """Numbers of lifecycle_msgs; a label counts more, as `ros2 lifecycle` sends both."""
    for each in TRANSITIONS:
        suffix = f'{each.start.name}_SHUTDOWN' if each.label == 'shutdown' else each.label.upper()
        assert each.id == getattr(Transition, f'TRANSITION_{suffix}')
        assert transition_of(each.start, Transition(id=each.id)) is each
        assert transition_of(each.start, Transition(id=99, label=each.label)) is each
    assert transition_of(State.DEACTIVATING, Transition(id=4)) is None
    assert transition_of(State.ACTIVE, Transition(label='activate')) is None


class Manager:
    """Somebody who changes states of nodes, as `ros2 lifecycle` does."""

    def __init__(self, loop):
        self._loop = loop

    def set(self, node, label):
        """Whether a transition was made; where it was asked for twice, whether the first was."""
        request = ChangeState.Request(transition=Transition(label=label))
        answer, is_asked_again = self._loop.ask(ChangeState, f'{node}/change_state', request)
        if answer.success or not is_asked_again:
            return answer.success
        self._loop.wait(lambda: self.state(node) in SETTLED, f'{node} has made its transition')
        return self.state(node) == LEADS_TO[label]

    def state(self, node):
        answer, _ = self._loop.ask(GetState, f'{node}/get_state', GetState.Request())
        return answer.current_state.label

    def allowed(self, node):
        service = f'{node}/get_available_transitions'
        request = GetAvailableTransitions.Request()
        answer, _ = self._loop.ask(GetAvailableTransitions, service, request)
        return [each.transition.label for each in answer.available_transitions]


def moving(loop):
    """Start, until the arm moves."""
    before = len(loop.samples)
    answer = loop.call('supervisor/start')
    assert answer.success, f'{answer.message}; {loop.conditions}'
    fast = lambda: loop.samples and np.abs(loop.samples[-1].velocity).max() > 0.1  # noqa: E731
    loop.wait(lambda: len(loop.samples) > before and fast(), 'it moves', COMPILING)


def assert_it_rests_where_its_plan_ends(loop):
    followed = [plan for plan in loop.plans if plan.points][-1]
    rests_at, sample = np.array(followed.points[-1].positions), loop.samples[-1]
    assert np.abs(np.array(sample.position) - rests_at).max() < NEAR
    assert np.abs(sample.velocity).max() < NEAR


@pytest.mark.slow
def test_nodes_are_activated_by_the_supervisor_and_deactivated_at_rest(tmp_path):
    settings = changed_settings(tmp_path, 'two_link', planner__mission__exciting=10_000)
    calm = ('-p', 'supervisor:autostart:=false', '-p', 'planner:mission.shrinking:=0.0')
    with (
        observed() as loop,
        running('builtin_sim', '--config', settings, '--lockstep', *calm) as process,
    ):
        manager = Manager(loop)
        for node in NODES:
            loop.wait(lambda n=node: manager.state(n) == 'active', f'{node} is active')
        planner_is_deactivated_in_motion(loop, manager)
        controller_and_bridge_are_deactivated_in_motion(loop, manager)
        nothing_is_deactivated_in_a_fault(loop, manager)
    assert process.returncode == 130


def planner_is_deactivated_in_motion(loop, manager):
    """And stays so until somebody activates it, whatever the supervisor does."""
    moving(loop)
    assert manager.allowed('planner') == ['deactivate', 'shutdown']
    assert not manager.set('planner', 'configure')
    assert manager.set('planner', 'deactivate')
    loop.wait(lambda: loop.mode == 'holding', 'at rest')
    assert_it_rests_where_its_plan_ends(loop)
    assert manager.set('planner', 'cleanup')
    count = len(loop.samples)
    refused = loop.call('supervisor/start')
    assert not refused.success
    assert 'excite has to wait, as planner is unconfigured' in refused.message
    loop.wait(lambda: len(loop.samples) > count + 5, 'the loop goes on')
    assert manager.state('planner') == 'unconfigured'
    assert manager.set('planner', 'configure')
    assert manager.set('planner', 'activate')
    moving(loop)


def controller_and_bridge_are_deactivated_in_motion(loop, manager):
    for node in ('controller', 'builtin_sim_bridge'):
        assert manager.set(node, 'deactivate')
        loop.wait(lambda: loop.mode == 'idle', 'without torque')
        assert_it_rests_where_its_plan_ends(loop)
        loop.wait(
            lambda n=node: loop.conditions[n].figures['lifecycle'] == 'inactive', f'{node} is out'
        )
        refused = loop.call('supervisor/start')
        assert f'{node} is inactive' in refused.message or f'{node} is deact' in refused.message
        bridge = 'builtin_sim_bridge'
        loop.wait(lambda b=bridge: loop.conditions[b].figures['gives_torque'] == 'False', 'free')
        assert manager.set(node, 'activate')
        loop.wait(
            lambda n=node: loop.conditions[n].figures['lifecycle'] == 'active', f'{node} is back'
        )
        moving(loop)
    assert 'fault' not in loop.modes


def nothing_is_deactivated_in_a_fault(loop, manager):
    assert loop.call('supervisor/new_payload').success
    loop.wait(lambda: loop.mode == 'fault', 'another payload in motion is a fault')
    assert not manager.set('identifier', 'deactivate')
    assert manager.state('identifier') == 'active'
