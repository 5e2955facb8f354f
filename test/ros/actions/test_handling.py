"""Handling as steps of a loop made by hand: what is asked for when, and what a failure leaves."""

import math

import pytest

from safe_sysid.errors import MessageError
from safe_sysid.ros.actions.asked import Outcome, Why
from safe_sysid.ros.actions.grasping import GRIPPER_PATIENCE, Grasping
from safe_sysid.ros.actions.handling import GRASP, RELEASE, Handling
from safe_sysid.ros.actions.weighing import Weighing
from safe_sysid.ros.watch.held_changes import CERTIFYING
from safe_sysid.track.supervisor import Mode, Signal


class Loop:
    """A supervisor by hand, whose planner certifies standing after a while."""

    def __init__(self, mode=Mode.HOLDING):
        self.mode, self.rests, self.asked = mode, True, []
        self.load_changes, self.is_change_pending, self.now = 0, False, 0
        self.refusal = self.certified = ''

    def ask(self, signal):
        self.asked.append(signal)
        if signal is Signal.ANNOUNCE_CHANGE:
            self.mode = self.mode if self.refusal else Mode.CHANGING
            return bool(self.certified), self.refusal or CERTIFYING
        modes = {Signal.BRAKE: Mode.HOLDING, Signal.EXCITE: Mode.EXCITING}
        self.mode = modes.get(signal, self.mode)
        if signal is Signal.PAYLOAD_CHANGED:
            self.changes()
        return True, ''

    def changes(self):
        self.load_changes, self.is_change_pending, self.mode = 1, True, Mode.HOLDING

    def is_at_rest(self):
        return self.rests

    def sentence(self):
        return self.mode.value


class Gripper:
    """It does what it is told, and may say so."""

    def __init__(self):
        self.told, self.is_done, self.trouble, self.doubt = [], False, '', ''
        self.is_stopped = False

    def begin(self, *, closes):
        self.told.append(closes)

    def stop(self):
        self.is_stopped = True


def grasping(loop, knows=lambda: True, closes=True):
    gripper = Gripper()
    return Grasping(loop, gripper, knows, closes=closes), gripper


def test_a_gripper_closes_only_once_it_is_granted_and_its_bounds_are_known_here():
    heard = []
    loop = Loop()
    asked, gripper = grasping(loop, lambda: bool(heard))
    assert asked.step() is None
    loop.certified = 'yes'
    assert asked.step() is None
    assert gripper.told == []
    heard.append('bounds')
    assert asked.step() is None
    assert gripper.told == [True]
    loop.changes()  # an event told it
    assert asked.step() is None  # the identifier has yet to take it
    loop.is_change_pending = False
    assert asked.step() == Outcome(True, 'the gripper has closed')
    assert Signal.PAYLOAD_CHANGED not in loop.asked


def test_a_gripper_that_says_itself_that_it_is_done_needs_no_event():
    loop = Loop()
    loop.certified = 'yes'
    asked, gripper = grasping(loop, closes=False)
    assert asked.step() is None
    gripper.is_done = True
    assert asked.step() is None
    assert loop.asked[-1] is Signal.PAYLOAD_CHANGED
    loop.is_change_pending = False
    assert asked.step().message == 'the gripper has opened'


@pytest.mark.parametrize('why', ['refused', 'trouble', 'silence', 'taken back', 'braked', 'fault'])
def test_whatever_goes_wrong_calls_the_change_off(why):
    loop = Loop()
    asked, gripper = grasping(loop)
    if why == 'refused':
        loop.refusal = 'standing is not certified: torque of joint_2'
    else:
        loop.certified = 'yes'
        assert asked.step() is None
    gripper.trouble = 'it is stuck' if why == 'trouble' else ''
    if why == 'taken back':
        asked.take_back()
    if why in ('braked', 'fault'):
        loop.mode = Mode.HOLDING if why == 'braked' else Mode.FAULT
    steps = GRIPPER_PATIENCE + 2 if why == 'silence' else 1
    outcome = next(x for x in (asked.step() for _ in range(steps)) if x is not None)
    assert not outcome.success
    said = {
        'refused': 'not certified: torque of joint_2',
        'trouble': 'it is stuck; the change was called off',
        'silence': 'nobody says that the gripper has closed',
        'taken back': 'taken back; the change was called off',
        'braked': 'it was called off: holding',
        'fault': 'fault',
    }
    assert said[why] in outcome.message
    assert loop.mode is not Mode.CHANGING
    assert gripper.is_stopped == (why != 'refused')  # it would be another change later


