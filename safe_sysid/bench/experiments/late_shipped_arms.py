"""The arms of the package, read in steps and moved late: from which V_M they may stand and move.

What their files leave open is assumed here, and printed: better encoders, buses and armatures than
anybody publishes of them, so a refusal means that no arm of this kind gets a late certificate yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.calibrated_arms import CalibratedArm
from safe_sysid.bench.experiments.late_arm import LOOP
from safe_sysid.bench.experiments.planning import at_rest
from safe_sysid.errors import BoundError
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.signal_facts import SensingFacts
from safe_sysid.model.uncertainty import Uncertainty, Width
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.needed_figures import FIGURES, MOST, Figure, largest_factor
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.track.described_sampling import described_sampling
from safe_sysid.track.gains import Gains
from safe_sysid.track.seen_law import Sampling

SIGNALS = LOOP.assumed.signals  # of the Kinova
STEP, PERIOD, DELAY = 1e-6, 0.001, 0.0002  # [rad], [s], [s]
LINKS, ARMATURE = 0.01, 0.02  # of the figures
FRICTION, LEAST_FRICTION = 0.001, 0.05  # of the torque limit; [N m]
DRIVES, DRIVES_AT_REST = 0.01, 0.05  # of a command; [N m]
RATE = 5.0  # [1/s]
ENERGIES = (0.0005, 0.001, 0.002, 0.004, 0.008)  # [J]
WAYS = (0.3, -0.3, 0.1, -0.1)  # [rad] of all joints in 3 s


def late_problem(name: str, q: Array, V_M: float, share: float = 0.0) -> Problem:
    """Return all plans of a bare arm that is seen late, from rest.

    Stamps, zeros, the base and the jitter are off by a share of what the loop of the Kinova
    assumes of them. If they are, delays are anything up to DELAY.
    """
    described = CalibratedArm.holding(name, '').model
    n, torque, speed = described.n, described.limits.torque, described.limits.velocity
    drives = replace(
        described.actuation,
        ratio=np.full(n, DRIVES),
        absolute=np.full(n, DRIVES_AT_REST),
        bandwidth=np.zeros(n),
        slew=np.full(n, np.inf),
        delay_periods=(0.0, 0.0),
        delay=(DELAY if share == 0.0 else 0.0, DELAY),
        jitter=share * (SIGNALS.jitter or 0.0),
    )
    sensors = replace(
        described.sensors,
        encoder_resolution=np.full(n, STEP),
        sensing=SensingFacts(
            stamp_error=share * (SIGNALS.stamp_error or 0.0),
            zero_error=(share * (SIGNALS.zero_error or 0.0),),
        ),
    )
    tilt = share * (SIGNALS.gravity_tilt or 0.0)
    model = replace(described, actuation=drives, sensors=sensors, gravity_tilt=tilt)
    gains = Gains(np.full(n, RATE), V_M, 1000.0, 0.05, 0.0, drives.absolute, drives.ratio)
    dry = tuple(np.maximum(FRICTION * torque, LEAST_FRICTION))
    viscous, armature = tuple(FRICTION * torque / speed), (ARMATURE,)
    widths = Uncertainty(
        coulomb=Width(absolute=dry),
        viscous=Width(absolute=viscous),
        armature=Width(ratio=armature),
        offset=Width(absolute=tuple(FRICTION * torque)),
    )
    bounds = ArmKnowledge(LINKS, 0.0, LINKS, widths).bounds(model)
    known = ParameterEstimate(model.layout, model.theta, bounds)
    problem = at_rest(model, known, q, NO_OBSTACLES)
    return replace(problem, gains=gains, sampling=described_sampling(model, PERIOD).sampling)


def truth_within(problem: Problem, rng: np.random.Generator) -> RobotModel:
    """Return an arm whose bodies can exist, with all that is unknown at ends of its bounds."""
    model, bounds = problem.model, problem.bounds.bounds
    ends = np.stack([bounds.lower, bounds.upper])
    theta: Array = ends[rng.integers(2, size=len(model.theta)), np.arange(len(model.theta))]
    for i in range(model.n):  # scaled as a whole, a body can exist
        theta[model.layout.inertial(i)] = model.theta[model.layout.inertial(i)] * (
            1.0 + LINKS * rng.choice([-1.0, 1.0])
        )
    theta[model.layout.joint_entries('Fc')] = bounds.upper[model.layout.joint_entries('Fc')]
    return model.with_parameters(np.clip(theta, bounds.lower, bounds.upper))


def late_figures_of(name: str, starts: Sequence[Array]) -> dict[str, object]:
    """Return from how many starts standing is certified at one of ENERGIES, and moving."""
    each = [_from_start(name, q) for q in starts]
    stands = [found for found in each if found.energy > 0.0]
    return {
        'starts': len(each),
        'stands': len(stands),
        'moves': sum(found.way > 0.0 for found in each),
        'V_M': sorted({found.energy for found in stands}),
        'share_of_tube': [found.share_of_tube for found in stands],
        'error_rad': [found.error for found in stands],
        'refused': [found.refusal for found in each if found.refusal],
        'largest': largest_figures(name, starts[0]) if len(starts) else {},
    }


def largest_figures(name: str, q: Array) -> dict[str, float]:
    """Return the largest of each figure at which standing is certified, all else as assumed.

    At the V_M of ENERGIES at which it is; 0 where the smallest that is tried does not do.
    """
    problems = {V_M: late_problem(name, q, V_M) for V_M in ENERGIES}
    last = [ENERGIES[2]]

    def holds(figure: Figure, factor: float) -> bool:
        near = sorted(ENERGIES, key=lambda V_M: abs(np.log(V_M / last[0])))
        for V_M in near:
            found = _certified(figure.times(problems[V_M], factor), 0.0)
            if not isinstance(found, str):
                last[0] = V_M
                return True
        return False

    largest = {}
    for figure in FIGURES:
        value = figure.value(problems[last[0]])
        if value > 0.0:
            factor = largest_factor(partial(holds, figure), MOST)
            largest[f'{figure.name} [{figure.unit}]'] = factor * value
    return largest


class _Found(NamedTuple):
    """What is certified from a start."""

    energy: float  # [J] least of ENERGIES at which it may stand; 0: none
    share_of_tube: float
    error: float  # [rad]
    way: float  # [rad] by which it may move, at this V_M or a larger one
    refusal: str  # the first one, if it may not


def _from_start(name: str, q: Array) -> _Found:
    found, refusal = _Found(0.0, 0.0, 0.0, 0.0, ''), ''
    for V_M in ENERGIES:
        problem = late_problem(name, q, V_M)
        standing = _certified(problem, 0.0)
        if isinstance(standing, str):
            refusal = refusal or standing
            continue
        if found.energy == 0.0:
            assert standing.law is not None
            bounds, largest = standing.law.bounds, float(standing.error.position.max())
            found, refusal = _Found(V_M, bounds.sigma / bounds.y, largest, 0.0, ''), ''
        for way in WAYS:
            moving = _certified(problem, way)
            if not isinstance(moving, str):
                return found._replace(way=abs(way))
            refusal = refusal or moving
    return found._replace(refusal=refusal)


def _certified(problem: Problem, way: float) -> PlanCertificate | str:
    """Certificate of a plan, or why there is none."""
    k = np.full(problem.horizon.n, way)
    horizon = Horizon(problem.horizon.curve, k, np.zeros_like(k), 32)
    try:
        certificate = ReachableSet.certify_center(replace(problem, horizon=horizon))
    except BoundError as error:
        return str(error)
    return certificate if certificate.holds else str(certificate.smallest)


def late_assumptions() -> list[str]:
    """Return what is assumed of every arm here, in place of what its file leaves open."""
    return [
        f'positions in steps of {STEP:g} rad every {1e3 * PERIOD:g} ms, zeros and stamps exact, '
        f'torques {1e3 * DELAY:g} ms late',
        *of_drives_and_links(),
    ]


def of_drives_and_links() -> list[str]:
    """Return the same, readings and times aside."""
    return [
        f'torques within {100 * DRIVES:g} % and {DRIVES_AT_REST:g} N m',
        f'links known to {100 * LINKS:g} %, armatures to {100 * ARMATURE:g} %, friction and '
        f'offsets to {100 * FRICTION:g} % of the torque limit',
    ]


def signals_of(s: Sampling) -> str:
    """Return how wrong stamps, zeros, base and delays are, in words."""
    least, most = (1e3 * x for x in (s.delay - 2.0 * (s.jitter + s.bias), s.delay))
    return (
        f'zeros within {float(np.max(s.zero)):.3g} rad, base within {s.tilt:.3g} rad, stamps '
        f'within {1e3 * s.stamp:.3g} ms, torques {least:.3g} to {most:.3g} ms late, each within '
        f'{1e3 * s.jitter:.3g} ms of a constant'
    )
