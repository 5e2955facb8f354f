"""Actions are begun, called off and ended without anybody who waits for them."""

import math
from types import SimpleNamespace
from unittest.mock import MagicMock

from geometry_msgs.msg import PoseStamped
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from safe_sysid.errors import MessageError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.actions.asked import Outcome
from safe_sysid.ros.actions.handle_action import _check_places
from safe_sysid.ros.actions.loop_requests import LoopRequests
from safe_sysid.ros.actions.served import Running, ServedActions
from safe_sysid.ros.actions.silence import LONGEST
from safe_sysid.ros.messages.codec import SECOND, stamp_of, time_of
from safe_sysid.ros.messages.request_topics import LEARNS_TO
from safe_sysid.ros.nodes.supervisor_node import SupervisorNode
from safe_sysid.track.supervisor import Mode, Signal

ARM = RobotModel.named('two_link')
QUIET = SimpleNamespace(info=lambda _: None)


class Asked:
    """An action that ends once it is taken back, or when it is told to."""

    def __init__(self):
        self.outcome, self.is_taken_back = None, False

    def take_back(self):
        self.is_taken_back = True
        self.outcome = self.outcome or Outcome(False, 'taken back; at rest')

    def step(self):
        return self.outcome


class ErrandByHand(Asked):
    """One that begins at its first look."""

    def __init__(self):
        super().__init__()
        self.looks, self.lasts, self.is_over, self.says = 0, 99999, False, 'grasp'

    @property
    def goes_on(self):
        return self.looks > 0 and not self.is_over

    def look(self):
        self.looks += 1
        self.is_over |= self.looks >= self.lasts

    def end(self, why):
        self.says, self.is_over = why, True


class Goal:
    """Handle of an action server: executes what it is told at once."""

    def __init__(self):
        self.ended, self.result, self.is_cancel_requested = '', None, False

    def execute(self, callback):
        assert not self.ended
        self.result = callback(self)

    def succeed(self):
        self.ended = 'succeeded'

    def abort(self):
        self.ended = 'aborted'

    def canceled(self):
        self.ended = 'canceled'

    def publish_feedback(self, feedback):
        pass


@pytest.fixture
def served(monkeypatch):
    monkeypatch.setattr('safe_sysid.ros.actions.served._types', lambda *_: None)
    node = SimpleNamespace(get_logger=lambda: QUIET)
    loop = SimpleNamespace(silent=(), measured=None, mode=Mode.TASK)
    return ServedActions(node, loop, None, None)


@pytest.fixture
def errand(served):
    served._errand = ErrandByHand()
    return served._errand


def begun(served, asked):
    goal = Goal()
    running = Running('go_to', asked, goal, dict, lambda outcome: outcome.message)
    served._begin(None, lambda _: running, goal)
    return goal


def test_an_action_is_executed_when_it_is_over(served):
    asked = Asked()
    goal = begun(served, asked)
    for _ in range(9):
        served.look()
    assert not goal.ended
    asked.outcome = Outcome(True, 'there')
    served.look()
    assert (goal.ended, goal.result) == ('succeeded', 'there')


def test_the_task_follows_neither_an_action_nor_an_errand(served):
    assert not served.is_busy
    served._errand = ErrandByHand()
    assert served.is_busy
    served._errand, asked = None, Asked()
    begun(served, asked)
    assert served.is_busy
    asked.outcome = Outcome(True, 'there')
    served.look()
    assert not served.is_busy


def test_an_action_and_an_errand_go_on_one_at_a_time(served, errand, monkeypatch):
    """They share the gripper, and what is told of it."""
    monkeypatch.setattr('safe_sysid.ros.actions.served._refusal', lambda _, error: str(error))
    asked = Asked()
    begun(served, asked)
    served.look()
    assert errand.looks == 0  # it waits until the action is over
    asked.outcome = Outcome(True, 'there')
    served.look()
    served.look()
    assert (errand.looks, errand.goes_on) == (2, True)
    goal = begun(served, Asked())
    said = 'an errand goes on, grasp; one at a time'
    assert (goal.ended, goal.result) == ('aborted', said)
    errand.is_over = True
    assert served.look() is False
    assert not begun(served, Asked()).ended


