"""Bounds under which V <= V_M stays true for a law that sees an arm late and wrong, on one plan.

By how much estimates differ from the state at which their torque acts says `state_differences`.
All of that but the pull goes to W_s theta as a box (`torque_change`). What it changes is convex in
the differences and 0 without them, so of differences that are
half of these it is half at most. The pull goes to the ball, as |H x| in the norm of M^-1 <=
kappa |x|_M; if the K_r are not all the same it goes to the box, too. To the box come also gravity
that is tilted, friction at rest above the bounds of Coulomb's, and what commands change that are
older than the lag of a slow drive. Drives of first order average commands with weights that are
the same for all joints; dV/dt <= 0 under each of these commands is dV/dt <= 0 under their average.

M and what it is against the arm's own mass matrix says `seen_inertia`. With it the part of dr/dt
that is not the known -M^-1 v,

    (H + diag(Ia))^-1 (w - C r - Fv r) + (M^-1 - (H + diag(Ia))^-1) v,

is bounded joint by joint, and as a vector (`seen_observer`): that is what an observer of r is
uncertain by. All of it depends on |dr/dt|, which depends on all of it: iterated from below, and
then a little more is shown to be a bound. A plan that follows another takes over from its law
within one age: what r did before it, and how the desired motion went on, are those of the law
before (`Pace`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.tilt import tilt_torque
from safe_sysid.reach.joint_reach import QD_A, QDD_A, Horizon, JointReach
from safe_sysid.reach.merged_steps import MergedSteps
from safe_sysid.reach.newton_euler import rigid_body_torque
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.seen_inertia import UNKNOWN, SeenInertia, seen_inertia
from safe_sysid.reach.seen_observer import SeenRates, in_window, observed
from safe_sysid.reach.state_differences import OF_QD as SPEED
from safe_sysid.reach.state_differences import (
    PULL,
    DesiredMotion,
    acting,
    differences,
    share_of,
    wider,
)
from safe_sysid.reach.torque_change import torque_change
from safe_sysid.reach.torque_reach import TorqueReach, nominal_torque
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.sets.taylor_model import TaylorModel
from safe_sysid.track.error_observer import InWindow, ObserverBounds
from safe_sysid.track.invariance import (
    Disturbance,
    Invariance,
    LawBounds,
    Rates,
    Shell,
    StateError,
    across,
    invariance,
    off_share,
)
from safe_sysid.track.seen_law import Pace, SeenLaw
from safe_sysid.trajectory.extrema import acceleration_extrema, jerk_extrema, velocity_extrema

ROUNDING = 1.0 + 1e-9
ABOVE = 1.0 + 1e-6  # what an iterate is raised by to be a bound
ROUNDS = 100
STEPS = 32  # of time, in which what does not need shorter ones is bounded
WIDER = 1.05  # than found, for the next guess
WIDENINGS = 8
FIRST = 1.1  # more than it mostly takes, as a second guess costs as much as the first


@dataclass(frozen=True, eq=False)
class SeenBounds:
    """What the law needs for a plan, and what its torque can be."""

    law: SeenLaw
    invariance: Invariance
    torque: TorqueReach  # whose radius is the bound of |v|


class _Push(NamedTuple):
    """Bounds of what moves r: w and v, in every time step and in the norm of M^-1."""

    omega: float
    nu: float  # of v, in units of omega
    ball: float  # of w, part of omega
    pull: Array  # (n,) [rad/s^2] that it comes from
    box: Array  # (T, n) of w but for what is in the ball
    robust: Array  # (T, n) of v

    def contains(self, other: _Push) -> bool:
        pairs = zip(self, other, strict=True)
        return all(np.all(np.asarray(a) >= np.asarray(b)) for a, b in pairs)

    def raised(self, other: _Push) -> _Push:
        """Return bounds of both, and a little more."""
        raised = (
            np.maximum(np.asarray(a), ABOVE * np.asarray(b))
            for a, b in zip(self, other, strict=True)
        )
        return _Push(*raised)


class _Resisting(NamedTuple):
    """Bounds of C r + Fv r."""

    box: Array  # (T, n) [N m]
    length: float  # in the norm of M^-1


class _Step(NamedTuple):
    """What follows from bounds of w and v."""

    differences: Array  # (6, n)
    ball: float  # omega_b, which the pull is where it is not in the box
    at_sample: float  # |r - r_hat|_M at a sample
    observer: ObserverBounds
    half_width: Array  # (n,) of the observed r
    pace: Pace
    first_pace: Pace  # of both plans


def seen_bounds(problem: Problem, error: TrackingError, reach: JointReach) -> SeenBounds:
    """Bounds for one plan with these states, or a refusal that says what is too much."""
    plan = _Plan(problem, error, reach)
    widest = plan.first_guess()
    for _ in range(WIDENINGS):
        found = plan.settled(widest)
        if isinstance(found, SeenBounds):
            return found
        widest = found
    raise BoundError(
        f'V_M = {problem.gains.V_M} J: the arm is seen too coarsely or too late for any bound'
    )


class _Plan:
    """One plan, and what of its bounds does not depend on the others."""

    def __init__(self, problem: Problem, error: TrackingError, reach: JointReach) -> None:
        assert problem.sampling is not None
        self.model, self.estimate, self.gains = problem.model, problem.bounds, problem.gains
        self.sampling, self.error, self.reach = problem.sampling, error, reach
        before, horizon = problem.before, problem.horizon
        self.before = before
        self.goes_on = before is not None and problem.error_at_start is not None
        self.merged = MergedSteps.about(STEPS, horizon.intervals)
        speed, acceleration, self.jerk = _desired(horizon)
        most = self.jerk if before is None else np.maximum(self.jerk, before.pace.jerk)
        K = self.gains.K_r
        straying = error.velocity
        if before is not None:
            straying = np.maximum(straying, before.pace.straying)
        self.motion = DesiredMotion(K, straying, speed, acceleration, most)
        self.speed = (speed + error.velocity) * ROUNDING
        moving = self.speed if before is None else np.maximum(self.speed, before.pace.speed)
        self.away = in_window(self.sampling, moving)
        self.step = (self.sampling.step + 2.0 * self.sampling.stamp * moving) * ROUNDING
        self.extra = self._extra()

    def first_guess(self) -> Array:
        """Differences to begin with; larger ones are found where they are needed."""
        S, V, K = self.sampling.age, self.error.velocity, self.gains.K_r
        return FIRST * self._differences(*2 * (0.1 * V + K * self.step,), S * K * V)

    def settled(self, widest: Array) -> SeenBounds | Array:
        """Return bounds if no difference is larger than these, else larger ones."""
        fine = acting(self.reach, widest, self.sampling.zero)
        torque = self._torque(wider(fine, widest, widest[PULL]), float(widest[SPEED].max()))
        disturbance = self.merged.largest(torque.disturbance)
        true = self.merged.reach(fine)
        seen = wider(true, widest, widest[PULL])
        inertia = self._inertia(true, seen, wider(seen, self.away, self.away[PULL]))
        boxed = np.zeros(self.model.n) if self._has_ball else widest[PULL]
        change = torque_change(self.model, self.estimate, true, widest, boxed).max(axis=0)
        shell = Shell(self.gains.V_M, inertia.mu, inertia.kappa)
        resisting = self._resisting(true, inertia, shell)
        ratio = np.asarray(self.gains.torque_ratio)
        none = np.zeros_like(disturbance)
        push, found = _Push(0.0, 0.0, 0.0, none[0], none, none), None
        for _ in range(ROUNDS):
            step = self._following(push, inertia, shell, resisting)
            share = share_of(step.differences, widest)
            room = (share * change + self.extra) * ROUNDING
            against = Disturbance(
                disturbance + room, inertia.diagonal, inertia.inverse, ratio, step.ball
            )
            late = self._error(step.at_sample, resisting.length, shell)
            try:
                found = invariance(shell, against, late, found)
            except BoundError as error:
                raise BoundError(f'{error}; {self._heaviest(against, inertia)}') from error
            pull = step.differences[PULL] if self._has_ball else none[0]
            now = _Push(found.omega, found.nu, step.ball, pull, found.box, found.robust)
            if push.contains(now):
                if share > 1.0:  # then it is an estimate only
                    return np.asarray(np.maximum(widest, WIDER * step.differences))
                return self._bounds(found, shell, step, (room, float(widest[SPEED].max())), torque)
            push = push.raised(now)
        raise BoundError(f'V_M = {self.gains.V_M} J: bounds of the state did not settle')

    def _heaviest(self, against: Disturbance, inertia: SeenInertia) -> str:
        """Say which joint has most of the disturbance, and which one resists most."""
        parts = against.box * (against.inverse @ against.box[..., None])[..., 0]
        t = int(np.argmax(parts.sum(axis=-1)))
        j, names = int(np.argmax(parts[t])), self.model.layout.joint_names
        share = 100.0 * parts[t, j] / parts[t].sum()
        said = (
            f'{share:.0f} % of the disturbance is that of {names[j]}, {against.box[t, j]:.2g} N m '
            f'on {1.0 / inertia.middle[t, j, j]:.2g} kg m^2'
        )
        Fv = self.estimate.bounds.upper[self.model.layout.joint_entries('Fv')]
        rates = Fv * np.einsum('jj->j', inertia.middle[t])
        i = int(np.argmax(rates))
        if not rates[i] > 0.0:
            return said
        return f'{said}; viscous friction changes the velocity of {names[i]} by {rates[i]:.3g} /s'

    @property
    def _has_ball(self) -> bool:
        """Whether all K_r are the same."""
        return bool(np.ptp(self.gains.K_r) == 0.0)

    def _error(self, at_sample: float, coriolis: float, shell: Shell) -> StateError:
        """Return what r changes by from a sample on, beside what is seen wrong of it."""
        s = self.sampling
        times = s.waiting, s.unforeseen, s.held
        if self.before is None:
            return StateError(at_sample, *times, coriolis)
        return StateError(at_sample, *times, coriolis, self._pace_before(shell.mu).length)

    def _pace_before(self, mu: float) -> Pace:
        """Pace of the plan before, in norms of this one; see `SeenLaw.allows_for`."""
        assert self.before is not None
        shell, pace = self.before.shell, self.before.pace
        now, once = (float(np.sqrt(x / mu) * ROUNDING) for x in (shell.mu, shell.kappa))
        told = pace.length.times(now), pace.in_window.times(once)
        return pace._replace(length=told[0], in_window=told[1])

    def _following(
        self, push: _Push, inertia: SeenInertia, shell: Shell, resisting: _Resisting
    ) -> _Step:
        """Derive all else from bounds of w and v."""
        s, K = self.sampling, self.gains.K_r
        drift = (push.omega + resisting.length) / shell.mu * ROUNDING
        robust, off = push.omega * push.nu, off_share(shell)
        by_robust = robust * across(shell) * ROUNDING, robust * off * ROUNDING
        length = Rates((drift + by_robust[0]) * ROUNDING, drift, *by_robust)
        own = whole = self._pace(push, inertia, resisting, length)
        before = None
        if self.before is not None:
            before = self._pace_before(shell.mu)
            whole = _either(own, before)
        seen = observed(s, K, self.step, SeenRates(own, before, whole), inertia)
        delta_v, of_pull = (
            (half + 0.5 * K * self.step) * ROUNDING for half in (seen.half_width, seen.together)
        )
        ageing = max(s.age, s.unforeseen + s.held)  # as long as r does what is not foreseen
        aged = ageing * (whole.rate + K * self.motion.velocity_error) * ROUNDING
        turning = whole.length.whole + K.max() * np.sqrt(2.0 * shell.V_M / shell.mu)
        turning += K.max() ** 2 * inertia.length(self.error.position)
        ball = 0.0
        if self._has_ball:
            swing = seen.length + 0.5 * K[0] * inertia.length(self.step) + ageing * turning
            ball = float(K[0] * shell.kappa * swing * ROUNDING)
        found = self._differences(delta_v, of_pull, aged)
        return _Step(found, ball, seen.length, seen.bounds, seen.half_width, own, whole)

    def _pace(
        self, push: _Push, inertia: SeenInertia, resisting: _Resisting, length: Rates
    ) -> Pace:
        """How fast r may change, with bounds of |dr/dt|_M."""
        size, jitter = push.omega * push.nu, self.sampling.jitter + self.sampling.stamp
        known = inertia.motion(push.robust, size)  # contains M^-1 v
        away = (inertia.off @ known[..., None])[..., 0]
        unknown = inertia.motion(push.box + resisting.box, push.omega + resisting.length)
        unknown = unknown + inertia.pulled(push.pull, push.ball)
        unknown += inertia.motion(away, max(1.0 - inertia.mu, inertia.kappa - 1.0) * size)
        rate = (unknown + known).max(axis=0) * ROUNDING
        unknown = np.maximum(unknown.max(axis=0) * ROUNDING, 1e-9)
        most = known.max(axis=0)
        lagged = 2.0 * self.sampling.shifted * most * ROUNDING
        before = InWindow((length.drift + length.off) * ROUNDING, size * ROUNDING)
        rows = unknown, jitter * most, lagged, rate, self.speed, self.error.velocity
        return Pace(*rows, length, before, inertia.turning, self.jerk)

    def _differences(self, delta_v: Array, of_pull: Array, aged: Array) -> Array:
        return differences(self.sampling, self.motion, self.step, (delta_v, of_pull, aged))

    def _inertia(self, true: JointReach, seen: JointReach, in_window: JointReach) -> SeenInertia:
        try:
            return seen_inertia(self.model, self.estimate, true, seen, in_window)
        except BoundError as error:
            if str(error) != UNKNOWN:
                raise
            raise BoundError(
                f'V_M = {self.gains.V_M} J lets the arm stray so far that its inertia is not '
                'bounded; a smaller one, armatures or tighter bounds of theta are needed'
            ) from error

    def _bounds(
        self,
        found: Invariance,
        shell: Shell,
        step: _Step,
        own: tuple[Array, float],
        torque: TorqueReach,
    ) -> SeenBounds:
        """Return what was found; `own` are the room and the speed at which friction has a sign."""
        gains = self.gains
        bounds = LawBounds(gains.V_M, gains.alpha, found.y, found.sigma, found.omega, step.ball)
        law = SeenLaw(
            self.sampling,
            shell,
            bounds,
            step.observer,
            step.half_width,
            *own,
            step.pace,
            step.first_pace,
            self.goes_on,
        )
        each = found.box[self.merged.of], found.robust[self.merged.of]
        return SeenBounds(law, found, TorqueReach(torque.monomials, torque.rows, *each))

    def _torque(self, seen: JointReach, sign_speed: float) -> TorqueReach:
        """tau_0 and w_M over all estimates, the actuators' error of v left out."""
        speed = max(sign_speed, self.gains.sign_speed)
        certain = replace(self.gains, torque_ratio=0.0, sign_speed=speed)
        rows, disturbance = nominal_torque(self.model, self.estimate, seen, certain)
        plain = TorqueReach(seen.monomials, rows, disturbance, 0.0 * disturbance)
        ratio = np.asarray(self.gains.torque_ratio)
        nominal = plain.bound().magnitude
        return replace(plain, disturbance=disturbance + ratio * nominal * ROUNDING)

    def _resisting(self, true: JointReach, inertia: SeenInertia, shell: Shell) -> _Resisting:
        """C r + Fv r over the plan, for |r| <= r_max and |r|_M^2 <= 2 V_M / mu."""
        rows = true.rows.copy()
        rows[[QD_A, QDD_A]] = 0.0
        rows[QD_A, ..., -1] = self.error.r_max
        reach = JointReach(true.monomials, true.time, rows)
        weightless = replace(self.model, tree=self.model.tree._replace(gravity=np.zeros(3)))
        theta = self.estimate.bounds
        rigid = rigid_body_torque(weightless, reach, self.estimate.theta, theta)
        coriolis = sum(_magnitude(reach, part) for part in (rigid.nominal, rigid.offset))
        coriolis = np.asarray(coriolis + rigid.spread)
        Fv = theta[self.model.layout.joint_entries('Fv')].magnitude
        box = coriolis + Fv * self.error.r_max
        longest = np.sqrt(2.0 * shell.V_M / shell.mu)
        apart = inertia.dual(coriolis) + inertia.damping(Fv, longest)
        return _Resisting(box, min(inertia.dual(box), apart) * ROUNDING)

    def _extra(self) -> Array:
        """Torque of tilted gravity, friction at rest above Coulomb's, old commands, (n,) [N m]."""
        bounds = self.estimate.bounds
        Fc = bounds.upper[self.model.layout.joint_entries('Fc')]
        tilted = tilt_torque(self.model, bounds.magnitude, self.sampling.tilt)
        standing = self.model.friction.above_coulomb(Fc)
        return np.asarray((tilted + standing + self.sampling.older) * ROUNDING)


