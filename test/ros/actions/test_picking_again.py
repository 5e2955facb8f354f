"""What was placed is lent for the way straight in alone, and given back however that ends."""

from types import SimpleNamespace

import numpy as np
import pytest
from ros.actions.test_handling import Loop

from safe_sysid.plan.picked_again import PickedAgain
from safe_sysid.ros.actions.asked import PATIENCE, Outcome, Why
from safe_sysid.ros.actions.picking_again import PickingAgain, Ways
from safe_sysid.ros.messages.request_topics import PLACED_AVOIDED

NAME = 'placed: object/7'
WAY = np.array([[0.5, 0.9], [0.45, 0.9], [0.4, 0.9]])


class Cell(Loop):
    """A planner that hears of the objects at once, and ways that end when they are told to."""

    def __init__(self):
        super().__init__()
        self.shown, self.did, self.ends, self.is_deaf = [NAME], [], None, False
        self.heard = [NAME]
        ways = Ways(('one', 'two'), self.go, self.along)
        self.asked = PickingAgain(self, PickedAgain(NAME, WAY), ways, self)

    def figure(self, key, node='planner'):
        assert (key, node) == (PLACED_AVOIDED, 'planner')
        return ', '.join(self.heard if self.is_deaf else self.shown)

    def go(self, joints, pose):
        assert pose is None
        return self._going('go', list(joints.position))

    def along(self, path):
        assert list(path.joint_names) == ['one', 'two']
        assert not any(p.time_from_start.sec or p.time_from_start.nanosec for p in path.points)
        return self._going('along', [list(point.positions) for point in path.points])

    def _going(self, how, where):
        self.did.append((how, where, NAME in self.shown))

        def step():
            outcome, self.ends = self.ends, None
            return outcome

        def take_back():
            self.ends = Outcome(False, 'taken back; at rest')

        return SimpleNamespace(step=step, take_back=take_back, distance=0.1)

    def knows(self, name):
        return name in self.shown

    def lend(self, name):
        known = name in self.shown
        self.shown = []
        return known

    def give_back(self, name):
        self.shown = [name]

    def steps(self, most=5):
        for _ in range(most):
            outcome = self.asked.step()
            if outcome is not None:
                return outcome
        return None


def inside(cell):
    """The hand is on its way in."""
    assert cell.steps() is None
    cell.ends = Outcome(True, 'there')
    assert cell.steps(3) is None
    return cell


def test_it_is_an_obstacle_until_the_hand_is_above_it_and_once_it_is_there():
    cell = inside(Cell())
    assert cell.did == [('go', WAY[0].tolist(), True), ('along', WAY.tolist(), False)]
    assert cell.asked.distance == 0.1
    cell.ends = Outcome(True, 'at rest')
    outcome = cell.steps()
    assert outcome == Outcome(True, f'at rest; the hand is at "{NAME}", which the planner knows')
    assert cell.shown == [NAME]


def test_a_way_above_it_that_fails_lends_nothing():
    cell = Cell()
    cell.ends = Outcome(False, 'no way')
    assert cell.steps() == Outcome(False, 'no way')
    assert (cell.shown, len(cell.did)) == ([NAME], 1)


@pytest.mark.parametrize('is_taken_back', [True, False])
def test_it_is_given_back_however_the_way_in_ends(is_taken_back):
    cell = inside(Cell())
    if is_taken_back:
        cell.asked.take_back()
    else:
        cell.ends = Outcome(False, 'given up; at rest')
    outcome = cell.steps()
    assert not outcome.success
    assert cell.shown == [NAME]


def test_the_way_in_does_not_begin_before_the_planner_knows():
    cell = Cell()
    cell.is_deaf = True
    cell.ends = Outcome(True, 'there')
    assert cell.steps(4) is None
    assert len(cell.did) == 1
    outcome = cell.steps(2 * PATIENCE)
    assert not outcome.success
    assert 'the planner goes on avoiding it' in outcome.message
    assert cell.shown == [NAME]


def test_what_is_taken_back_between_both_ways_goes_nowhere():
    cell = Cell()
    cell.ends = Outcome(True, 'there')
    assert cell.asked.step() is None
    cell.asked.take_back()
    assert cell.steps() == Outcome(False, 'taken back; at rest')
    assert (cell.shown, len(cell.did)) == ([NAME], 1)


@pytest.mark.parametrize('is_above', [True, False])
def test_what_this_supervisor_does_not_know_is_not_gone_into(is_above):
    """Before anything moves, and where somebody has taken it away meanwhile."""
    cell = Cell()
    cell.is_deaf = True
    if is_above:
        assert cell.asked.step() is None
        cell.ends = Outcome(True, 'there')
        assert cell.asked.step() is None
    cell.shown = []
    outcome = cell.steps()
    assert f'{NAME} is none that this supervisor knows of' in outcome.message
    assert outcome.why is (Why.ENDED_EARLY if is_above else Why.NOT_BEGUN)
    assert (outcome.success, len(cell.did), cell.shown) == (False, 1, [])
    assert cell.did[0][0] == 'go'
