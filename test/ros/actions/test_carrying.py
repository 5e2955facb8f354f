"""What touches something just before its place is let go there; elsewhere that is a fault."""

import pytest
from ros.actions.test_handling import Loop

from safe_sysid.ros.actions.asked import PATIENCE, Outcome
from safe_sysid.ros.actions.carrying import Carrying
from safe_sysid.ros.actions.handling import CARRY, Handling
from safe_sysid.ros.watch.payload_events import MAY_BE_TOUCH
from safe_sysid.track.supervisor import Mode

NO_WAY = Outcome(False, 'ended before it was reached')


class Way:
    """What `Going` says of it."""

    def __init__(self, cell):
        self._cell = cell

    @property
    def distance(self):
        return self._cell.away

    def step(self):
        return NO_WAY if self._cell.rests and self._cell.mode is not Mode.TASK else None

    def take_back(self):
        self._cell.is_taken_back = True

    def call_off(self):
        self._cell.is_called_off = True


class Cell(Loop):
    """One on its way to the place, so far from it."""

    def __init__(self, away=0.02, within=0.05):
        super().__init__(Mode.TASK)
        self.away, self.told, self.bounds_for_change = away, '', ''
        self.rests, self.is_taken_back, self.is_called_off = False, False, False
        self.asked = Carrying(self, Way(self), within)

    def figure(self, key, node='planner'):
        assert (key, node) == (MAY_BE_TOUCH, 'identifier')
        return self.told

    def touches(self, told='True'):
        """It is noticed, and the arm brakes."""
        self.mode, self.told = Mode.FAULT, told
        return self

    def goes_on(self):
        """The loop has seen it at rest, and the identifier has taken that."""
        self.mode, self.told, self.bounds_for_change = Mode.HOLDING, 'False', 'bounds 1'


def test_a_touch_near_the_place_is_the_end_of_the_way_and_is_said():
    cell = Cell(away=0.08).touches()
    assert cell.asked.step() is None
    assert not cell.asked.expects_touch
    cell.away, cell.rests = 0.02, True  # where it counts is where the arm comes to rest
    assert cell.asked.expects_touch
    assert cell.asked.step() is None
    cell.goes_on()
    cell.is_change_pending = True
    assert cell.asked.step() is None
    cell.is_change_pending = False
    outcome = cell.asked.step()
    said = 'something was touched, and the arm has stopped, 0.02 rad from the place'
    assert outcome == Outcome(True, said)
    assert cell.is_called_off  # nothing leads on to the place once the hand is empty


@pytest.mark.parametrize(
    ('away', 'within', 'told'),
    [
        (0.08, 0.05, 'True'),
        (0.0, 0.0, 'True'),
        (float('nan'), 0.05, 'True'),
        (0.02, 0.05, 'False'),
    ],
)
def test_elsewhere_and_what_is_no_touch_is_a_fault_as_ever(away, within, told):
    cell = Cell(away, within).touches(told)
    assert cell.asked.step() is None
    cell.rests = True
    assert not (cell.asked.expects_touch and told == 'True')
    assert cell.asked.step() == NO_WAY


def test_a_loop_that_stays_in_the_fault_is_not_waited_for_without_end():
    cell = Cell().touches()
    cell.rests = True
    outcomes = [cell.asked.step() for _ in range(PATIENCE + 1)]
    assert outcomes == [None] * PATIENCE + [NO_WAY]


def test_a_place_that_somebody_has_changed_meanwhile_is_not_this_one():
    cell = Cell().touches()
    cell.rests = True
    assert cell.asked.step() is None
    cell.goes_on()
    cell.away = float('nan')
    assert cell.asked.step() == NO_WAY


def test_who_leads_the_loop_out_of_the_fault_has_not_said_that_it_stands():
    cell = Cell().touches()
    cell.rests = True
    assert cell.asked.step() is None
    cell.mode = Mode.HOLDING
    assert cell.asked.step() == NO_WAY


def test_who_takes_it_back_lets_nothing_go():
    cell = Cell()
    cell.asked.take_back()
    assert cell.is_taken_back
    assert not cell.asked.expects_touch
    cell.touches().rests = True
    assert cell.asked.step() == NO_WAY


def test_handling_expects_a_touch_only_while_it_carries():
    cell = Cell()
    handling = Handling([(CARRY, lambda: cell.asked)])
    assert not handling.expects_touch
    handling.step()
    assert handling.expects_touch
    cell.away = 0.08
    assert not handling.expects_touch
