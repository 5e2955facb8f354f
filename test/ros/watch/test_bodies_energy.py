"""V of every body as it is told: nothing above V_M gets lost between two messages."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from safe_sysid.ros.watch.bodies_energy import (
    BODIES,
    LASTS,
    SHARE,
    BodiesEnergy,
    bodies_of,
    told_energy,
)
from safe_sysid.sets.interval import Interval

MILLISECOND = 1_000_000
BOUNDS = 'bounds 1'


class Nodes:
    """What a controller tells."""

    def __init__(self, figures):
        self.figures = {key: str(value) for key, value in figures.items()}

    def figure(self, name, key):
        return self.figures.get(key) if name == 'controller' else None


def told(watch, bodies=BOUNDS):
    return told_energy(Nodes(watch.figures()), bodies)


def test_nothing_is_known_before_the_first_sample_and_of_other_bodies():
    watch = BodiesEnergy()
    assert told(watch) == math.inf
    watch.begin(BOUNDS)
    assert told(watch) == math.inf
    watch.step(0, 0.25)
    assert told(watch) == 0.25
    assert told(watch, 'others') == math.inf
    assert told(watch, '') == math.inf
    assert told_energy(Nodes({}), BOUNDS) == math.inf
    watch.begin('')  # bounds of nobody
    watch.step(1, 0.25)
    assert told(watch, '') == math.inf


def test_a_plan_for_others_begins_anew():
    watch = BodiesEnergy()
    watch.begin('others')
    watch.step(0, 5.0)
    watch.begin(BOUNDS)
    watch.step(1, 0.5)
    assert told(watch) == 0.5


@pytest.mark.parametrize('at', range(0, 1000, 23))
def test_a_peak_of_one_sample_is_told_of_for_as_long_as_two_messages_take(at):
    watch, known = BodiesEnergy(), 2 * LASTS // MILLISECOND
    watch.begin(BOUNDS)
    for k in range(at + known + 1):
        is_new = watch.step(k * MILLISECOND, 1.5 if k == at else 0.5)
        assert is_new == (k == at)
        if at <= k < at + LASTS // MILLISECOND:
            assert told(watch) == 1.5
    assert told(watch) == 0.5


def test_what_is_told_is_rounded_up_and_what_is_no_number_is_beyond():
    watch = BodiesEnergy()
    watch.begin(BOUNDS)
    watch.step(0, 1.0 + 1e-12)
    assert told(watch) > 1.0
    watch.begin(BOUNDS)
    watch.step(0, 1.0)
    assert told(watch) == 1.0
    watch.step(1, math.nan)
    assert told(watch) == math.inf


def test_a_clock_that_goes_back_forgets_no_peak():
    watch = BodiesEnergy()
    watch.begin(BOUNDS)
    watch.step(10**12, 1.5)
    watch.step(0, 0.5)
    assert told(watch) == 1.5


def test_figures_are_those_that_the_supervisor_reads():
    watch = BodiesEnergy()
    watch.begin(BOUNDS)
    watch.step(0, 0.01)
    assert watch.figures() == {SHARE: '0.0100', BODIES: BOUNDS}


@pytest.mark.parametrize(
    ('known', 'bodies'),
    [((0.0, 2.0), BOUNDS), ((0.0, 1.9), ''), ((-1.0, 1.0), BOUNDS), ((-1.0, 3.0), BOUNDS)],
)
def test_a_law_that_goes_by_less_than_its_plan_tells_of_no_bodies(known, bodies):
    """It takes what is known where that is all within what the plan was certified for."""
    plan = SimpleNamespace(theta_bounds=Interval(np.array([0.0]), np.array([2.0])))
    plan.certificate, plan.stands_still = BOUNDS, False
    low, high = known
    estimate = SimpleNamespace(bounds=Interval(np.array([low]), np.array([high])))
    assert bodies_of(plan, estimate) == bodies
    plan.stands_still = True  # then the law counts on all that the plan is for
    assert bodies_of(plan, estimate) == BOUNDS
    plan.theta_bounds = None
    assert bodies_of(plan, estimate) == ''
