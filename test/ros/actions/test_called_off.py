"""A goal whose action has ended without success begins nothing later, whenever it is heard."""

from types import SimpleNamespace

import pytest
from ros.actions.test_asked import MANY, STAMP, Loop, going, taken

from safe_sysid.ros.actions.identifying import Identifying
from safe_sysid.ros.messages.request_topics import (
    ANSWERED,
    GIVEN_UP,
    LATELY,
    REFUSED,
    TAKEN,
    WAITING,
)
from safe_sysid.ros.watch.asked_task import AskedTask
from safe_sysid.track.supervisor import Mode, Signal


class Supervised(Loop):
    """One that begins what is asked for on the topics, as the supervisor does."""

    def __init__(self, mode):
        super().__init__(mode)
        self.task = AskedTask(SimpleNamespace(figure=lambda _, key: self.figure(key)))
        self.void, self.refuses = self.task.void, False

    def ask(self, signal):
        self.asked.append(signal)
        modes = {Signal.EXCITE: Mode.EXCITING, Signal.DO_TASK: Mode.TASK}
        if not self.refuses:
            self.mode = {**modes, Signal.BRAKE: Mode.HOLDING}[signal]
        return not self.refuses, ''

    def begins(self):
        """Look for what a goal begins now, in each mode in which one may."""
        for mode in (Mode.HOLDING, Mode.IDENTIFIED, Mode.EXCITING, Mode.HOLDING):
            self.mode = mode
            if signal := self.task.signal(mode):
                self.ask(signal)
        return self.asked

    def takes(self, stamp):
        """The planner hears of a goal, and leads there."""
        self.says |= {ANSWERED: str(stamp), TAKEN: str(stamp)}


def ended(asked):
    return next(filter(None, (asked.step() for _ in range(MANY))))


@pytest.mark.parametrize('overtakes', [True, False])
def test_a_goal_whose_planner_was_silent_begins_nothing_when_it_is_heard(overtakes):
    """It is withdrawn once; where that overtakes it, the planner leads there all the same."""
    loop = Supervised(Mode.HOLDING)
    asked, told = going(loop)
    assert 'the planner does not answer' in ended(asked).message
    assert [stamp for stamp in told if stamp < 0] == [-STAMP - 1]
    loop.takes(STAMP)
    assert loop.begins() == []
    if not overtakes:
        loop.says |= {ANSWERED: str(STAMP + 1), TAKEN: ''}
        assert loop.begins() == []
    assert bool(loop.task.refusal(Signal.DO_TASK)) == overtakes  # so nobody starts the task
    assert not loop.task.refusal(Signal.EXCITE)
    loop.mode = Mode.TASK  # one that goes on already leads nowhere that nobody asked for
    assert loop.task.signal(loop.mode) is (Signal.BRAKE if overtakes else None)


def test_a_goal_that_could_not_begin_begins_nothing_once_it_could():
    """A node was inactive, say, and somebody activates it after the action was aborted."""
    loop = Supervised(Mode.HOLDING)
    loop.refuses = True
    asked, told = going(loop)
    assert asked.step() is None
    loop.takes(STAMP)
    assert ended(asked).message == 'the task does not begin'
    assert told == [STAMP, -STAMP - 1]
    assert loop.begins() == []


def test_a_goal_that_the_mode_left_before_it_was_answered_begins_nothing_later():
    loop = Supervised(Mode.HOLDING)
    asked, told = going(loop)
    assert asked.step() is None
    loop.mode = Mode.EXCITING  # somebody else has it learn
    assert 'Nothing was begun' in asked.step().message
    assert told == [STAMP, -STAMP - 1]
    loop.takes(STAMP)
    assert loop.begins() == []


def test_a_goal_that_is_taken_back_begins_nothing_however_late_the_planner_answers():
    loop = Supervised(Mode.HOLDING)
    asked, _ = going(loop)
    assert asked.step() is None
    asked.take_back()
    loop.takes(STAMP)
    assert loop.task.signal(loop.mode) is None
    loop.says |= {ANSWERED: '', TAKEN: ''}
    assert ended(asked).message == 'taken back; at rest'
    loop.takes(STAMP)
    assert loop.begins() == []