def result_with(*fields):
    """Return the kind of an action whose result has these fields."""

    class Result(SimpleNamespace):
        def __init__(self, **told):
            assert told.keys() <= set(fields)
            super().__init__(**dict.fromkeys(fields, 0.0) | told)

        @staticmethod
        def get_fields_and_field_types():
            return dict.fromkeys(fields, 'double')

    return SimpleNamespace(Result=Result)


def test_what_is_refused_at_once_is_not_said_to_be_there(served):
    """A distance of 0 would say so."""
    begun(served, Asked())
    goal = Goal()
    served._begin(result_with('success', 'message', 'distance'), MagicMock(), goal)
    assert goal.ended == 'aborted'
    assert goal.result.message == 'go_to goes on; one at a time; nothing was begun'
    assert math.isnan(goal.result.distance)


def test_what_has_no_distance_is_refused_without(served):
    begun(served, Asked())
    for fields in (('message', 'lower'), ('error_code', 'error_string')):
        goal = Goal()
        served._begin(result_with(*fields), MagicMock(), goal)
        assert goal.ended == 'aborted'
        assert set(vars(goal.result)) == set(fields)


def test_an_errand_that_has_come_out_is_told_once(served, errand):
    errand.lasts = 2
    assert [served.look() for _ in range(4)] == [False, True, False, False]


@pytest.mark.parametrize('node', ['planner', 'identifier'])
def test_a_node_that_is_not_heard_any_more_ends_what_goes_on(served, errand, node):
    """It would go on for ever; one that is started again is waited for."""
    asked = Asked()
    goal = begun(served, asked)
    for silent in ((node,), (), (node,)):
        served._loop.silent = silent
        for _ in range(LONGEST):
            served.look()
        assert not asked.is_taken_back
    served.look()
    said = f'{node} not heard for 60 s; taken back; at rest'
    assert (goal.ended, goal.result) == ('aborted', said)
    assert errand.is_taken_back


@pytest.mark.parametrize('mode', [Mode.FAULT, Mode.TASK])
def test_an_action_whose_arm_is_seen_no_more_ends_in_a_fault(served, mode):
    """Nobody knows whether that arm rests, for which others would wait for ever."""
    asked = Asked()
    asked.take_back = lambda: None  # the last sample moved, so that it never comes to rest
    goal = begun(served, asked)
    served._loop.mode = mode
    for sample in (object(), object()):
        served._loop.measured = sample
        for _ in range(LONGEST):
            served.look()
        assert not goal.ended
    for _ in range(2):
        served.look()
    said = 'no joint state for 60 s: nobody knows whether the arm rests'
    ended = ('aborted', said) if mode is Mode.FAULT else ('', None)
    assert (goal.ended, goal.result) == ended


def test_an_errand_whose_arm_is_seen_no_more_ends_in_a_fault(served, errand):
    served._loop.mode, served._loop.measured = Mode.FAULT, object()
    looks = [served.look() for _ in range(LONGEST + 3)]
    assert looks.index(True) == LONGEST + 1
    assert errand.says == 'no joint state for 60 s: nobody knows whether the arm rests'


def test_actions_are_looked_at_before_any_bridge_is_heard():
    """Else nothing would end what was accepted, nor answer who cancels it."""
    supervisor = MagicMock(_looks=0, _supervisor=None)
    SupervisorNode._look(supervisor)
    supervisor._actions.look.assert_called_once()


def test_a_canceled_action_comes_to_rest_first(served):
    asked = Asked()
    goal = begun(served, asked)
    goal.is_cancel_requested = True
    served.look()
    assert asked.is_taken_back
    assert goal.ended == 'canceled'


@pytest.mark.parametrize('signal', list(Signal))
def test_who_asks_for_rest_calls_off_what_was_accepted(served, signal):
    """An action that begins only now would move the arm off again."""
    asked, errand = Asked(), ErrandByHand()
    goal, served._errand = begun(served, asked), errand
    served.call_off(signal)
    served._errand = None
    served.look()
    calls_off = signal in (Signal.BRAKE, Signal.STOP, Signal.NEW_PAYLOAD, Signal.END)
    assert asked.is_taken_back == errand.is_taken_back == calls_off
    if calls_off:
        said = f'{signal.value} was asked for; taken back; at rest'
        assert (goal.ended, goal.result) == ('aborted', said)
        asked = Asked()
        goal = begun(served, asked)  # what comes then is not said to be called off
        asked.outcome = Outcome(False, 'given up')
        served.look()
        assert goal.result == 'given up'


