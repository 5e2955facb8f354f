"""What `safe-sysid bench excite` runs: searches against the clock, many designs, comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
import time
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.ellipsoids import (
    Ellipsoid,
    around_capsule,
    best_mixture,
    capsule_corners,
    covering_radius,
)
from safe_sysid.errors import SafeSysidError
from safe_sysid.excite.certificate import certify
from safe_sysid.excite.criteria import GOALS, log_condition
from safe_sysid.excite.design import MotionCandidate, design_problem, search
from safe_sysid.excite.design_problem import DesignProblem
from safe_sysid.excite.information import Summary
from safe_sysid.excite.multi_start import Progress
from safe_sysid.excite.settings import ExcitationSettings, read_settings
from safe_sysid.model.collision.contact import ContactGauge
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel

RATE = 1000.0  # [Hz] of the poses in which designs are measured
GAUGE_RATE = 50.0  # [Hz] of those that are measured in a second, independent way
MOST_POINTS = 12  # feature points
NEVER = np.inf


def tool_arm() -> tuple[RobotModel, RobotModel]:
    """Return the LBR Med 7, bare and with the rod."""
    bare = RobotModel.named('lbr_med7')
    return bare, bare.with_payload(read_payload('rod_tool'))


def tool_problem(**changes: object) -> DesignProblem:
    """Return the search for the arm with the rod, with some settings changed."""
    settings: ExcitationSettings = replace(read_settings(), **changes)  # type: ignore[arg-type]
    return design_problem(*tool_arm(), settings)


def condition_within(history: tuple[Progress, ...], seconds: float) -> float:
    """Smallest condition number that was known after some seconds of wall time."""
    known = [p.best.condition for p in history if p.best and p.elapsed <= seconds]
    return min(known, default=NEVER)


def condition_within_cpu(history: tuple[Progress, ...], seconds: float) -> float:
    """Return the same by CPU time of the busiest process: what idle cores would show."""
    known = [p.best.condition for p in history if p.best and p.busiest <= seconds]
    return min(known, default=NEVER)


def best_of_start(
    problem: DesignProblem, criterion: str, seed: int, start: int
) -> MotionCandidate | None:
    """Return the best motion of one search."""
    found = [one for one in search(problem, criterion, seed, start) if one is not None]
    return min(found, key=lambda one: one.goal, default=None)


class Checked(NamedTuple):
    """One design and what was measured of it."""

    condition: float
    clearance: float  # [m] smallest at 1 kHz
    gauge: float  # [m] smallest by bisection, at fewer poses
    proven: float  # [m]
    holds: bool  # whether everything was proven
    limits: float  # largest share of a position, velocity or acceleration limit at 1 kHz


def checked(problem: DesignProblem, candidate: MotionCandidate) -> Checked:
    """Measure a design in every way there is."""
    motion = problem.motion(candidate.x)
    t = np.arange(0.0, motion.basis.duration, 1.0 / RATE)
    states = motion.states(t)
    certificate = certify(problem.model, problem.contacts, motion, problem.required)
    pairs = problem.contacts.bodies.pairs
    capsules = replace(problem.model.capsules, pairs=pairs)
    gauge = ContactGauge(replace(problem.model, capsules=capsules))
    poses = states[0][:: round(RATE / GAUGE_RATE)]
    measured = min(float(gauge.distances(q).min()) for q in poses)
    return Checked(
        candidate.condition,
        problem.contacts.nearest(states[0])[0],
        measured,
        certificate.distance,
        certificate.holds,
        _limit_use(problem, states),
    )


def _limit_use(problem: DesignProblem, states: Array) -> float:
    limits = problem.model.limits
    center = 0.5 * (limits.position_lower + limits.position_upper)
    radius = 0.5 * (limits.position_upper - limits.position_lower)
    shares = [
        np.abs(states[0] - center) / radius,
        np.abs(states[1]) / limits.velocity,
        np.abs(states[2]) / limits.acceleration,
    ]
    return float(max(share.max() for share in shares))


@dataclass(frozen=True)
class CriterionRow:
    """The best of a few starts for one criterion, judged by the others."""

    minimised: str
    summary: Summary
    range: tuple[float, float]  # condition numbers of all starts
    cpu_s: float  # of one start


def criterion_rows(problem: DesignProblem, seed: int, starts: int) -> Iterator[CriterionRow]:
    """One row for each criterion."""
    for name in GOALS:
        begin = time.process_time()
        tried = [best_of_start(problem, name, seed, start) for start in range(starts)]
        found = [one for one in tried if one is not None]
        spent = (time.process_time() - begin) / starts
        if not found:
            raise SafeSysidError(f'criterion {name}: none of {starts} starts came free of contact')
        best = min(found, key=lambda one: one.goal)
        conditions = [float(np.exp(_log_condition(problem, one))) for one in found]
        summary = problem.information.summary(problem.states(best.x))
        yield CriterionRow(name, summary, (min(conditions), max(conditions)), spent)


def _log_condition(problem: DesignProblem, candidate: MotionCandidate) -> float:
    return problem.information.value(log_condition, problem.states(candidate.x))


def feature_point_figures(seed: int, poses: int) -> dict[str, float]:
    """Return the published contact test beside capsules, for the rod and the links of the arm.

    In random poses: how often it overlooks a contact of the capsules without inflation, and how
    often it refuses a pose that capsules show to be clear, with sound inflation.
    """
    bare, model = tool_arm()
    rng = np.random.default_rng([seed, 3])
    first = len(bare.capsules.names)
    held, capsules = range(first, len(model.capsules.names)), model.capsules
    shapes = [(capsules.a[i], capsules.b[i], float(capsules.radius[i])) for i in held]
    corners = np.concatenate([capsule_corners(*shape) for shape in shapes])
    points = best_mixture(corners, MOST_POINTS, rng).means
    radius = max(covering_radius(*shape, points) for shape in shapes)
    links = range(4)  # those that the tool can reach
    bare_ones = [
        around_capsule(capsules.a[i], capsules.b[i], float(capsules.radius[i])) for i in links
    ]
    grown = [each.grown(radius) for each in bare_ones]
    joints = [int(capsules.joint[i]) for i in links]
    pairs = np.array([(i, j) for i in links for j in held])
    gauge = ContactGauge(replace(model, capsules=replace(capsules, pairs=pairs)))
    tip = int(capsules.joint[first])
    contact, bare_hit, grown_hit = (np.zeros(poses, dtype=bool) for _ in range(3))
    for k in range(poses):
        low, high = model.limits.position_lower, model.limits.position_upper
        q = rng.uniform(low, high)
        R, p = joint_frames(model, q)
        world = points @ R[tip].T + p[tip]
        contact[k] = gauge.distances(q).min() < 0.0
        bare_hit[k] = _inside(bare_ones, joints, R, p, world)
        grown_hit[k] = _inside(grown, joints, R, p, world)
    return {
        'points': float(len(points)),
        'inflation_mm': 1e3 * radius,
        'contacts': float(contact.mean()),
        'overlooked_without_inflation': float((contact & ~bare_hit).sum() / max(contact.sum(), 1)),
        'overlooked_with_inflation': float((contact & ~grown_hit).sum()),
        'refused_though_clear': float((~contact & grown_hit).mean()),
    }


def _inside(
    ellipsoids: list[Ellipsoid], joints: list[int], R: Array, p: Array, world: Array
) -> bool:
    """Whether any point is in any ellipsoid."""
    for ellipsoid, joint in zip(ellipsoids, joints, strict=True):
        local = world if joint < 0 else (world - p[joint]) @ R[joint]
        if (ellipsoid.outside(local) <= 0.0).any():
            return True
    return False
