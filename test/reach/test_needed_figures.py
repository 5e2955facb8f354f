"""A late refusal names figures each of which alone would do, and with them it does."""

from dataclasses import replace
import re

import numpy as np
import pytest

from safe_sysid.bench.experiments.late_arm import START, gains_of, known, late_kinova, sampling_of
from safe_sysid.bench.experiments.planning import at_rest
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.plan.search.best_plan import Budget, SearchSettings, stand_still
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.needed_figures import FIGURES, LEAST, largest_factor, needed_sentence
from safe_sysid.reach.problem import Problem


@pytest.mark.parametrize('limit', [0.7, 0.03, 0.9, LEAST])
def test_the_largest_factor_is_the_last_step_that_does(limit):
    tried = []

    def holds(factor):
        tried.append(factor)
        return factor <= limit

    found = largest_factor(holds)
    assert found <= limit < found * 2.0**0.25 * (1.0 + 1e-9)
    assert len(tried) < 10  # a halving each


def test_a_figure_that_is_enough_or_never_is():
    assert largest_factor(lambda _: True) == 1.0
    assert largest_factor(lambda _: False) == 0.0


def coarse() -> Problem:
    """Return plans of a Kinova whose encoders are a little too coarse for its V_M."""
    model, rest = late_kinova(), np.zeros(7)
    problem = at_rest(model, known(model), START, NO_OBSTACLES)
    sampling = sampling_of(model)
    return replace(
        problem,
        gains=gains_of(model),
        sampling=replace(sampling, step=4.0 * sampling.step),
        horizon=Horizon(problem.horizon.curve, rest, rest, 16),
    )


def still(problem):
    return stand_still(problem, Budget.of(600.0), SearchSettings())


@pytest.mark.slow
def test_with_the_figure_that_a_refusal_names_the_arm_may_stand():
    problem = coarse()
    refused = still(problem)
    assert refused.certificate is None
    said = str(refused)
    assert 'too small for what the law sees' in said
    assert 'each of these alone would do' in said
    step = float(re.search(r'encoder step (\S+) rad', said)[1])
    figure = FIGURES[0]
    better = figure.times(problem, 0.99 * step / figure.value(problem))
    assert still(better).certificate is not None


def test_who_has_no_time_says_nothing_of_figures():
    assert needed_sentence(coarse(), lambda _: True, lambda: False) == ''
    assert 'encoder step' in needed_sentence(coarse(), lambda _: True, lambda: True)