def test_what_an_action_of_a_supervisor_before_wanted_is_taken_back(served):
    """Else what is left to learn would come before every goal; what begins here wants its own."""
    says, told = {LEARNS_TO: ''}, []
    served._loop.figure = lambda key: says.get(key, '')
    served._requests = SimpleNamespace(tell_wanted=told.append)
    served._servers = [object()]
    served.look()
    says[LEARNS_TO] = '[1e-06]'  # of a planner that is heard a moment later
    served.look()
    served.look()  # told again until it has taken that
    says[LEARNS_TO] = ''
    served.look()
    assert told == [(), ()]
    asked = Asked()
    begun(served, asked)
    asked.outcome = Outcome(True, 'learned')
    served.look()
    says[LEARNS_TO] = '[0.3]'
    served.look()
    assert told == [(), ()]


def test_a_mistake_of_ours_is_left_to_the_server_which_aborts_the_goal(served):
    goal = Goal()

    def begin(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):  # here execute() calls at once
        served._begin(None, begin, goal)
    assert served._running is None


def goal_of(**changes):
    places = {
        **{name: JointState() for name in ('pick_joints', 'lift_joints', 'place_joints')},
        **{name: PoseStamped() for name in ('pick', 'place')},
    }
    return SimpleNamespace(**{**places, **changes})


def joints(*position):
    return JointState(name=list(ARM.layout.joint_names), position=list(position))


def test_places_that_make_no_sense_are_refused_before_anything_is_picked():
    _check_places(goal_of(lift_joints=joints(1.0, 0.5)), ARM)
    nowhere = PoseStamped()
    nowhere.pose.position.z = np.nan
    for changes, words in (
        ({'place': nowhere}, 'place: its pose is'),
        ({'place_joints': JointState(name=['a'], position=[np.inf])}, 'place_joints: a is inf'),
        ({'place_joints': joints(0.0, 99.0)}, r'place_joints: joint_2 is at 99 rad; \[.* allowed'),
        ({'pick_joints': joints(-99.0, 0.0)}, 'pick_joints: joint_1 is at -99 rad'),
        ({'lift_joints': JointState(name=['joint_1'], position=[0.0])}, 'lift_joints: the goal'),
        ({'lift_joints': JointState(name=['a', 'a'], position=[1.0, 2.0])}, 'more than once'),
        ({'pick_joints': JointState(name=['a', 'b'], position=[1.0])}, '2 names and 1 positions'),
    ):
        with pytest.raises(MessageError, match=words):
            _check_places(goal_of(**changes), ARM)


def test_requests_have_stamps_of_their_own_while_time_stands():
    """Nor has one the stamp that takes another one back, a nanosecond later."""
    node = MagicMock()
    node.get_clock.return_value.now.return_value.nanoseconds = 5_000
    requests = LoopRequests(node, MagicMock(), ARM.layout)
    stamps = [requests._stamp() for _ in range(3)]
    assert stamps[0] == 5_000
    assert np.diff(stamps).min() > 1


def test_a_path_begins_now_by_the_clock_of_the_arm():
    """The planner judges its stamp by that, and so does this action."""
    node, told = MagicMock(), Goal()
    loop = SimpleNamespace(now=7_000_000_000, figure=lambda _: '', mode=Mode.HOLDING)
    requests = LoopRequests(node, loop, ARM.layout)
    message = JointTrajectory(points=[JointTrajectoryPoint()])
    requests.along(message).step()
    assert stamp_of(message.header.stamp) == loop.now
    message.header.stamp = time_of(loop.now + 20 * SECOND)
    told.request = SimpleNamespace(path=message)
    served = SimpleNamespace(_loop=loop, _requests=requests)
    with pytest.raises(MessageError, match='it begins in 20 s'):
        ServedActions._following(served, told)
