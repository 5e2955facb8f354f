"""Places are asked about until the planner answers; nothing is begun meanwhile."""

import pytest
from ros.actions.test_handling import Loop

from safe_sysid.ros.actions.asked import PATIENCE, Outcome, Why
from safe_sysid.ros.actions.checking import Checking
from safe_sysid.ros.actions.handling import APPROACH, CHECK, Handling
from safe_sysid.ros.messages.request_topics import CHECK_REFUSED, CHECKED
from safe_sysid.track.supervisor import Mode

STAMP = 7


class Planned(Loop):
    """One whose planner answers what it is told to."""

    def __init__(self, mode=Mode.IDENTIFIED):
        super().__init__(mode)
        self.figures = {}

    def figure(self, key, node='planner'):
        assert node == 'planner'
        return self.figures.get(key, '')

    def answers(self, stamp, reason=''):
        self.figures = {CHECKED: str(stamp), CHECK_REFUSED: f'{stamp} {reason}' if reason else ''}


def checking(loop):
    told = []
    return Checking(loop, STAMP, told.append), told


def test_it_asks_until_the_planner_answers_this_question():
    loop = Planned()
    asked, told = checking(loop)
    loop.answers(STAMP - 1, 'of another goal')
    assert asked.step() is None
    assert asked.step() is None
    assert told == [STAMP, STAMP]
    loop.answers(STAMP)
    assert asked.step().success
    assert loop.asked == []


def test_a_refusal_is_the_end_of_handling_and_nothing_was_begun():
    loop = Planned()
    loop.answers(STAMP, 'place: cup is 12 mm inside shelf')
    begun = []
    handling = Handling([(CHECK, lambda: checking(loop)[0]), (APPROACH, lambda: begun.append(1))])
    outcome = handling.step()
    said = 'check: place: cup is 12 mm inside shelf; nothing was picked'
    assert outcome == Outcome(False, said, Why.NOT_BEGUN)
    assert begun == []


@pytest.mark.parametrize('mode', [Mode.TASK, Mode.EXCITING, Mode.FAULT, Mode.IDLE])
def test_a_planner_that_leads_the_arm_is_not_asked(mode):
    loop = Planned(mode)
    asked, told = checking(loop)
    outcome = asked.step()
    assert (outcome.success, told) == (False, [])
    assert f'has to wait for mode identified or holding or changing; {mode.value}' in (
        outcome.message
    )


def test_a_planner_that_does_not_answer_is_not_waited_for_without_end():
    asked, _ = checking(Planned())
    outcomes = [asked.step() for _ in range(PATIENCE + 1)]
    assert outcomes[:-1] == [None] * PATIENCE
    assert outcomes[-1].message == 'the planner does not answer; nothing was begun'


def test_what_is_taken_back_asks_no_more():
    asked, told = checking(Planned())
    asked.take_back()
    assert not asked.step().success
    assert told == []