def test_what_is_taken_back_before_it_was_told_takes_no_goal_of_others_away():
    loop = Supervised(Mode.HOLDING)
    asked, told = going(loop)
    asked.take_back()
    assert asked.step().message == 'taken back; at rest'
    assert told == []


def test_a_goal_that_a_fault_has_ended_is_withdrawn():
    """Else the task would lead there once somebody has reset the fault and learnt."""
    loop = Loop(Mode.IDENTIFIED)
    asked, told = going(loop)
    taken(loop, asked)
    loop.mode, loop.rests = Mode.FAULT, True
    assert not asked.step().success
    assert (told, loop.void_goals) == ([STAMP, -STAMP - 1], [STAMP])


@pytest.mark.parametrize(
    'says',
    [
        {ANSWERED: str(STAMP), REFUSED: f'{STAMP} out of reach'},
        {ANSWERED: str(STAMP), TAKEN: str(STAMP), GIVEN_UP: f'{STAMP} no way'},
        {ANSWERED: str(STAMP + 7), TAKEN: str(STAMP + 7)},
    ],
)
def test_where_the_planner_leads_elsewhere_or_nowhere_nothing_is_withdrawn(says):
    """A withdrawal takes away whatever goal there is, one of somebody else too."""
    loop = Loop(Mode.HOLDING)
    asked, told = going(loop)
    assert asked.step() is None
    loop.says |= {ANSWERED: str(STAMP), TAKEN: str(STAMP)}
    if says[ANSWERED] != str(STAMP) or GIVEN_UP in says:
        assert asked.step() is None
        loop.mode = Mode.TASK
        assert asked.step() is None
        loop.mode = Mode.IDENTIFIED
    loop.says |= {TAKEN: '', **says}
    assert not asked.step().success
    assert (told, loop.void_goals) == ([STAMP], [] if GIVEN_UP in says else [STAMP])


@pytest.mark.parametrize('is_told', [True, False])
def test_what_is_taken_back_in_idle_needs_no_arm_that_rests(is_told):
    """Nobody hears of the arm before there is a bridge; without torque we do not move it."""
    loop = Loop(Mode.HOLDING)
    asked, _ = going(loop)
    if is_told:
        assert asked.step() is None
    loop.mode, loop.rests = Mode.IDLE, False
    asked.take_back()
    loop.says[ANSWERED] = str(STAMP + 1)
    assert asked.step().message == 'taken back; at rest'
    learns = Identifying(Loop(Mode.IDLE), [0.3], 0.0, lambda: ([], []), lambda _: None)
    learns._loop.rests = False
    assert learns.step() is None
    learns.take_back()
    assert learns.step().message.startswith('taken back')


@pytest.mark.parametrize('mode', [Mode.RELEASING, Mode.ENDED])
def test_what_is_taken_back_as_the_run_ends_waits_for_no_planner(mode):
    loop = Loop(Mode.IDENTIFIED)
    asked, _ = going(loop)
    taken(loop, asked)
    asked.take_back()
    loop.mode, loop.rests = mode, True
    assert asked.step().message == 'taken back; at rest'


@pytest.mark.parametrize('when', ['on the way', 'while it brakes'])
def test_who_cancels_does_not_stop_an_arm_on_its_way_to_a_goal_of_somebody_else(when):
    loop = Loop(Mode.IDENTIFIED)
    asked, told = going(loop)
    taken(loop, asked)
    if when == 'while it brakes':
        asked.take_back()
        assert asked.step() is None
        loop.says |= {ANSWERED: str(STAMP + 1), TAKEN: ''}
        assert asked.step() is None
    told.clear()
    loop.asked.clear()
    other = str(STAMP + 7)
    loop.says |= {ANSWERED: other, TAKEN: other}
    loop.mode = Mode.TASK
    asked.take_back()
    for _ in range(MANY):
        assert asked.step() is None
    loop.mode, loop.rests = Mode.IDENTIFIED, True
    said = f'taken back; another goal, of stamp {other} ns, took its place; at rest'
    assert asked.step().message == said
    assert (told, loop.asked) == ([], [])


