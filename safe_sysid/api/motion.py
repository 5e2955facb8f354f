"""plan, certify: motions that are proven safe for everything that the arm may hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
import time

import numpy as np

from safe_sysid.api.arguments import cost_from, number, of_kind, path_from
from safe_sysid.api.arms import ArmLike, load_arm
from safe_sysid.api.loop_file import LoopFile, read_loop
from safe_sysid.api.shown_as_text import ShownAsText
from safe_sysid.arrays import Array
from safe_sysid.config import Range
from safe_sysid.errors import BoundError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.collision.world import read_world
from safe_sysid.model.motion_objective import MotionObjective, objective_of
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.payload import Payload
from safe_sysid.plan.mission import Mission
from safe_sysid.plan.proven_motion import proof_of
from safe_sysid.plan.receding_horizon import RecedingHorizonPlanner
from safe_sysid.plan.result import PlanResult, SearchOutcome
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.margin import Margin
from safe_sysid.reach.problem import Problem
from safe_sysid.sets.box import Box
from safe_sysid.sets.zonotope import Zonotope
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

World = str | PathLike[str] | Mapping[str, Box | Zonotope] | None
TRIES = 3  # searches in a row that find nothing, before planning ends
SAMPLED = Range(above=0.0, at_most=1e6)  # [Hz]
NO_PLANS = 'the motion has no plans'
LOOK = 0.02  # [s] between two times at which the planner is asked


@dataclass(frozen=True, eq=False)
class CertifiedMotion(ShownAsText):
    """Plans that follow each other, each certified until the arm is at rest again."""

    loop: LoopFile
    obstacles: Obstacles
    plans: tuple[Plan, ...]
    outcome: str  # whether the goal is reached, or why planning ended before
    is_complete: bool
    own_cost: MotionObjective | None = None

    @property
    def certificates(self) -> tuple[PlanCertificate, ...]:
        """Proof of every plan, with the smallest margin of every kind."""
        return tuple(
            p.certificate for p in self.plans if isinstance(p.certificate, PlanCertificate)
        )

    @property
    def duration(self) -> float:
        """Time until the arm is at rest [s]."""
        return self.plans[-1].end_time if self.plans else 0.0

    def desired(self, t: float) -> tuple[Array, Array, Array]:
        """Return position [rad], velocity and acceleration at a time [s], (n,) each."""
        if not self.plans:
            raise BoundError(f'{NO_PLANS}: {self.outcome}')
        now = number('t', t, Range())
        begun = [plan for plan in self.plans if plan.start_time <= now]
        return (begun[-1] if begun else self.plans[0]).desired(max(now, self.plans[0].start_time))

    def sampled(self, rate: float = 100.0) -> tuple[Array, Array]:
        """Return times (N,) [s] and states (3, N, n) at a rate [Hz]."""
        period = 1.0 / number('rate', rate, SAMPLED)
        t = np.append(np.arange(0.0, self.duration, period), self.duration)
        return t, np.array([self.desired(x) for x in t]).transpose(1, 0, 2)

    def export(self, folder: str | PathLike[str], rate: float = 100.0) -> list[Path]:
        """Write the desired motion as CSV, as JointTrajectory (YAML) and as a plot (SVG)."""
        from safe_sysid.export.motion import MotionSamples, write_motion

        names = self.loop.model.layout.joint_names
        assumed = dict.fromkeys(x for each in self.certificates for x in each.assumptions)
        where = f'{self.loop.model.name} {self.obstacles.in_words}'
        about = (f'Certified motion of {where}: {self.outcome}.', *assumed)
        sampled = MotionSamples(names, *self.sampled(rate), contact_doubts=(), name='motion')
        return write_motion(path_from(folder), sampled, about, unproven_contact=False)

    def __str__(self) -> str:
        certified = f'{len(self.plans)} certified plans {self.obstacles.in_words}'
        lines = [f'{self.loop.model.name}: {self.outcome}', certified]
        if self.plans:
            smallest = min((c.smallest for c in self.certificates), key=_share)
            lines += [f'{self.duration:.2f} s until rest', f'smallest margin: {smallest}']
        if self.plans and self.own_cost is not None:
            times, states = self.sampled()
            lines.append(self.own_cost.figure(states, self.loop.prior.theta, times))
        return '\n  '.join([*lines, *self.loop.sentences])


@dataclass(frozen=True, eq=False)
class MotionProof(ShownAsText):
    """What could be proven of a motion in a world, for given bounds of the parameters."""

    certificates: tuple[PlanCertificate, ...]  # of plans in their order
    trouble: str = ''  # why there is none of the plans from another one on

    @property
    def holds(self) -> bool:
        """Whether every plan of the motion is proven; of one without plans nothing is."""
        return not self.trouble and all(each.holds for each in self.certificates)

    @property
    def smallest(self) -> Margin:
        """Margin that decides."""
        if not self.certificates:
            raise BoundError(self.trouble)
        failing = [c.smallest for c in self.certificates if not c.holds]
        return min(failing or [c.smallest for c in self.certificates], key=_share)

    def __str__(self) -> str:
        if self.trouble:
            return f'not certified: {self.trouble}'
        verdict = 'certified' if self.holds else 'not certified'
        return f'{verdict}, smallest margin: {self.smallest}'


def plan(
    arm: ArmLike,
    start: Array | None = None,
    goal: Array | None = None,
    world: World = None,
    payload: Payload | str | PathLike[str] | None = None,
    loop: str | PathLike[str] | None = None,
    seconds: float = 60.0,
    cost: MotionObjective | None = None,
) -> CertifiedMotion:
    """Plan a certified motion to a goal, or one that teaches what the arm holds.

    Args:
        arm: what `load_arm` returns or takes.
        start: joint positions at rest [rad], (n,); default: where the simulators start.
        goal: joint positions [rad], (n,); None: one motion that narrows the bounds most.
        world: obstacles: a name (`shelf`), a YAML file, or boxes by name in the base frame [m];
            None: those that the loop file names, as for `safe-sysid run`; `{}`: none.
        payload: what is known to be held; None: anything within the prior of the loop file, with
            the shapes of its `payload` and `library`.
        loop: settings of gains, prior and planner; default: `config/loop/<arm>.yaml`.
        seconds: of wall time for all searches [s].
        cost: of your own, from `own_cost`: steers the search beside what plans are for.

    Returns:
        Plans with their certificates, or why there are none; print it.

    """
    until = number('seconds', seconds, Range(at_least=0.0))
    settings = read_loop(load_arm(arm), loop, payload)
    obstacles = obstacles_of(world, settings)
    first = settings.position(start)
    mission = _mission(settings, goal)
    planner = RecedingHorizonPlanner(
        resting_problem(settings, first, obstacles),
        mission,
        Clock(0),
        settings.planner,
        own_cost=cost_from(cost),
    )
    try:
        planner.warm_up(first, settings.prior)
    except BoundError as error:
        nothing = f'{SearchOutcome.UNUSABLE.value}: {error}'
        return CertifiedMotion(settings, obstacles, (), nothing, is_complete=False)
    walk = _Walk(planner, settings.prior, first)
    walk.go(time.monotonic() + until)
    complete = walk.result.outcome is SearchOutcome.NOTHING_DUE
    outcome = 'nothing is left to do' if complete and goal is None else 'the goal is reached'
    return CertifiedMotion(
        settings,
        obstacles,
        tuple(walk.plans),
        outcome if complete else str(walk.result),
        complete,
        cost or objective_of(settings.planner.own_cost, settings.model),
    )


def certify(
    motion: CertifiedMotion, world: World = None, bounds: ParameterEstimate | None = None
) -> MotionProof:
    """Prove a motion once more, in another world or for other bounds of the parameters.

    What is proven is what its plans say that joints do, one plan after the other: what they were
    certified for before does not count.

    Args:
        motion: what `plan` returned.
        world: obstacles instead of those it was planned among; None: the same.
        bounds: of all parameters of the arm (14 n); None: the same.

    Returns:
        Certificates of all plans; `holds` says whether every one is proven, `trouble` why one
        cannot be.

    """
    of_kind('motion', motion, CertifiedMotion, 'what `plan` returns')
    if bounds is not None:
        of_kind('bounds', bounds, ParameterEstimate, 'a ParameterEstimate, such as that of a run')
    obstacles = motion.obstacles if world is None else obstacles_of(world, motion.loop)
    if not motion.plans:
        return MotionProof((), NO_PLANS)
    loop, first = motion.loop, motion.plans[0]
    resting = resting_problem(loop, first.curve.q0, obstacles)
    planner = loop.planner
    steps = replace(resting.horizon, intervals=planner.intervals, degree=planner.degree)
    return MotionProof(*proof_of(motion.plans, replace(resting, horizon=steps), bounds))


def obstacles_of(world: World, settings: LoopFile) -> Obstacles:
    """Return obstacles by name in the base frame; None: those that the loop file names."""
    if world is None:
        return settings.obstacles()
    return Obstacles.of(world if isinstance(world, Mapping) else read_world(str(world)))


def resting_problem(settings: LoopFile, position: Array, obstacles: Obstacles) -> Problem:
    """Return what sets are made for, with curves that begin at rest."""
    rest = np.zeros_like(position)
    curve = Bezier(position, rest, rest, settings.planner.duration)
    horizon = Horizon(curve, rest, rest)
    arm = settings.model, settings.prior, horizon, settings.gains
    return Problem(*arm, obstacles, sampling=settings.sampling)


class _Walk:
    """A planner asked again and again, as if the arm followed its plans exactly."""

    def __init__(
        self, planner: RecedingHorizonPlanner, estimate: ParameterEstimate, first: Array
    ) -> None:
        self._planner, self._estimate = planner, estimate
        self._first = first
        self.plans: list[Plan] = []
        self.result: PlanResult = self._ask(0.0)

    def go(self, until: float) -> None:
        """Ask until all is done, nothing is found any more, or the time [s] is over."""
        t, failures = 0.0, 0
        while self.result.outcome is not SearchOutcome.NOTHING_DUE and failures < TRIES:
            before, t = self.result, self._next_look(t)
            self.result = self._ask(t)
            if self.result is not before:
                failures = 0 if self.result.outcome is SearchOutcome.FOUND else failures + 1
                if time.monotonic() > until:
                    break

    def _next_look(self, t: float) -> float:
        """Return the time of the next look: no plan is late that takes over in between."""
        successor = self.result.successor
        if successor is not None and t < successor.start_time < t + LOOK:
            return successor.start_time
        return t + LOOK

    def _ask(self, t: float) -> PlanResult:
        q, qd = self._state_at(t)
        sample = JointMeasurement(round(t * 1e9), q, qd, np.zeros_like(q))
        result = self._planner.step(sample, self._estimate)
        if result.plan is not None and (not self.plans or self.plans[-1] is not result.plan):
            self.plans.append(result.plan)
        return result

    def _state_at(self, t: float) -> tuple[Array, Array]:
        """Return position and velocity of an arm that follows its plan exactly."""
        if not self.plans:
            return self._first, np.zeros_like(self._first)
        q, qd, _ = self.plans[-1].desired(max(t, self.plans[-1].start_time))
        return q, qd


def _mission(settings: LoopFile, goal: Array | None) -> Mission:
    exciting = 1 if goal is None else 0
    chosen = replace(settings.mission, exciting=exciting)
    return Mission(settings.model, settings.goal(goal), chosen)


def _share(margin: Margin) -> float:
    return margin.margin / abs(margin.limit) if margin.limit else margin.margin
