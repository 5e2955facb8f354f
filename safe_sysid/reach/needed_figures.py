"""Which stated figure would let a late certificate hold, all others as they are: for refusals.

Nothing here is a bound. A figure is changed by factors, and a certificate is tried for each; the
number that is said is one with which it held.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.reach.problem import Problem
from safe_sysid.sets.interval import Interval
from safe_sysid.track.seen_law import Sampling

LEAST, MOST = 2.0**-10, 2.0**6  # factors that are tried
FINE, COARSE = 4, 1  # steps that a halving is made of

Holds = Callable[[Problem], bool]


class Figure(NamedTuple):
    """A figure of a problem, and the same problem with a multiple of it."""

    name: str
    unit: str
    value: Callable[[Problem], float]
    times: Callable[[Problem, float], Problem]

    def said(self, problem: Problem, factor: float) -> str:
        """Return the name and the figure."""
        return f'{self.name} {factor * self.value(problem):.2g} {self.unit}'


def largest_factor(holds: Callable[[float], bool], most: float = 1.0, steps: int = FINE) -> float:
    """Largest factor from LEAST to `most` that was found to do; 0 where LEAST does not."""
    if holds(most):
        return most
    if not holds(LEAST):
        return 0.0
    good, bad = 0, round(steps * np.log2(most / LEAST))  # powers above LEAST
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(LEAST * 2.0 ** (middle / steps)) else (good, middle)
    return float(LEAST * 2.0 ** (good / steps))


def needed_sentence(problem: Problem, holds: Holds, has_time: Callable[[], bool]) -> str:
    """Say with which figure alone it would hold; empty where none was found in time."""
    found = []
    for figure in FIGURES:
        if not figure.value(problem) > 0.0:
            continue
        does = partial(_does, problem, holds, has_time, figure)
        factor = largest_factor(does, 0.5, COARSE)
        if factor > 0.0:
            found.append(figure.said(problem, factor))
    if not found:
        return ''
    return f'all else as stated, each of these alone would do: {"; ".join(found)}'


def _does(
    problem: Problem, holds: Holds, has_time: Callable[[], bool], figure: Figure, factor: float
) -> bool:
    return has_time() and holds(figure.times(problem, factor))


def _sampling(problem: Problem) -> Sampling:
    assert problem.sampling is not None
    return problem.sampling


def _with_step(problem: Problem, factor: float) -> Problem:
    s = _sampling(problem)
    return replace(problem, sampling=replace(s, step=factor * s.step))


def _with_delay(problem: Problem, factor: float) -> Problem:
    s = _sampling(problem)
    delays = {name: factor * getattr(s, name) for name in ('delay', 'jitter', 'bias')}
    return replace(problem, sampling=replace(s, **delays))


def _with_times(problem: Problem, factor: float) -> Problem:
    s = _sampling(problem)
    later = _with_delay(problem, factor)
    window = max(s.window, 2.0 * factor * s.period)
    sampling = replace(
        _sampling(later), period=factor * s.period, slow=factor * s.slow, window=window
    )
    return replace(problem, sampling=sampling)


def _with_widths(problem: Problem, factor: float) -> Problem:
    known, bounds = problem.bounds, problem.bounds.bounds
    narrow = Interval(
        known.theta - factor * (known.theta - bounds.lower),
        known.theta + factor * (bounds.upper - known.theta),
    )
    return replace(problem, bounds=ParameterEstimate(known.layout, known.theta, narrow))


def _with_viscous(problem: Problem, factor: float) -> Problem:
    known, place = problem.bounds, problem.model.layout.joint_entries('Fv')
    theta, bounds = known.theta.copy(), known.bounds
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    for values in (theta, lower, upper):
        values[place] = factor * values[place]
    return replace(
        problem,
        model=problem.model.with_parameters(theta),
        bounds=ParameterEstimate(known.layout, theta, Interval(lower, upper)),
    )


def _viscous(problem: Problem) -> float:
    Fv = problem.bounds.theta[problem.model.layout.joint_entries('Fv')]
    return float(Fv.max())


def _width(problem: Problem) -> float:
    """Largest share to which the mass of a body is known, in percent."""
    known, n = problem.bounds, problem.model.n
    mass, radius = known.theta[: 10 * n : 10], known.bounds.radius[: 10 * n : 10]
    return float(100.0 * np.max(radius / np.maximum(np.abs(mass), 1e-12)))


FIGURES = (
    Figure('encoder step', 'rad', lambda p: float(np.max(_sampling(p).step)), _with_step),
    Figure('delay', 's', lambda p: _sampling(p).delay, _with_delay),
    Figure('period and delay, together', 's', lambda p: _sampling(p).age, _with_times),
    Figure('masses and all else known to', '%', _width, _with_widths),
    Figure('viscous friction', 'N m s/rad', _viscous, _with_viscous),
)