@pytest.mark.parametrize('refusal', ['', 'announce_change has to wait, as planner is inactive'])
def test_a_change_that_somebody_ends_before_it_is_granted_is_not_announced_again(refusal):
    loop = Loop()
    asked, gripper = grasping(loop)
    assert asked.step() is None
    assert loop.mode is Mode.CHANGING
    loop.mode, loop.refusal = Mode.HOLDING, refusal
    outcome = asked.step()
    assert outcome == Outcome(False, refusal or 'it was called off: holding', Why.NOT_BEGUN)
    assert (loop.mode, gripper.told) == (Mode.HOLDING, [])


def test_a_change_that_is_refused_while_it_is_certified_is_called_off():
    loop = Loop()
    asked, _ = grasping(loop)
    assert asked.step() is None
    loop.refusal = 'announce_change has to wait, as planner is deactivating'
    assert asked.step().message == loop.refusal
    assert (loop.mode, loop.asked[-1]) == (Mode.HOLDING, Signal.BRAKE)


@pytest.mark.parametrize('is_announced', [True, False])
def test_what_is_taken_back_before_it_is_granted_leaves_nothing_announced(is_announced):
    loop = Loop(Mode.IDENTIFIED)
    asked, gripper = grasping(loop)
    if is_announced:
        assert asked.step() is None
    loop.mode = Mode.IDENTIFIED  # the identifier has yet to answer
    asked.take_back()
    assert 'the gripper was not told' in asked.step().message
    assert (Signal.BRAKE in loop.asked, gripper.told) == (is_announced, [])


def test_what_is_taken_back_does_not_wait_for_an_identifier_that_never_answers():
    loop = Loop()
    asked, gripper = grasping(loop)
    loop.certified = 'yes'
    for _ in range(2):
        assert asked.step() is None
    gripper.is_done = True
    assert asked.step() is None
    assert asked.step() is None  # it has closed, and the identifier has yet to take that
    asked.take_back()
    outcome = asked.step()
    said = 'taken back, when the gripper had closed already'
    assert (outcome.success, outcome.message) == (False, said)


def weighing(loop, bounds, heaviest=1.0, seconds=0.0):
    return Weighing(loop, heaviest, seconds, lambda: tuple(bounds))


def test_what_is_light_enough_already_is_not_weighed():
    loop = Loop()
    assert weighing(loop, [0.2, 1.0]).step().success
    assert loop.asked == []


@pytest.mark.parametrize(('bounds', 'success'), [((0.3, 0.9), True), ((1.1, 1.3), False)])
def test_learning_ends_as_soon_as_bounds_tell(bounds, success):
    loop, known = Loop(), [0.0, 2.0]
    asked = weighing(loop, known)
    assert asked.step() is None
    assert loop.asked == [Signal.EXCITE]
    assert asked.step() is None
    known[:] = bounds
    loop.rests = False
    assert asked.step() is None
    assert loop.asked[-1] is Signal.BRAKE
    loop.rests = True
    outcome = asked.step()
    assert outcome.success is success
    assert ('1 kg at most can be placed' in outcome.message) is not success


def test_bounds_that_settle_too_wide_are_no_leave_to_place():
    loop = Loop()
    asked = weighing(loop, [0.8, 1.2])
    assert asked.step() is None
    loop.mode = Mode.IDENTIFIED
    outcome = asked.step()
    assert not outcome.success
    assert 'which may be too heavy' in outcome.message