def test_a_goal_that_the_planner_has_heard_is_not_told_again():
    """Told again, it would come after one that somebody asked for meanwhile."""
    loop = Loop(Mode.HOLDING)
    asked, told = going(loop)
    assert asked.step() is None
    loop.says[WAITING] = f'{STAMP} {STAMP + 7}'
    for _ in range(20):
        assert asked.step() is None
    assert told == [STAMP]
    loop.says |= {WAITING: str(STAMP + 7), ANSWERED: str(STAMP), TAKEN: str(STAMP)}
    assert asked.step() is None


@pytest.mark.parametrize('when', ['taken', 'heard'])
def test_a_goal_that_was_there_when_somebody_asked_for_rest_begins_nothing(when):
    """It is looked at for seconds, or a node is inactive, so that nothing has begun yet."""
    loop = Supervised(Mode.HOLDING)
    if when == 'taken':
        loop.takes(STAMP)
    else:
        loop.says[WAITING] = f'{STAMP - 1} {STAMP}'
    loop.task.begin_nothing()
    assert loop.begins() == []
    loop.says[WAITING] = ''
    loop.takes(STAMP)
    assert loop.begins() == []
    assert not loop.task.refusal(Signal.DO_TASK)  # whoever starts it means it
    loop.takes(STAMP + 7)
    assert loop.begins()[0] is Signal.EXCITE


def test_a_goal_heard_in_a_fault_begins_nothing_and_one_heard_in_a_task_does():
    for mode, begins in ((Mode.FAULT, False), (Mode.TASK, True)):
        loop = Supervised(mode)
        loop.says[WAITING] = str(STAMP)
        assert loop.task.signal(mode) is None
        assert loop.task.signal(Mode.HOLDING) is None
        loop.says[WAITING] = ''
        loop.takes(STAMP)
        assert (loop.task.signal(Mode.HOLDING) is Signal.EXCITE) == begins


OTHER = str(STAMP + 7)


@pytest.mark.parametrize('mode', [Mode.IDENTIFIED, Mode.TASK])
def test_a_goal_whose_answer_another_one_has_followed_takes_nothing_away(mode):
    """Both answers came between two looks, and the other goal may have begun by then."""
    loop = Loop(Mode.IDENTIFIED)
    asked, told = going(loop)
    assert asked.step() is None
    loop.says |= {LATELY: f'{STAMP} {OTHER}', ANSWERED: OTHER, TAKEN: OTHER}
    loop.mode = mode
    outcome = asked.step()
    assert outcome.message == f'another goal, of stamp {OTHER} ns, took its place'
    assert (told, loop.asked) == ([STAMP], [])


def test_a_withdrawal_that_waits_is_not_told_again_behind_goals_of_others():
    loop = Loop(Mode.IDENTIFIED)
    asked, told = going(loop)
    taken(loop, asked)
    asked.take_back()
    assert asked.step() is None
    loop.says[WAITING] = f'{STAMP + 1} {OTHER}'
    for _ in range(9):
        assert asked.step() is None
    assert told == [STAMP, -STAMP - 1]
    loop.says |= {WAITING: '', LATELY: f'{STAMP} {STAMP + 1} {OTHER}', ANSWERED: OTHER}
    loop.says[TAKEN] = OTHER
    loop.mode, loop.rests = Mode.HOLDING, True
    assert 'took its place; at rest' in asked.step().message
    assert told == [STAMP, -STAMP - 1]


def test_an_arm_whose_planner_has_died_on_its_way_elsewhere_is_braked():
    loop = Loop(Mode.IDENTIFIED)
    asked, _ = going(loop)
    taken(loop, asked)
    loop.says |= {ANSWERED: OTHER, TAKEN: OTHER}
    loop.silent = ('planner',)
    asked.take_back()
    assert asked.step() is None
    assert loop.asked == [Signal.BRAKE]
    loop.mode, loop.rests = Mode.HOLDING, True
    assert ended(asked).message == 'taken back; at rest'


def test_a_goal_that_waits_while_the_task_of_another_one_ends_begins_afterwards():
    loop = Supervised(Mode.TASK)
    loop.says[WAITING] = str(STAMP)
    for mode in (Mode.TASK, Mode.BRAKING, Mode.HOLDING):
        assert loop.task.signal(mode) is None
    loop.says[WAITING] = ''
    loop.takes(STAMP)
    assert loop.task.signal(Mode.HOLDING) is Signal.EXCITE
