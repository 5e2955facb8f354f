"""A planner that is said to have heard of wider bounds has them, whatever was lost on the way."""

from types import SimpleNamespace

import numpy as np
import pytest

from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.message import name_of
from safe_sysid.ros.messages.codec import SECOND
from safe_sysid.ros.watch.told_bounds import (
    HEARD,
    LATE,
    MOST,
    TOLD,
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

    def __init__(self, rng=None):
        self.told, self.heard = ToldBounds(), HeardBounds(PRIOR)
        self.known, self.stamp = PRIOR, 100 * SECOND
        self.rng = rng
        self.tell(is_lost=False)

    def tell(self, *, is_lost):
        is_new = self.told.note(self.known)
        if not is_lost:
            self.heard.hear(self.known, self.stamp)
        return is_new

    def improve(self, *, is_lost):
        bounds = self.known.bounds
        self.stamp += 1000
        lower, upper = bounds.lower[0], bounds.upper[0]
        share = 0.125 if self.rng is None else self.rng.uniform(0.05, 0.2)
        self.known = estimate(lower + (upper - lower) * share, upper)
        self.tell(is_lost=is_lost)

    def widen(self, *, is_lost):
        """A new payload comes between two samples."""
        self.known = PRIOR
        self.tell(is_lost=is_lost)

    def start_again(self, *, is_lost):
        """It tells what it begins with before it has any sample."""
        stamp, self.stamp = self.stamp, 0
        self.told, self.known = ToldBounds(), PRIOR
        self.tell(is_lost=is_lost)
        self.stamp = stamp + 1000

    def start_planner_again(self, *, is_lost):
        self.heard = HeardBounds(PRIOR)
        if not is_lost:  # what was told last is kept for it
            self.heard.hear(self.known, self.stamp)

    def set_clock_back(self, *, is_lost):
        self.stamp -= 3 * SECOND
        self.tell(is_lost=is_lost)

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


def what_happens(rng):
    """Pairs of whether it was heard and whether that is said; and after it was told again."""
    events = (Loop.improve, Loop.widen, Loop.start_again, Loop.set_clock_back)
    events = (*events, Loop.start_planner_again)
    found, again = set(), set()
    for _ in range(300):
        loop = Loop(rng)
        for event in rng.choice(5, size=12, p=[0.6, 0.1, 0.1, 0.1, 0.1]):
            events[event](loop, is_lost=bool(rng.random() < 0.6))
            found.add((loop.is_heard, loop.is_said_to_be_heard))
        loop.tell(is_lost=False)  # as it does each second
        again.add(loop.is_said_to_be_heard)
    return found, again


def test_bounds_of_which_the_planner_is_said_to_have_heard_are_within_its_own(rng):
    found, again = what_happens(rng)
    assert (False, True) not in found
    assert {(True, True), (False, False)} <= found
    assert again == {True}


def all_names(self, estimate):
    """Mutant: names of before bounds widened are kept."""
    self._names.append(name_of(estimate))


def stamp_alone(self, estimate, stamp):
    """Mutant: only what is newer by its stamp is heard."""
    if stamp > self._stamp:
        self.estimate, self._stamp, self._name = estimate, stamp, name_of(estimate)


def says_the_prior(_):
    """Mutant: what it has is not what it says."""
    return {HEARD: name_of(PRIOR)}


@pytest.mark.parametrize(
    ('kind', 'name', 'mutant'),
    [
        (ToldBounds, 'note', all_names),
        (HeardBounds, 'hear', stamp_alone),
        (HeardBounds, 'figures', says_the_prior),
    ],
)
def test_each_part_of_it_is_needed(monkeypatch, rng, kind, name, mutant):
    monkeypatch.setattr(kind, name, mutant)
    found, again = what_happens(rng)
    assert (False, True) in found or again != {True}


@pytest.mark.parametrize('widens', [Loop.widen, Loop.start_again])
def test_a_lost_widening_is_said(widens, rng):
    loop = Loop(rng)
    loop.improve(is_lost=False)
    assert loop.is_said_to_be_heard
    widens(loop, is_lost=True)
    assert not loop.is_said_to_be_heard
    loop.improve(is_lost=True)
    assert not loop.is_said_to_be_heard
    loop.improve(is_lost=False)
    assert loop.is_said_to_be_heard


def test_a_planner_may_be_some_estimates_behind_of_one_payload():
    loop = Loop()
    for _ in range(MOST - 1):
        loop.improve(is_lost=True)
        assert loop.is_said_to_be_heard
    loop.improve(is_lost=True)
    assert not loop.is_said_to_be_heard
    loop.tell(is_lost=False)
    assert loop.is_said_to_be_heard


def test_an_estimate_is_new_once():
    told, narrow = ToldBounds(), estimate(1.0, 2.0)
    assert told.note(PRIOR)
    assert not told.note(PRIOR)
    assert not told.note(estimate(0.0, 16.0))  # the same numbers
    assert told.note(narrow)
    assert told.note(PRIOR)
    assert told.figures()[TOLD] == HeardBounds(PRIOR).figures()[HEARD]


def test_an_estimate_that_was_overtaken_is_not_heard():
    heard, narrow = HeardBounds(PRIOR), estimate(1.0, 2.0)
    assert heard.hear(narrow, 5 * SECOND)
    assert heard.hear(PRIOR, 5 * SECOND + 1)  # of the same sample, or a later one
    assert not heard.hear(narrow, 5 * SECOND)
    assert heard.estimate is PRIOR
    assert heard.hear(narrow, 5 * SECOND - LATE)  # of another clock
    assert heard.estimate is narrow


def test_an_identifier_that_says_nothing_of_its_bounds_keeps_nobody_waiting():
    said = {('planner', HEARD): 'what'}
    nodes = SimpleNamespace(figure=lambda node, key: said.get((node, key)))
    assert is_widening_heard(nodes)
    said[('identifier', TOLD)] = 'the prior'
    assert not is_widening_heard(nodes)
    said[('planner', HEARD)] = 'prior'
    assert is_widening_heard(nodes)
    del said[('planner', HEARD)]
    assert not is_widening_heard(nodes)
