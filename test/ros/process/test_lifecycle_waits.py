"""A node is deactivated only in a mode without need of it; until then it works, without answer."""

from types import SimpleNamespace

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import pytest
import rclpy
from rclpy.node import Node
from ros.running_node import wait_until

from safe_sysid.ros.process.distributions import single_threaded_executor
from safe_sysid.ros.process.leaving import ALONE
from safe_sysid.ros.process.lifecycle import LOOK, Lifecycle, Work
from safe_sysid.track.supervisor import Mode

LOOKS = 8  # in which a node would have been deactivated, were it allowed


class Managed:
    """A node whose supervisor is a word of the test, and who asks it for transitions."""

    def __init__(self, rest):
        self.node = Node('managed')
        self.supervised = SimpleNamespace(mode='exciting', silent=0.0)
        self.done, self.is_free = [], True
        note = [lambda word=word: self.done.append(word) for word in ('begin', 'pause', 'forget')]
        work = Work(rest, *note, is_free=lambda: self.is_free)
        self.life = Lifecycle(self.node, False, self.supervised, work)
        self._client = self.node.create_client(ChangeState, '~/change_state')
        self._executor = single_threaded_executor()
        self._executor.add_node(self.node)
        self._ticks = []
        self.turns = 0  # of the executor
        self.node.create_timer(LOOK, lambda: self._ticks.append(0))
        self.until(self._client.service_is_ready, 'its services are there')

    def until(self, condition, what):
        wait_until(condition, what, self._turn)

    def _turn(self):
        self.turns += 1
        self._executor.spin_once(timeout_sec=0.1)

    def look(self):
        """Let the node look whether it may go, often enough."""
        before = len(self._ticks)
        self.until(lambda: len(self._ticks) > before + LOOKS, 'looks')

    def ask(self, label):
        request = ChangeState.Request(transition=Transition(label=label))
        return self._client.call_async(request)

    def outcome(self, label):
        future = self.ask(label)
        self.until(future.done, label)
        return future.result().success


@pytest.fixture
def managed(request):
    rclpy.init()
    managed = Managed(request.param)
    yield managed
    managed.node.destroy_node()
    rclpy.shutdown()


NEEDED = {
    Mode.HOLDING: ('probing', 'exciting', 'task', 'braking', 'releasing'),
    Mode.IDLE: ('probing', 'exciting', 'task', 'braking', 'releasing', 'holding', 'identified'),
}


@pytest.mark.parametrize('managed', list(NEEDED), indirect=True, ids=lambda mode: mode.value)
def test_the_arm_rests_before_a_node_is_deactivated(managed, request):
    rest = request.node.callspec.params['managed']
    future = managed.ask('deactivate')
    for mode in NEEDED[rest]:
        managed.supervised.mode = mode
        managed.look()
        assert not future.done(), mode
        assert managed.life.is_active
        assert managed.life.state.label == 'deactivating'
        assert managed.life.figures()['deactivated in mode'] == rest.value
    assert managed.done == []
    managed.supervised.mode, managed.is_free = rest.value, False
    managed.look()
    assert not future.done()
    managed.is_free = True
    managed.until(future.done, 'deactivated')
    assert future.result().success
    assert (managed.done, managed.life.state.label) == (['pause'], 'inactive')
    assert managed.life.is_parked
    assert managed.outcome('cleanup')
    assert managed.outcome('configure')
    assert not managed.outcome('configure')
    assert managed.outcome('activate')
    assert managed.done == ['pause', 'forget', 'begin']
    assert not managed.life.is_parked


@pytest.mark.parametrize('managed', [Mode.HOLDING], indirect=True)
def test_a_node_that_waits_leaves_the_processor_to_others(managed):
    """While a coroutine waits, the events executor goes round as fast as it can."""
    managed.ask('deactivate')
    managed.look()
    before = managed.turns
    managed.look()
    assert managed.life.state.label == 'deactivating'
    assert managed.turns - before < 10 * LOOKS


@pytest.mark.parametrize('managed', [Mode.HOLDING], indirect=True)
@pytest.mark.parametrize(('mode', 'silent'), [('fault', 0.0), ('exciting', 2.0 * ALONE)])
def test_where_nobody_brings_the_arm_to_rest_it_stays_active(managed, mode, silent):
    managed.supervised.mode, managed.supervised.silent = mode, silent
    assert not managed.outcome('deactivate')
    assert (managed.done, managed.life.state.label) == ([], 'active')
