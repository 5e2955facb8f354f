"""Laws for late readings that lack what the proof wants, and arms of which a figure is not known.

A law may lack a term (`Change`). Or certificate and controller are made for an arm that is better
than the one that they meet (`Describe`): one of its figures counts as 0 there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from safe_sysid.model.dry_friction import DryFriction
from safe_sysid.reach.problem import Problem
from safe_sysid.track.error_observer import Together
from safe_sysid.track.invariance import LawBounds
from safe_sysid.track.seen_law import LONGER, Sampling, SeenLaw
from safe_sysid.trajectory.plan import Plan

Change = Callable[[SeenLaw], SeenLaw]
Describe = Callable[[Problem], Problem]
NOTHING = 1e-9  # [J^1/2 / s] of omega, above 0


def whole(law: SeenLaw) -> SeenLaw:
    """Return the law as it is."""
    return law


def without_room(law: SeenLaw) -> SeenLaw:
    """Return a law that takes r_hat for r, and what it sees for what is."""
    bounds = LawBounds(law.bounds.V_M, law.bounds.alpha, NOTHING)
    return replace(law, bounds=bounds, room=np.zeros_like(law.room))


def without_ageing(law: SeenLaw) -> SeenLaw:
    """Return a law that allows for no change of what its torque is made of."""
    return replace(law, room=np.zeros_like(law.room))


def without_errors_of_r(law: SeenLaw) -> SeenLaw:
    """Return a law that takes r_hat for r, and nothing else."""
    bounds = LawBounds(law.bounds.V_M, law.bounds.alpha, NOTHING, ball=law.bounds.ball)
    return replace(law, bounds=bounds)


def without_pull(law: SeenLaw) -> SeenLaw:
    """Return a law that does not allow for errors of de/dt in its desired acceleration."""
    return replace(law, bounds=law.bounds._replace(ball=0.0))


def differentiated(law: SeenLaw) -> SeenLaw:
    """Return a law that does so, with r from the last two readings."""
    drift = 1e3 * law.observer.drift + 1e3
    observer = law.observer._replace(window=law.sampling.apart, drift=drift, together=Together())
    wide = np.full_like(law.room, np.inf)
    return replace(without_room(law), observer=observer, half_width=wide)


def changed(plan: Plan, change: Change) -> Plan:
    """Return a plan with changed laws."""
    return replace(plan, laws=tuple(change(law) for law in plan.laws if isinstance(law, SeenLaw)))


def as_described(problem: Problem) -> Problem:
    """Return an arm of which everything is known."""
    return problem


def without_jitter(problem: Problem) -> Problem:
    """Return an arm whose torques all come after the same delay."""
    return replace(problem, sampling=replace(_sampling(problem), jitter=0.0))


def without_delay(problem: Problem) -> Problem:
    """Return an arm whose torques act as soon as it is read."""
    sampling = replace(_sampling(problem), delay=0.0, jitter=0.0, bias=0.0)
    return replace(problem, sampling=sampling)


def without_constant_of_delays(problem: Problem) -> Problem:
    """Return an arm whose torques come after the largest delay, but for the jitter."""
    return replace(problem, sampling=replace(_sampling(problem), bias=0.0))


def without_slow_drives(problem: Problem) -> Problem:
    """Return an arm whose drives follow at once."""
    return replace(problem, sampling=replace(_sampling(problem), slow=0.0, older=0.0))


def without_stamp_errors(problem: Problem) -> Problem:
    """Return an arm whose stamps are right."""
    return replace(problem, sampling=replace(_sampling(problem), stamp=0.0))


def without_zero_errors(problem: Problem) -> Problem:
    """Return an arm whose joints are where they say."""
    return replace(problem, sampling=replace(_sampling(problem), zero=0.0))


def without_tilt(problem: Problem) -> Problem:
    """Return an arm that stands upright."""
    return replace(problem, sampling=replace(_sampling(problem), tilt=0.0))


def without_longer_periods(problem: Problem) -> Problem:
    """Return an arm whose longest periods are those that are said; all are shorter by LONGER."""
    sampling = _sampling(problem)
    return replace(problem, sampling=replace(sampling, period=sampling.period / LONGER))


def without_errors_of_drives(problem: Problem) -> Problem:
    """Return an arm that does what it is told, under load, too."""
    return replace(problem, gains=replace(problem.gains, torque_ratio=0.0, torque_error=0.0))


def without_friction_at_rest(problem: Problem) -> Problem:
    """Return an arm that rubs no more at rest than in motion."""
    return replace(problem, model=replace(problem.model, friction=DryFriction()))


class Lack(NamedTuple):
    """What a law lacks, or is not told."""

    change: Change = whole
    describe: Describe = as_described


NOTHING_LACKS = Lack()
TERMS = {  # of the law
    'without errors of r': Lack(without_errors_of_r),
    'without ageing': Lack(without_ageing),
    'without pull': Lack(without_pull),
    'r_hat for r': Lack(without_room),
    'from two readings': Lack(differentiated),
}
FIGURES = {  # of the arm
    'without delay': Lack(describe=without_delay),
    'without constant of delays': Lack(describe=without_constant_of_delays),
    'without jitter': Lack(describe=without_jitter),
    'without stamp errors': Lack(describe=without_stamp_errors),
    'without zero errors': Lack(describe=without_zero_errors),
    'without tilt of gravity': Lack(describe=without_tilt),
    'without longer periods': Lack(describe=without_longer_periods),
    'without errors of drives': Lack(describe=without_errors_of_drives),
    'without slow drives': Lack(describe=without_slow_drives),
    'without friction at rest': Lack(describe=without_friction_at_rest),
}
LACKS = TERMS | FIGURES


def _sampling(problem: Problem) -> Sampling:
    assert problem.sampling is not None
    return problem.sampling
