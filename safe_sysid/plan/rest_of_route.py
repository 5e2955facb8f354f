"""Rest of a route: motions from where a plan begins to its end, and what is proven of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
import itertools

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.dynamics.regressors import slotine_li_regressor
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.path.route import Follow
from safe_sysid.plan.search.pieces import certified, horizon_of
from safe_sysid.plan.search.task_settings import TaskSettings, lasting
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.margin import TORQUE, Margin
from safe_sysid.reach.problem import Problem
from safe_sysid.trajectory.task_motion import TaskMotion, minimum_jerk

SHORTER = (0.5, 0.25)  # of as few motions as are needed
VIA = 0.5  # of a motion's length, the point that it goes through


@dataclass(frozen=True, eq=False)
class Refusal:
    """The piece of a route that is not certified."""

    motion: int  # number of the motion, from 0
    margin: Margin | None  # that fails; None: the tracking error has no bound
    sentence: str
    weight: Array | None  # (10,) |torque of the joint that fails| per entry of theta_e

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False)
class RouteProof:
    """What is proven of the rest of a route, for one set of bounds."""

    certificates: tuple[PlanCertificate, ...]  # of every piece, as far as they hold
    refusal: Refusal | None  # of the first piece that has none

    @property
    def holds(self) -> bool:
        """Whether every piece of every motion is certified, one after the other."""
        return self.refusal is None


@dataclass(frozen=True, eq=False)
class RestOfRoute:
    """Motions that end at rest on a route, each of them where the one before ended.

    The first begins as the plans of the problem do; the last ends where the route does.
    """

    problem: Problem
    motions: tuple[TaskMotion, ...]

    @staticmethod
    def along(
        problem: Problem, follow: Follow, durations: tuple[float, float], longest: float
    ) -> RestOfRoute:
        """Return as few motions of equal length as are needed, none longer [rad] than allowed."""
        route, curve = follow.route, problem.horizon.curve
        count = max(1, int(np.ceil((route.length - follow.begin) / longest)))
        ends = np.linspace(follow.begin, route.length, count + 1)
        state, motions = (curve.q0, curve.qd0, curve.qdd0), []
        for before, end in itertools.pairwise(ends.tolist()):
            via = route.toward(state[0], before + VIA * (end - before))
            motion = minimum_jerk(state, via, route.toward(via, end), durations)
            state = motion.pieces[-1].end
            motions.append(motion)
        return RestOfRoute(problem, tuple(motions))

    @property
    def seconds(self) -> float:
        """Time that all motions take."""
        return sum(motion.duration for motion in self.motions)

    def proof(self, estimate: ParameterEstimate) -> RouteProof:
        """Certify piece after piece for these bounds, until one has no certificate."""
        problem = replace(self.problem, bounds=estimate)
        proven: list[PlanCertificate] = []
        for number, motion in enumerate(self.motions):
            for piece in motion.pieces:
                horizon = horizon_of(problem, piece)
                try:
                    found = certified(problem, horizon, proven[-1] if proven else None)
                except BoundError as error:  # its tracking error has no bound
                    refusal = Refusal(number, None, str(error), None)
                    return RouteProof(tuple(proven), refusal)
                if not found.holds:
                    return RouteProof(tuple(proven), _refusal(number, found))
                proven.append(found)
        return RouteProof(tuple(proven), None)


def ways_along(problem: Problem, follow: Follow, task: TaskSettings) -> list[RestOfRoute]:
    """Return the same way by the motions that a search would try, the fastest first.

    Slower ones and shorter ones take more time.
    """
    kinds = [(1.0, pace) for pace in task.paces] + [(share, 1.0) for share in SHORTER]
    left = follow.route.length - follow.begin
    longest = min(task.longest, max(left, task.shortest))
    ways: dict[tuple[int, float], RestOfRoute] = {}
    for share, pace in kinds:
        durations = lasting(task.durations, pace)
        way = RestOfRoute.along(problem, follow, durations, share * longest)
        ways.setdefault((len(way.motions), pace), way)
    return sorted(ways.values(), key=lambda way: way.seconds)


def _refusal(number: int, certificate: PlanCertificate) -> Refusal:
    margin = certificate.smallest
    return Refusal(number, margin, str(margin), _weight(certificate, margin))


def _weight(certificate: PlanCertificate, margin: Margin) -> Array | None:
    """|Torque per entry of theta_e| of the joint and in the middle of the time that fails."""
    problem = certificate.problem
    layout = problem.model.layout
    if margin.kind != TORQUE or margin.time is None:
        return None
    t, curve, k = float(np.mean(margin.time)), problem.horizon.curve, certificate.k
    q, qd, qdd = curve.position(t, k), curve.velocity(t, k), curve.acceleration(t, k)
    W = slotine_li_regressor(problem.model, q, qd, qd, qdd)
    weight: Array = np.abs(W[layout.joint_names.index(margin.where), layout.end_effector])
    return weight