@pytest.mark.parametrize(
    ('heaviest', 'seconds', 'said'),
    [
        *((x, 0.0, f'^heaviest is {x} kg; a finite number') for x in (-1.0, math.nan, math.inf)),
        *((1.0, x, f'^time_limit is {x} s; a finite number') for x in (-1.0, math.nan, math.inf)),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused_as_what_it_is(heaviest, seconds, said):
    with pytest.raises(MessageError, match=said):
        weighing(Loop(), [0.0, 1.0], heaviest, seconds)


class Said:
    """A step that comes out as it was told to."""

    def __init__(self, *outcomes):
        self.outcomes, self.is_taken_back = list(outcomes), False

    def step(self):
        return self.outcomes.pop(0)

    def take_back(self):
        self.is_taken_back = True


def test_the_first_step_that_fails_is_the_last_and_what_is_held_is_said():
    begun = []

    def step(name, *outcomes):
        def begin():
            begun.append(name)
            return Said(*outcomes)

        return name, begin

    good, bad = Outcome(True, 'done'), Outcome(False, 'no way')
    steps = [step(GRASP, None, good), step('carry', bad), step(RELEASE, good)]
    handling = Handling(steps)
    outcomes = [handling.step() for _ in range(3)]
    assert outcomes[:2] == [None, None]
    assert outcomes[2].message == 'carry: no way; what was picked is in the hand'
    assert begun == [GRASP, 'carry']
    assert [Handling([step('approach', bad)]).step().message] == [
        'approach: no way; nothing was picked'
    ]
    whole = Handling([step(GRASP, good), step(RELEASE, good)])
    assert [whole.step() for _ in range(2)] == [None, None]
    assert whole.step() == Outcome(True, 'done; done')
    early = Handling(steps[1:])
    early.take_back()
    assert 'taken back before carry' in early.step().message


@pytest.mark.parametrize('is_told', [True, False])
@pytest.mark.parametrize('name', [GRASP, RELEASE])
def test_a_gripper_that_failed_may_have_done_it_and_that_is_said(name, is_told):
    loop = Loop()
    asked, gripper = grasping(loop, closes=name == GRASP)
    loop.certified = 'yes' if is_told else ''
    handling = Handling([(name, lambda: asked)])
    assert handling.step() is None
    assert bool(gripper.told) == is_told
    gripper.trouble = 'it is stuck'
    if not is_told:
        loop.refusal = 'standing is not certified'
    message = handling.step().message
    assert ('nobody knows what is in the hand' in message) == is_told
    assert ('nothing was picked' in message) == (not is_told)


def test_a_hand_that_is_empty_for_certain_ends_it():
    """Before it is carried on, and let go."""
    begun, weighs = [], ['']

    def step(name):
        return name, lambda: begun.append(name) or Said(Outcome(True, name))

    names = (GRASP, 'lift', 'carry', RELEASE)
    handling = Handling([step(name) for name in names], lambda: weighs[0])
    assert handling.step() is None
    assert handling.step() is None
    weighs[0] = 'it weighs nothing'
    outcome = handling.step()
    assert outcome == Outcome(False, 'carry: it weighs nothing; nothing is in the hand')
    assert begun == [GRASP, 'lift', 'carry']
    whole = Handling([step(name) for name in names], lambda: '')
    assert next(filter(None, (whole.step() for _ in range(9)))).success


def test_a_gripper_that_may_hold_nothing_says_so():
    loop = Loop()
    loop.certified = 'yes'
    asked, gripper = grasping(loop)
    assert asked.step() is None
    gripper.is_done, gripper.doubt = True, 'it did not stall'
    assert asked.step() is None
    loop.is_change_pending = False
    assert asked.step() == Outcome(True, 'the gripper has closed: it did not stall')
