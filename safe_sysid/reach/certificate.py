"""Certificate: one plan, what it was proven for, and how far it is from every limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.reach.lift_off import LiftOff, LiftProgress
from safe_sysid.reach.margin import VELOCITY, Margin
from safe_sysid.reach.needed_inertia import needed_sentence
from safe_sysid.reach.plan_error import position_shape
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.track.seen_law import SeenLaw
from safe_sysid.trajectory.extrema import acceleration_extrema

ASSUMPTIONS = (
    'the parameters of the arm are within the bounds of the certificate',
    'the bodies can exist, so that no motion has negative energy',
    'viscous friction is not negative',
    'V <= V_M since the arm last had no position error, and until the plan ends, as the robust '
    'controller promises for its gains and nominal parameters',
    'the position error at the start is in the ellipsoid of the problem, or the arm is at rest',
    'the capsules contain the arm and its payload, and the obstacles what is in the way',
    'bodies that one joint joins do not touch beside it, nor do the pairs in `left_out`',
)
MOVING = (
    'obstacles that move keep the bounds promised of them until the plan ends; from then on the '
    'arm stands, and what moves may come to it'
)
LIFTING = (
    'while {what} may touch {support}, that stands, and what it does to the arm leaves V <= V_M; '
    '{what} rests as the problem says'
)
EXACT = 'positions and velocities are read exactly, and torques act at once'
LATE = (
    'positions are read, and torques act, within the steps and times that the sampling of the '
    'problem states; drives that follow commands slowly are of first order and all alike'
)


@dataclass(frozen=True, eq=False)
class PlanCertificate:
    """The smallest margin of every kind, proven under ASSUMPTIONS for one plan.

    A plan of several pieces needs a certificate of each; those in `then` are of the pieces that
    follow the one of `problem`, with times since the start of theirs.
    """

    problem: Problem  # arm, bounds of theta, curve, gains and obstacles it is proven for
    error: TrackingError
    margins: Mapping[str, Margin]  # kind -> smallest margin of this kind; only kinds that exist
    then: tuple[PlanCertificate, ...] = ()
    law: SeenLaw | None = None  # with which it holds; None: the law that sees the arm exactly
    progress: LiftProgress | None = None  # what it leaves of the leave to touch a support

    @property
    def laws(self) -> tuple[SeenLaw, ...]:
        """Laws of all pieces; none for an arm that is seen exactly."""
        if self.law is None:
            return ()
        return (self.law, *(law for each in self.then for law in each.laws))

    def law_at(self, t: float) -> SeenLaw | None:
        """Law that a plan has to know of which takes over at a time since the start."""
        duration = self.problem.horizon.curve.duration
        if self.then and t > duration:
            return replace(self.then[0], then=self.then[1:]).law_at(t - duration)
        return None if self.law is None else self.law.since_start(t)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What has to be true for it."""
        moving = (MOVING,) if self.problem.obstacles.moving else ()
        lift = self.problem.lift
        told: tuple[str, ...] = ()
        if lift is not None and not lift.is_left:
            told = (LIFTING.format(what=lift.what, support=lift.name),)
        return (*ASSUMPTIONS, *moving, *told, EXACT if self.law is None else LATE)

    @property
    def k(self) -> Array:
        """Parameter of the plan, (n,)."""
        return self.problem.horizon.k_center

    def error_shape(self, t: float) -> Array:
        """Shape of an ellipsoid with the position error at a time since the start, (n, n)."""
        duration = self.problem.horizon.curve.duration
        if self.then and t > duration:
            return replace(self.then[0], then=self.then[1:]).error_shape(t - duration)
        return position_shape(self.problem, self.error, t)

    def lift_at(self, t: float) -> LiftOff | None:
        """Leave to touch a support that is left at a time since the start; None: none was."""
        duration = self.problem.horizon.curve.duration
        if self.then and t > duration:
            return replace(self.then[0], then=self.then[1:]).lift_at(t - duration)
        return None if self.progress is None else self.progress.at(t)

    def continued(self, problem: Problem, t: float) -> Problem:
        """Return a problem for plans that go on from this one at a time since its start.

        They begin with the position error, the law and the leave that this plan leaves behind.
        """
        left = self.error_shape(t), self.law_at(t), self._left_of(problem, t)
        return replace(problem, error_at_start=left[0], before=left[1], lift=left[2])

    def _left_of(self, problem: Problem, t: float) -> LiftOff | None:
        """Leave of plans that go on: as this plan had it, and none for what it stayed clear of."""
        asked, own = problem.lift, self.lift_at(t)
        if asked is None:
            return None
        if own is not None and own.name == asked.name:
            return replace(own, support=asked.support)
        before = self.problem.obstacles
        known = dict(zip(before.names, before.shapes, strict=True)).get(asked.name)
        return replace(asked, is_left=known is asked.support)

    @property
    def apart(self) -> tuple[tuple[str, str], ...]:
        """Pairs of capsules not looked at, as they are proven apart within the position limits."""
        capsules = self.problem.model.capsules
        return capsules.named(capsules.apart)

    @property
    def left_out(self) -> tuple[tuple[str, str], ...]:
        """Pairs of capsules not looked at, taken not to touch though nothing proves it."""
        capsules = self.problem.model.capsules
        return capsules.named(capsules.left_out)

    @property
    def smallest(self) -> Margin:
        """Margin that decides: one that may be negative, else the one nearest to its limit.

        Margins of different units are compared by their share of the limit, clearances as they
        are in metres; a margin that fails comes before all that hold.
        """
        if not self.margins:
            raise BoundError(f'the arm {self.problem.model.name} has no limit of any kind')
        every = [*self.margins.values(), *(each.smallest for each in self.then)]
        return min(every, key=_rank)

    @property
    def needed(self) -> str:
        """Which armature would do, where errors alone exceed a velocity limit; else nothing."""
        smallest, model = self.smallest, self.problem.model
        names = model.layout.joint_names
        if smallest.kind != VELOCITY or smallest.where not in names:
            return ''
        j, bounds = names.index(smallest.where), self.problem.bounds
        speed = float(model.limits.velocity[j])
        if self.error.velocity[j] <= speed:
            return ''
        certain = float(bounds.bounds.lower[bounds.layout.joint_entries('Ia')][j])
        V_M = self.problem.promised.V_M
        return needed_sentence(smallest.where, V_M, speed, max(certain, 0.0))

    @property
    def acceleration(self) -> Array | None:
        """Bounds of the arm's own |acceleration| on the first piece, (n,); None: none is proven.

        It is qdd_d - d2e/dt2, and d2e/dt2 = dr/dt - K_r de/dt, of which the law of an arm that is
        seen late has a bound. Of one that is seen exactly friction and v may jump as they like.
        """
        if self.law is None:
            return None
        horizon, K_r = self.problem.horizon, self.problem.gains.K_r
        desired = acceleration_extrema(horizon.curve, horizon.k_center).range.magnitude
        bound: Array = desired + K_r * self.error.velocity + self.law.pace.rate
        return bound * (1.0 + 1e-12)

    @property
    def holds(self) -> bool:
        """Whether every constraint is proven."""
        own = all(margin.margin > 0.0 for margin in self.margins.values())
        return own and all(each.holds for each in self.then)

    def __str__(self) -> str:
        verdict = 'certified' if self.holds else 'not certified'
        return f'{verdict}, smallest margin: {self.smallest}'


def _rank(margin: Margin) -> tuple[bool, float]:
    share = margin.margin / abs(margin.limit) if margin.limit else margin.margin
    return margin.margin > 0.0, share