def _desired(horizon: Horizon) -> tuple[Array, Array, Array]:
    """Largest speeds, accelerations and jerks of the desired motion, (n,) each."""
    curve, k = horizon.curve, horizon.k_center
    found = velocity_extrema(curve, k), acceleration_extrema(curve, k), jerk_extrema(curve, k)
    speed, acceleration, jerk = (each.range.magnitude for each in found)
    return speed, acceleration, jerk


def _either(a: Pace, b: Pace) -> Pace:
    """Bounds for both and a little more, in norms of a."""
    unknown, moved, lagged, rate, speed, straying = (
        np.maximum(x, y) * ROUNDING for x, y in zip(a[:6], b[:6], strict=True)
    )
    jerk = np.maximum(a.jerk, b.jerk) * ROUNDING
    length = Rates(*np.maximum(a.length, b.length).tolist()).times(ROUNDING)
    in_window = a.in_window.or_else(b.in_window.times(float(b.turning.stretch(1.0)) * ROUNDING))
    rows = unknown, moved, lagged, rate, speed, straying
    return Pace(*rows, length, in_window, a.turning, jerk)


def _magnitude(reach: JointReach, rows: Array) -> Array:
    """Largest absolute values, error variables included, (T, n)."""
    count = reach.monomials.count
    plain = rows[..., [*range(count), -1]].copy()
    plain[..., -1] += np.abs(rows[..., count:-1]).sum(axis=-1) * ROUNDING
    return np.asarray(TaylorModel(reach.monomials, plain).bound().magnitude)
