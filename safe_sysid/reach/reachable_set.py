"""Is a plan safe? Constraints with derivatives for the optimiser, a certificate for its answer.

Sets for a whole range of k are built once per planning problem. Their constraints only steer the
optimiser; what is sent out is certified afresh by sets of the one plan chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.collision.sphere_cover import Shapes, sphere_cover
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach import margin
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.clearance import (
    ClearanceRows,
    Points,
    chosen_rows,
    clearance_rows,
    clearances,
    points_at,
    self_clearance_rows,
    whole_range,
)
from safe_sysid.reach.clearance_slopes import clearance_slopes, moved_points
from safe_sysid.reach.error_balls import ErrorSet
from safe_sysid.reach.error_terms import with_errors
from safe_sysid.reach.forward_occupancy import Occupancy, forward_occupancy, without_error
from safe_sysid.reach.joint_reach import Horizon, JointReach, joint_reach
from safe_sysid.reach.limits import LimitMargins, limit_margins
from safe_sysid.reach.margin import Margin
from safe_sysid.reach.nearest_obstacle import EnclosedArm
from safe_sysid.reach.one_way_clearance import undecided_one_way
from safe_sysid.reach.plan_error import errors_of, nominal_inverse, plan_error
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.seen_bounds import seen_bounds
from safe_sysid.reach.state_differences import turned
from safe_sysid.reach.torque_limits import (
    every_row,
    torque_margins,
    torque_slopes,
    undecided_torque_rows,
)
from safe_sysid.reach.torque_reach import TorqueReach, torque_reach
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.track.gains import Gains
from safe_sysid.track.seen_law import SeenLaw

MANY = 8  # obstacles, from which on most are left out before they are looked at


@dataclass(frozen=True, eq=False)
class ConstraintValues:
    """Margins at one x, satisfied when at least 0, and how they change with x."""

    values: Array  # (R,)
    variables: int  # n; none of a single plan
    slopes: Callable[[IntArray], Array]  # derivatives (., n) of some rows, in ascending order
    margin: Callable[[int], Margin]  # what a row is about

    @property
    def jacobian(self) -> Array:
        """Derivatives of all rows, (R, n)."""
        return self.slopes(np.arange(len(self.values)))


@dataclass(frozen=True, eq=False)
class ReachableSet:
    """All a range of plans can do, and the constraints on x that some of them may break.

    Where the tracking error has a tube it is that of the plan in the middle, as are the torques
    that a late law adds, and so the sets of a range are guidance only; sets `of_plan` have their
    own.
    """

    problem: Problem
    error: TrackingError
    errors: ErrorSet
    joints: JointReach
    torque: TorqueReach
    occupancy: Occupancy
    torque_rows: IntArray  # see `torque_limits`
    clearance_rows: ClearanceRows
    law: SeenLaw | None = None  # of the plan in the middle, for an arm that is seen late

    @staticmethod
    def build(
        model: RobotModel,
        bounds: ParameterEstimate,
        horizon: Horizon,
        gains: Gains,
        obstacles: Obstacles,
        error_at_start: Array | None = None,
    ) -> ReachableSet:
        """Return sets of an arm that is seen exactly, see `of`."""
        return ReachableSet.of(Problem(model, bounds, horizon, gains, obstacles, error_at_start))

    @staticmethod
    def of(problem: Problem) -> ReachableSet:
        """Compute sets for every k of the horizon, leaving out constraints that always hold."""
        model, error = problem.model, plan_error(problem)
        errors, joints, torque, occupancy, law = _sets(problem, error)
        rows = undecided_torque_rows(torque.bound(), model.limits.torque)
        points, shapes = whole_range(occupancy), sphere_cover(model.capsules)
        arm = EnclosedArm.of(points, shapes)
        clearance = arm.undecided(problem.obstacles, problem.horizon.time)
        clearance = undecided_one_way(occupancy, shapes, problem.packed_obstacles, clearance)
        return ReachableSet(
            problem, error, errors, joints, torque, occupancy, rows, clearance, law
        )

    def of_plan(self, k: Array) -> ReachableSet:
        """Return sets of one plan, with all constraints."""
        single = replace(self.problem.horizon, k_center=k, k_range=np.zeros_like(k))
        problem = replace(self.problem, horizon=single)
        error = self.error if self.error.tube is None else plan_error(problem)
        return _with_every_row(problem, error)

    @cached_property
    def shapes(self) -> Shapes:
        """Capsules and the spheres that cover them."""
        return sphere_cover(self.problem.model.capsules)

    @cached_property
    def _rho(self) -> Array:
        """Balls about the end points, (T, 2 m)."""
        return self.occupancy.rho

    def k(self, x: npt.ArrayLike) -> Array:
        """Parameter of the plan that x stands for."""
        x = np.asarray(x, dtype=np.float64)
        horizon = self.problem.horizon
        if x.shape != (horizon.n,) or not np.all(np.isfinite(x)):
            raise BoundError(f'x = {x} has to be {horizon.n} finite numbers, one per joint')
        return np.asarray(horizon.k_center + horizon.k_range * x)

    def evaluate(self, x: npt.ArrayLike) -> ConstraintValues:
        """Margins of the constraints at x in [-1, 1]^n, to rounding, for the optimiser."""
        k = self.k(x)
        x = np.asarray(x, dtype=np.float64)[: self.joints.monomials.variables]
        model, horizon = self.problem.model, self.problem.horizon
        monomials = self.joints.monomials.values(x)
        points = points_at(self.occupancy, self._rho, self.clearance_rows, monomials)
        values = np.empty(max(rows.stop for rows in self.kinds.values()))
        reach, rows = (self.torque.rows, self.torque.radius), self.kinds[margin.TORQUE]
        torque_margins(self.torque_rows, reach, model.limits.torque, monomials, values[rows])
        rows = slice(rows.stop, self.kinds[margin.CAPSULES].stop)
        obstacles = self.problem.packed_obstacles
        clearances(points, self.shapes, obstacles, self.clearance_rows, values[rows])
        limits = limit_margins(horizon.curve, k, model, from_zeros(self.problem, self.error))
        for kind, reached in zip(margin.LIMITED, limits, strict=True):
            values[self.kinds[kind]] = reached.margin[np.isfinite(reached.limit)]
        return ConstraintValues(
            values,
            len(x),
            lambda rows: self._slopes(x, points, limits, rows),
            lambda i: self._margin(values, limits, i),
        )

    def _slopes(
        self, x: Array, points: Points, limits: tuple[LimitMargins, ...], rows: IntArray
    ) -> Array:
        """Return derivatives in x of margins whose rows are in ascending order."""
        kinds = list(self.kinds.values())
        parts = np.split(rows, np.searchsorted(rows, [part.stop for part in kinds[:-1]]))
        torque, obstacle, capsule, *limited = (
            part - kind.start for part, kind in zip(parts, kinds, strict=True)
        )
        gradients, every = self.joints.monomials.gradients(x), self.clearance_rows
        near = chosen_rows(
            len(every.used), self.shapes, every.obstacle[obstacle], every.capsule[capsule]
        )
        moved = moved_points(self.occupancy, near, gradients)
        packed, k_range = self.problem.packed_obstacles, self.problem.horizon.k_range
        slopes = [
            torque_slopes(self.torque_rows[torque], self.torque.rows, gradients),
            clearance_slopes(points, moved, self.shapes, packed, near),
            *(
                _limit_slopes(reached, k_range[: len(x)], part)
                for reached, part in zip(limits, limited, strict=True)
            ),
        ]
        return np.concatenate(slopes)

    def certify(self, x: npt.ArrayLike) -> PlanCertificate:
        """Return what is proven of the plan at x, from sets of this plan alone."""
        return _certificate(self.of_plan(self.k(x)))

    @staticmethod
    def certify_center(problem: Problem) -> PlanCertificate:
        """Certify the plan in the middle of a horizon, without sets of its range."""
        still = np.zeros_like(problem.horizon.k_range)
        single = replace(problem, horizon=replace(problem.horizon, k_range=still))
        error = plan_error(single)
        if len(problem.obstacles) < MANY:
            return _certificate(_with_every_row(single, error))
        bare = _with_every_row(replace(single, obstacles=NO_OBSTACLES), error)
        proven = _certificate(bare)
        margins = {**proven.margins, margin.OBSTACLE: bare.nearest_to(problem.obstacles)}
        return replace(proven, problem=single, margins=margins)

    def nearest_to(self, obstacles: Obstacles) -> Margin:
        """Smallest clearance of a single plan from obstacles, of which there is one at least."""
        arm = EnclosedArm.of(whole_range(self.occupancy), self.shapes)
        value, t, capsule, o = arm.nearest(obstacles, self.joints.time, 0)
        where = f'{self.problem.model.capsules.names[capsule]} and {obstacles.names[o]}'
        return Margin(margin.OBSTACLE, value, where, self._time(t), value, 0.0, 'm')

    @cached_property
    def kinds(self) -> dict[str, slice]:
        """Rows of every kind of constraint."""
        limits, reference = self.problem.model.limits, self.problem.model.reference
        counts = [
            len(self.torque_rows),
            len(self.clearance_rows.obstacle),
            len(self.clearance_rows.capsule),
            np.isfinite(limits.position_lower).sum() + np.isfinite(limits.position_upper).sum(),
            2 * np.isfinite(limits.velocity).sum(),
            0 if reference is None else 2 * np.isfinite(reference.acceleration).sum(),
            0 if reference is None else 2 * np.isfinite(reference.jerk).sum(),
        ]
        ends = np.cumsum([0, *counts]).tolist()
        return {kind: slice(*ends[i : i + 2]) for i, kind in enumerate(margin.KINDS)}

    def _margin(self, values: Array, limits: tuple[LimitMargins, ...], i: int) -> Margin:
        """Return what row i is about."""
        kind, rows = next((kind, rows) for kind, rows in self.kinds.items() if i < rows.stop)
        value, row = float(values[i]), i - rows.start
        model = self.problem.model
        if kind in margin.LIMITED:
            reached = limits[margin.LIMITED.index(kind)]
            entry = int(np.flatnonzero(np.isfinite(reached.limit))[row])
            return Margin(
                kind,
                value,
                model.layout.joint_names[entry % model.n],
                None,
                float(reached.reached[entry]),
                float(reached.limit[entry]),
                _unit(model, entry % model.n, kind),
            )
        if kind == margin.TORQUE:
            t, joint, side = self.torque_rows[row].tolist()
            limit = side * float(model.limits.torque[joint])
            where, reached_torque = model.layout.joint_names[joint], limit - side * value
            unit = _unit(model, joint, kind)
            return Margin(kind, value, where, self._time(t), reached_torque, limit, unit)
        t, where = self._contact(kind, row)
        return Margin(kind, value, where, self._time(t), value, 0.0, 'm')

    def _contact(self, kind: str, row: int) -> tuple[int, str]:
        """Time interval and the two shapes of a clearance."""
        names = self.problem.model.capsules.names
        if kind == margin.OBSTACLE:
            t, sphere, o = self.clearance_rows.obstacle[row].tolist()
            capsule = names[self.shapes.sphere_capsule[sphere]]
            return t, f'{capsule} and {self.problem.obstacles.names[o]}'
        t, pair = self.clearance_rows.capsule[row].tolist()
        first, second = self.shapes.pairs[pair]
        return t, f'{names[first]} and {names[second]}'

    def _time(self, t: int) -> tuple[float, float]:
        time = self.joints.time
        return float(time.lower[t]), float(time.upper[t])


class _Sets(NamedTuple):
    """All that is reached with a tracking error."""

    errors: ErrorSet
    joints: JointReach
    torque: TorqueReach
    occupancy: Occupancy
    law: SeenLaw | None


def _sets(problem: Problem, error: TrackingError) -> _Sets:
    """Compute all that is reached with this tracking error."""
    model, horizon = problem.model, problem.horizon
    errors = errors_of(problem, error)
    desired = joint_reach(model, horizon, without_error(model.n))
    joints = with_errors(model, horizon, desired, error, errors)
    torque, law = _torque(problem, error, errors, joints)
    return _Sets(errors, joints, torque, _occupied(problem, desired, errors), law)


def _torque(
    problem: Problem, error: TrackingError, errors: ErrorSet, joints: JointReach
) -> tuple[TorqueReach, SeenLaw | None]:
    """Torques of the law, which has numbers of its own where the arm is seen late."""
    model, gains, horizon = problem.model, problem.gains, problem.horizon
    known = nominal_inverse(problem, error)
    if problem.sampling is None:
        return torque_reach(model, problem.bounds, joints, gains, known), None
    if not np.any(horizon.k_range):
        seen = seen_bounds(problem, error, joints)
        return seen.torque, seen.law
    middle = replace(horizon, k_range=np.zeros(model.n))
    desired = joint_reach(model, middle, without_error(model.n))
    states = with_errors(model, middle, desired, error, errors)
    seen = seen_bounds(replace(problem, horizon=middle), error, states)
    rows = torque_reach(model, problem.bounds, joints, gains, known).rows
    torque = TorqueReach(joints.monomials, rows, seen.torque.disturbance, seen.torque.radius)
    return torque, seen.law


def occupancy_of(problem: Problem, error: TrackingError) -> Occupancy:
    """Where the end points of all capsules can be, as in the sets that `_sets` builds."""
    desired = joint_reach(problem.model, problem.horizon, without_error(problem.model.n))
    return _occupied(problem, desired, errors_of(problem, error))


def _occupied(problem: Problem, desired: JointReach, errors: ErrorSet) -> Occupancy:
    """Return the same, of an arm that is off what its encoders say by their zero errors."""
    if problem.sampling is not None:
        desired = turned(desired, problem.sampling.zero)
    return forward_occupancy(problem.model, desired, errors)


def from_zeros(problem: Problem, error: TrackingError) -> TrackingError:
    """Tracking errors of positions that are measured from the zeros of the arm."""
    if problem.sampling is None:
        return error
    return replace(error, position=error.position + problem.sampling.zero)


def _with_every_row(problem: Problem, error: TrackingError) -> ReachableSet:
    """Return sets of one plan, with all constraints."""
    errors, joints, torque, occupancy, law = _sets(problem, error)
    model, intervals = problem.model, problem.horizon.intervals
    rows = every_row(intervals, model.limits.torque)
    clearance = self_clearance_rows(model.capsules, intervals)
    if problem.obstacles:
        points, shapes = whole_range(occupancy), sphere_cover(model.capsules)
        clearance = clearance_rows(points, shapes, problem.packed_obstacles)
    return ReachableSet(problem, error, errors, joints, torque, occupancy, rows, clearance, law)


def _certificate(plan: ReachableSet) -> PlanCertificate:
    """Smallest margin of every kind, of sets with every row."""
    constraints = plan.evaluate(np.zeros(plan.problem.horizon.n))
    margins = {}
    for kind, rows in plan.kinds.items():
        if rows.stop > rows.start:
            values = constraints.values[rows]
            worst = int(np.argmin(values))  # the first NaN, when there is one
            margins[kind] = constraints.margin(rows.start + worst)
    problem, progress = plan.problem, None
    if problem.lift is not None:
        points, names = whole_range(plan.occupancy), problem.model.capsules.names
        time = problem.horizon.time
        margins[margin.LIFT_OFF] = problem.lift.margin(points, plan.shapes, names, time)
        progress = problem.lift.progress(points, plan.shapes, time)
    return PlanCertificate(problem, plan.error, margins, law=plan.law, progress=progress)


def _limit_slopes(reached: LimitMargins, k_range: Array, which: IntArray) -> Array:
    """Return derivatives in x of some of the margins that are finite."""
    entries = np.flatnonzero(np.isfinite(reached.limit))[which]
    slopes = np.zeros((len(which), len(k_range)))
    if len(k_range):
        joint = entries % len(k_range)
        slopes[np.arange(len(which)), joint] = reached.slope[entries] * k_range[joint]
    return slopes


def _unit(model: RobotModel, joint: int, kind: str) -> str:
    revolute, prismatic = {
        margin.TORQUE: ('N m', 'N'),
        margin.POSITION: ('rad', 'm'),
        margin.VELOCITY: ('rad/s', 'm/s'),
        margin.ACCELERATION: ('rad/s^2', 'm/s^2'),
        margin.JERK: ('rad/s^3', 'm/s^3'),
    }[kind]
    return prismatic if model.tree.is_prismatic[joint] else revolute
