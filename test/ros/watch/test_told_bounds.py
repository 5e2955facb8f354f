"""A planner that is said to have heard of wider bounds has them, whatever was lost on the way."""

from types import SimpleNamespace

import numpy as np
import pytest

from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.messages.codec import SECOND
from safe_sysid.ros.watch.told_bounds import (
    HEARD,
    HEARD_OF,
    WIDENED_AT,
    WIDENED_TO,
    HeardBounds,
    ToldBounds,
    is_widening_heard,
)
from safe_sysid.sets.interval import Interval

LAYOUT = RobotModel.named('two_link').layout


def estimate(lower, upper):
    middle = np.full(LAYOUT.size, (lower + upper) / 2)
    bounds = Interval(np.full(LAYOUT.size, lower), np.full(LAYOUT.size, upper))
    return ParameterEstimate(LAYOUT, middle, bounds)


PRIOR = estimate(0.0, 16.0)


class Loop:
    """An identifier, a planner, and a wire between them that may lose what is told."""

    def __init__(self):
        self.told, self.heard = ToldBounds(), HeardBounds(PRIOR)
        self.known, self.stamp = PRIOR, 100 * SECOND
        self.first_sample(is_lost=False)

    def first_sample(self, *, is_lost):
        self.told.begin_anew()
        self.tell(is_lost=is_lost)

    def tell(self, *, is_lost):
        self.told.note(self.known, self.stamp)
        if not is_lost:
            self.heard.hear(self.known, self.stamp)

    def improve(self, *, is_lost):
        bounds = self.known.bounds
        self.stamp += 1000
        lower, upper = bounds.lower[0], bounds.upper[0]
        self.known = estimate(lower + (upper - lower) / 8, upper)
        self.tell(is_lost=is_lost)

    def widen(self, *, is_lost):
        """A new payload comes between two samples."""
        self.known = PRIOR
        self.tell(is_lost=is_lost)

    def start_again(self, *, is_lost):
        self.told, self.known = ToldBounds(), PRIOR
        self.stamp += 1000
        self.first_sample(is_lost=is_lost)

    def set_clock_back(self, *, is_lost):
        self.stamp -= 3 * SECOND // 4
        self.heard.begin_anew()
        self.first_sample(is_lost=is_lost)

    @property
    def is_said_to_be_heard(self):
        figures = {
            'identifier': {key: str(said) for key, said in self.told.figures().items()},
            'planner': {key: str(said) for key, said in self.heard.figures().items()},
        }
        return is_widening_heard(SimpleNamespace(figure=lambda node, key: figures[node].get(key)))

    @property
    def is_heard(self):
        return self.heard.estimate.bounds.contains(self.known.bounds)


def test_bounds_of_which_the_planner_is_said_to_have_heard_are_within_its_own(rng):
    events = (Loop.improve, Loop.widen, Loop.start_again, Loop.set_clock_back)
    found = set()
    for _ in range(300):
        loop = Loop()
        for event in rng.choice(4, size=12, p=[0.7, 0.1, 0.1, 0.1]):
            events[event](loop, is_lost=bool(rng.random() < 0.6))
            assert loop.is_heard or not loop.is_said_to_be_heard
            found.add((loop.is_heard, loop.is_said_to_be_heard))
        loop.tell(is_lost=False)  # again, as it does each second
        assert loop.is_said_to_be_heard
    assert {(True, True), (False, False)} <= found


@pytest.mark.parametrize('widens', [Loop.widen, Loop.start_again])
def test_a_lost_widening_is_said(widens):
    loop = Loop()
    loop.improve(is_lost=False)
    assert loop.is_said_to_be_heard
    widens(loop, is_lost=True)
    assert not loop.is_said_to_be_heard
    loop.improve(is_lost=True)
    assert not loop.is_said_to_be_heard
    loop.improve(is_lost=False)
    assert loop.is_said_to_be_heard


def test_an_identifier_that_says_nothing_of_its_bounds_keeps_nobody_waiting():
    said = {('planner', HEARD): 'what it has', ('planner', HEARD_OF): '7'}
    nodes = SimpleNamespace(figure=lambda node, key: said.get((node, key)))
    assert is_widening_heard(nodes)
    said |= {('identifier', WIDENED_TO): 'the prior', ('identifier', WIDENED_AT): '7'}
    assert not is_widening_heard(nodes)
    said[('planner', HEARD_OF)] = '8'
    assert is_widening_heard(nodes)
