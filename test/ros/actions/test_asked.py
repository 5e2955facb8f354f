"""Actions as steps of a loop made by hand: what is begun, how it ends, what it leaves."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from safe_sysid.errors import MessageError
from safe_sysid.ros.actions.asked import Motion, Why
from safe_sysid.ros.actions.following import (
    Code,
    Following,
    RefusedTrajectoryError,
    Tolerance,
)
from safe_sysid.ros.actions.going import Going
from safe_sysid.ros.actions.identifying import Identifying
from safe_sysid.ros.messages.request_topics import (
    ANSWERED,
    AWAY,
    AWAY_AT,
    GIVEN_UP,
    LEARNS_TO,
    REFUSED,
    TAKEN,
)
from safe_sysid.ros.watch.asked_task import AskedTask
from safe_sysid.track.supervisor import Mode, Signal

STAMP = 1_000
MANY = 300  # looks, more than anybody is waited for


class Loop:
    """A supervisor by hand."""

    def __init__(self, mode):
        self.mode, self.rests, self.asked, self.says = mode, True, [], {}
        self.moves, self.now, self.void_goals, self.silent = None, 0, [], ()

    def void(self, stamp):
        self.void_goals.append(stamp)

    def ask(self, signal):
        self.asked.append(signal)
        if signal is Signal.BRAKE:
            self.mode = Mode.BRAKING
        return True, ''

    def is_at_rest(self):
        return self.rests

    def sentence(self):
        return self.mode.value

    def figure(self, key, node='planner'):
        return self.says.get(key, '') if node == 'planner' else ''

    def motion(self):
        return self.moves


def going(loop):
    """A goal of which the planner hears; stamps that were told and taken back."""
    told = []
    return Going(loop, STAMP, told.append, lambda stamp: told.append(-stamp)), told


def taken(loop, asked):
    assert asked.step() is None
    loop.says |= {ANSWERED: str(STAMP), TAKEN: str(STAMP), AWAY: '0.5'}
    loop.mode, loop.rests = Mode.TASK, False
    assert asked.step() is None
    assert asked.step() is None


def test_a_goal_is_told_until_it_is_taken_and_reached_once_the_arm_rests():
    loop = Loop(Mode.IDENTIFIED)
    asked, told = going(loop)
    taken(loop, asked)
    assert told == [STAMP]
    loop.mode = Mode.IDENTIFIED
    assert asked.step() is None  # still moving
    loop.rests = True
    outcome = asked.step()
    assert outcome.success
    assert asked.distance == 0.5


@pytest.mark.parametrize('speaks', [True, False])
def test_how_far_the_goal_is_counts_from_where_the_arm_rests(speaks):
    """A planner that gets no processor has told it last on the way, and may never tell it."""
    loop = Loop(Mode.IDENTIFIED)
    asked, _ = going(loop)
    loop.says[AWAY_AT] = '5000'
    taken(loop, asked)
    loop.mode, loop.rests, loop.now = Mode.IDENTIFIED, True, 6000
    assert asked.step() is None
    loop.now = 7000
    assert asked.step() is None
    if speaks:
        loop.says |= {AWAY_AT: '6500', AWAY: '0.01'}
    outcome = next(each for each in (asked.step() for _ in range(MANY)) if each)
    assert outcome.success
    assert ('0.01 rad from' if speaks else 'does not say how far') in outcome.message
    assert asked.distance == 0.01 if speaks else math.isnan(asked.distance)


@pytest.mark.parametrize('mode', [Mode.IDLE, Mode.EXCITING, Mode.TASK, Mode.FAULT])
def test_a_goal_that_has_to_wait_is_never_told(mode):
    asked, told = going(Loop(mode))
    outcome = asked.step()
    assert not outcome.success
    assert told == []


def test_a_goal_is_refused_or_given_up_in_the_words_of_the_planner():
    loop = Loop(Mode.HOLDING)
    asked, _ = going(loop)
    assert asked.step() is None
    loop.says |= {ANSWERED: str(STAMP), REFUSED: f'{STAMP} out of reach'}
    assert asked.step().message == 'refused: out of reach'
    loop = Loop(Mode.IDENTIFIED)
    asked, _ = going(loop)
    taken(loop, asked)
    loop.mode, loop.rests = Mode.IDENTIFIED, True
    loop.says[GIVEN_UP] = f'{STAMP} no way'
    outcome = asked.step()
    assert (outcome.success, 'given up: no way' in outcome.message) == (False, True)


@pytest.mark.parametrize(
    ('leads_to', 'why'),
    [
        (str(STAMP + 7), f'another goal, of stamp {STAMP + 7} ns, took its place'),
        ('', 'the goal was taken away by somebody else, or forgotten by the planner'),
    ],
)
def test_a_goal_that_another_one_has_ousted_is_no_success_however_the_task_ends(leads_to, why):
    loop = Loop(Mode.IDENTIFIED)
    asked, told = going(loop)
    taken(loop, asked)
    loop.says |= {ANSWERED: str(STAMP + 7), TAKEN: leads_to, AWAY: '0.02'}
    assert asked.step() is None  # the arm is on its way elsewhere, and nobody brakes it
    assert (loop.asked, told) == ([], [STAMP])
    loop.mode, loop.rests = Mode.IDENTIFIED, True
    outcome = asked.step()
    assert (outcome.success, outcome.why) == (False, Why.ENDED_EARLY)
    assert outcome.message == f'{why}; the arm is at rest'
    assert math.isnan(asked.distance)  # that of the other goal


def test_a_goal_that_is_taken_away_before_the_task_begins_is_not_waited_for():
    loop = Loop(Mode.IDENTIFIED)
    asked, _ = going(loop)
    assert asked.step() is None
    loop.says |= {ANSWERED: str(STAMP), TAKEN: str(STAMP)}
    assert asked.step() is None
    loop.says |= {ANSWERED: str(STAMP + 7), TAKEN: ''}
    assert 'taken away by somebody else' in asked.step().message


def test_what_is_taken_back_brakes_and_is_over_at_rest_once_the_planner_knows():
    loop = Loop(Mode.IDENTIFIED)
    asked, told = going(loop)
    taken(loop, asked)
    asked.take_back()
    assert asked.step() is None
    assert loop.asked == [Signal.BRAKE]
    loop.mode, loop.rests = Mode.HOLDING, True
    assert asked.step() is None  # the planner may still lead there
    loop.says[ANSWERED] = str(STAMP + 1)
    asked.take_back()  # again
    assert asked.step().message == 'taken back; at rest'
    assert told[1:] == [-STAMP - 1] * 2


def test_a_fault_ends_a_goal_at_rest_and_a_deaf_planner_does_without_motion():
    loop = Loop(Mode.IDENTIFIED)
    asked, _ = going(loop)
    taken(loop, asked)
    loop.mode, loop.rests = Mode.FAULT, True
    outcome = asked.step()
    assert (outcome.success, 'fault' in outcome.message) == (False, True)
    asked, _ = going(Loop(Mode.IDENTIFIED))
    outcome = next(filter(None, (asked.step() for _ in range(MANY))))
    assert 'does not answer; nothing was begun' in outcome.message


def identifying(loop, wanted, bounds, seconds=0.0):
    told = []
    return Identifying(loop, wanted, seconds, lambda: bounds, told.append), told


def test_it_learns_until_bounds_are_narrow():
    loop, upper = Loop(Mode.IDLE), [2.0]
    asked, told = identifying(loop, [0.3], ([1.0], upper))
    assert asked.step() is None
    assert told == [[0.3]]
    loop.says[LEARNS_TO] = '[0.3]'
    assert asked.step() is None
    assert loop.asked == [Signal.EXCITE]
    loop.mode = Mode.EXCITING
    assert asked.step() is None
    assert asked.limited_by == 'm is known to +-0.5, +-0.3 is wanted'
    upper[0], loop.mode = 1.5, Mode.IDENTIFIED
    assert asked.step().success
    assert told[-1] == ()


def test_time_that_is_up_brakes_and_says_what_is_still_wide():
    """By the clock of the arm, which waits in lockstep, from its first sample on."""
    loop = Loop(Mode.IDLE)
    asked, _ = identifying(loop, [0.3], ([1.0], [2.0]), seconds=5.0)
    loop.says[LEARNS_TO] = '[0.3]'
    assert asked.step() is None
    loop.mode, loop.now = Mode.EXCITING, 10**18
    assert asked.step() is None
    loop.now += 5_000_000_000
    assert asked.step() is None
    assert loop.asked == [Signal.EXCITE]
    loop.now += 1
    assert asked.step() is None
    assert loop.asked == [Signal.EXCITE, Signal.BRAKE]
    loop.mode = Mode.HOLDING
    outcome = asked.step()
    assert not outcome.success
    assert outcome.message.startswith('time is up; m is known to +-0.5')


def test_a_planner_that_hears_too_late_what_was_wanted_hears_that_it_is_not_any_more():
    asked, told = identifying(Loop(Mode.HOLDING), [0.3], ([1.0], [2.0]))
    outcome = next(filter(None, (asked.step() for _ in range(MANY))))
    assert 'does not answer; nothing was begun' in outcome.message
    assert told[-1] == ()


def test_what_is_left_to_learn_comes_first_however_long_it_takes():
    loop = Loop(Mode.HOLDING)
    asked, _ = going(loop)
    assert asked.step() is None
    loop.says |= {ANSWERED: str(STAMP), TAKEN: str(STAMP), AWAY: '0.5'}
    loop.mode, loop.rests = Mode.EXCITING, False
    assert [asked.step() for _ in range(MANY)] == [None] * MANY
    loop.mode, loop.rests = Mode.IDENTIFIED, True
    assert asked.step() is None
    loop.mode = Mode.TASK
    assert asked.step() is None
    loop.mode = Mode.IDENTIFIED
    assert asked.step().success


def test_bounds_that_were_narrow_before_another_payload_are_not_taken_for_its_own():
    loop = Loop(Mode.HOLDING)
    loop.says[LEARNS_TO] = '[0.3]'
    asked, _ = identifying(loop, [0.3], ([1.0], [1.2]))
    assert asked.step() is None
    assert loop.asked == [Signal.EXCITE]


@pytest.mark.parametrize('hears', ['while it learns', 'as it settles', 'once it has settled'])
def test_a_planner_that_was_started_again_is_told_again_what_is_wanted(hears):
    """Whenever it hears it, what it has found by its own widths is not the end."""
    loop, upper = Loop(Mode.HOLDING), [2.0]
    loop.says[LEARNS_TO] = '[0.3]'
    asked, told = identifying(loop, [0.3], ([1.0], upper))
    assert asked.step() is None
    loop.mode = Mode.EXCITING
    loop.says[LEARNS_TO] = ''  # as of a process that has just begun
    if hears != 'once it has settled':
        assert asked.step() is None
        assert told == [[0.3]]
        loop.says[LEARNS_TO] = '[0.3]'
    if hears == 'while it learns':
        assert asked.step() is None
        assert told == [[0.3]]
    loop.mode = Mode.IDENTIFIED
    assert asked.step() is None
    if hears == 'once it has settled':
        assert asked.step() is None
        assert told == [[0.3]]
        loop.says[LEARNS_TO] = '[0.3]'
    assert asked.step() is None
    assert loop.asked == [Signal.EXCITE] * 2
    upper[0], loop.mode = 1.5, Mode.IDENTIFIED
    assert asked.step().success


def test_widths_that_are_not_reached_by_a_planner_that_was_told_again_end_it():
    loop = Loop(Mode.HOLDING)
    loop.says[LEARNS_TO] = '[0.3]'
    asked, _ = identifying(loop, [0.3], ([1.0], [2.0]))
    assert asked.step() is None
    loop.mode = Mode.EXCITING
    for said in ('', '[0.3]'):
        loop.says[LEARNS_TO] = said
        assert asked.step() is None
    for _ in range(2):
        loop.mode = Mode.IDENTIFIED
        outcome = asked.step()
        if outcome is None:
            assert asked.step() is None
    assert (outcome.success, 'm is known to' in outcome.message) == (False, True)


@pytest.mark.parametrize('mode', [Mode.FAULT, Mode.HOLDING])
def test_nobody_is_told_anything_once_somebody_or_a_fault_has_ended_it(mode):
    loop = Loop(Mode.HOLDING)
    loop.says[LEARNS_TO] = '[0.3]'
    asked, told = identifying(loop, [0.3], ([1.0], [2.0]))
    assert asked.step() is None
    loop.mode, loop.says[LEARNS_TO] = mode, ''
    assert not asked.step().success
    assert told == [()]


@pytest.mark.parametrize('wanted', [[-0.1], [math.nan], [math.inf], [0.1] * 11])
def test_widths_that_make_no_sense_are_refused(wanted):
    with pytest.raises(MessageError, match='at most 10 finite numbers .* none of them negative'):
        identifying(Loop(Mode.IDLE), wanted, ([], []))


@pytest.mark.parametrize('seconds', [-1.0, math.nan, math.inf])
def test_a_time_limit_that_makes_no_sense_is_refused_as_what_it_is(seconds):
    with pytest.raises(MessageError, match=f'^time_limit is {seconds} s; a finite number'):
        identifying(Loop(Mode.IDLE), [], ([], []), seconds)


def asked_task(goal):
    said = SimpleNamespace(goal=goal)
    nodes = SimpleNamespace(figure=lambda node, key: said.goal if key == TAKEN else node)
    return AskedTask(nodes), said


def test_a_goal_begins_the_task_where_the_arm_has_learned_or_holds():
    task, _ = asked_task('5')
    assert task.signal(Mode.EXCITING) is None
    assert task.signal(Mode.HOLDING) is Signal.EXCITE
    assert task.signal(Mode.IDENTIFIED) is Signal.DO_TASK
    assert task.signal(Mode.TASK) is None
    assert task.signal(Mode.IDENTIFIED) is None  # done


@pytest.mark.parametrize('mode', [Mode.BRAKING, Mode.FAULT, Mode.IDLE])
def test_a_goal_that_is_there_when_somebody_brakes_begins_nothing_later(mode):
    task, said = asked_task('5')
    assert task.signal(Mode.EXCITING) is None
    assert task.signal(mode) is None
    assert task.signal(Mode.HOLDING) is None
    said.goal = '6'
    assert task.signal(Mode.HOLDING) is Signal.EXCITE


def test_a_goal_that_is_lost_ends_the_task():
    task, said = asked_task('5')
    assert task.signal(Mode.TASK) is None
    said.goal = ''
    assert task.signal(Mode.TASK) is Signal.BRAKE
    assert task.signal(Mode.TASK) is None


NAMES = ('a', 'b')


def at(*position):
    """Where the arm is, that should be at 0 and move at 1 rad/s."""
    desired = np.zeros(2), np.ones(2), np.zeros(2)
    return Motion(1, np.array(position), np.ones(2), desired)


def following(loop, on_the_way=(), at_the_end=()):
    asked, told = going(loop)
    tolerances = (Tolerance.of(NAMES, each) for each in (on_the_way, at_the_end))
    return Following(asked, loop, *tolerances), told


def test_a_tolerance_that_is_violated_on_the_way_has_the_arm_brake():
    loop = Loop(Mode.IDENTIFIED)
    asked, _ = following(loop, [('b', 0.1, 0.0, 0.0)])
    loop.moves = at(5.0, 0.1)  # a may be anywhere, b just so
    taken(loop, asked)
    assert loop.asked == []
    loop.moves = at(5.0, -0.11)
    assert asked.step() is None
    assert loop.asked == [Signal.BRAKE]
    loop.mode, loop.rests, loop.moves = Mode.HOLDING, True, at(0.0, 0.0)
    loop.says[ANSWERED] = str(STAMP + 1)
    outcome = asked.step()
    assert (outcome.success, asked.code) == (False, Code.PATH_TOLERANCE_VIOLATED)
    assert 'b is 0.11 rad from where it should be, 0.1 rad are tolerated' in outcome.message


@pytest.mark.parametrize(
    ('place', 'says', 'code'),
    [
        (0.1, {}, Code.SUCCESSFUL),
        (0.3, {}, Code.GOAL_TOLERANCE_VIOLATED),
        (0.1, {GIVEN_UP: f'{STAMP} no plan'}, Code.PATH_TOLERANCE_VIOLATED),
        (0.1, {TAKEN: str(STAMP + 7)}, Code.PATH_TOLERANCE_VIOLATED),
    ],
)
def test_the_code_says_how_a_path_ended(place, says, code):
    loop = Loop(Mode.IDENTIFIED)
    asked, _ = following(loop, at_the_end=[('a', 0.2, 0.0, 0.0)])
    taken(loop, asked)
    loop.mode, loop.rests, loop.moves = Mode.IDENTIFIED, True, at(place, 0.0)
    loop.says |= says
    outcome = asked.step()
    assert (outcome.success, asked.code) == (code is Code.SUCCESSFUL, code)


def test_a_path_that_is_refused_is_an_invalid_goal():
    loop = Loop(Mode.IDENTIFIED)
    asked, _ = following(loop)
    assert asked.step() is None
    loop.says |= {ANSWERED: str(STAMP), REFUSED: f'{STAMP} piece 1 is not certified'}
    assert not asked.step().success
    assert asked.code is Code.INVALID_GOAL


@pytest.mark.parametrize(
    ('told', 'code'),
    [
        ([('c', 0.1, 0.0, 0.0)], Code.INVALID_JOINTS),
        ([('a', 0.1, 0.0, 0.1)], Code.INVALID_GOAL),
        ([('a', float('nan'), 0.0, 0.0)], Code.INVALID_GOAL),
        ([('a', 0.1, 0.0, 0.0), ('b', 0.1, 0.0, 0.0), ('a', 1e-9, 0.0, 0.0)], Code.INVALID_GOAL),
    ],
)
def test_tolerances_that_cannot_be_kept_watch_over_are_refused(told, code):
    with pytest.raises(RefusedTrajectoryError) as refused:
        Tolerance.of(NAMES, told)
    assert refused.value.code is code
