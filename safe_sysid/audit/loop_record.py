"""LoopRecord: a run of the closed loop as plain arrays, for figures, pages and comparisons."""

from __future__ import annotations

from dataclasses import dataclass
import itertools

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.closed_loop import LoopSample
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.estimate_series import EstimateSeries
from safe_sysid.measure.clock import Clock
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.result import PlanResult
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.track.tracking import shortest_turn
from safe_sysid.trajectory.plan import Plan


@dataclass(frozen=True)
class PlanningEntry:
    """What the planner said whenever it said something new."""

    time: float  # [s]
    outcome: str
    sentence: str
    cost: float  # of the plan found; infinite without one
    seconds: float  # of the search; 0 without one
    plan: int  # which plan is in force, see `LoopRecord.plan`


@dataclass(frozen=True, eq=False)
class LoopRecord:
    """N control periods of an arm with n joints.

    Bounds are those that the certificate of the plan in force promises; NaN where it has none.
    """

    joint_names: tuple[str, ...]
    torque_limit: Array  # (n,) [N m]
    time: Array  # (N,) [s] of the measurement, on the clock of the plans
    q: Array  # (N, n) [rad] measured
    qd: Array  # (N, n) [rad/s]
    q_d: Array  # (N, n) [rad] desired
    qd_d: Array  # (N, n) [rad/s]
    error: Array  # (N, n) [rad] desired minus measured, wrapped on continuous joints
    error_bound: Array  # (N, n) [rad] of |error|
    tau: Array  # (N, n) [N m] applied
    tau_lower: Array  # (N, n) [N m] the least that the plan may need
    tau_upper: Array  # (N, n) [N m]
    plan: IntArray  # (N,) number of the plan in force, from 0
    plan_start: Array  # (P,) [s] of every plan
    estimates: EstimateSeries
    planning: tuple[PlanningEntry, ...]
    fault: str  # empty if there was none
    fault_time: float  # [s] since when the arm braked because of it; NaN without a fault


class LoopRecorder:
    """Give its `take` to `closed_loop.run` as `watch`, then ask for the `record`."""

    def __init__(self, model: RobotModel, clock: Clock) -> None:
        self._model, self._clock = model, clock
        self.moments: list[LoopSample] = []

    def take(self, moment: LoopSample) -> None:
        """Keep a control period."""
        self.moments.append(moment)

    def record(self) -> LoopRecord:
        """Everything taken so far."""
        moments, limits = self.moments, self._model.limits
        if not moments:
            raise MeasurementError(
                'no period was recorded; give `take` to closed_loop.run as `watch`'
            )
        time = np.array([self._clock.seconds(m.measurement.stamp) for m in moments])
        plans = [m.result.in_force for m in moments]
        number = np.cumsum([0, *(a is not b for a, b in itertools.pairwise(plans))])
        parts = [promised(plan, time[number == i]) for i, plan in enumerate(_distinct(plans))]
        q_d, qd_d, error_bound, tau_lower, tau_upper = (
            np.concatenate(column) for column in zip(*parts, strict=True)
        )
        q = np.array([m.measurement.position for m in moments])
        faults = [i for i, m in enumerate(moments) if m.fault]
        return LoopRecord(
            joint_names=self._model.layout.joint_names,
            torque_limit=limits.torque,
            time=time,
            q=q,
            qd=np.array([m.measurement.velocity for m in moments]),
            q_d=q_d,
            qd_d=qd_d,
            error=shortest_turn(q_d - q, limits.is_continuous),
            error_bound=error_bound,
            tau=np.array([m.torque for m in moments]),
            tau_lower=tau_lower,
            tau_upper=tau_upper,
            plan=number,
            plan_start=np.array([plan.start_time for plan in _distinct(plans)]),
            estimates=_estimates(time, [m.estimate for m in moments]),
            planning=_planning(number, [m.result for m in moments]),
            fault=moments[faults[0]].fault if faults else '',
            fault_time=float(time[faults[0]]) if faults else float('nan'),
        )


def _distinct(plans: list[Plan]) -> list[Plan]:
    """Plans in the order they were followed, each run of the same one once."""
    return [plans[0], *(b for a, b in itertools.pairwise(plans) if a is not b)]


def promised(plan: Plan, time: Array) -> tuple[Array, ...]:
    """Desired positions and velocities, and bounds of error and torque, (N, n) each."""
    states = [plan.desired(max(t, plan.start_time)) for t in time]
    q_d, qd_d = (np.array([state[order] for state in states]) for order in range(2))
    certificate = plan.certificate
    if not isinstance(certificate, PlanCertificate):
        unknown = np.full_like(q_d, np.nan)
        return q_d, qd_d, unknown, unknown, unknown
    bound = np.broadcast_to(certificate.error.position, q_d.shape)
    lower, upper = _torque_bounds(certificate, time - plan.start_time)
    return q_d, qd_d, bound, lower, upper


def _torque_bounds(certificate: PlanCertificate, since_start: Array) -> tuple[Array, Array]:
    """Torques that the certificate allows for, (N, n) each; after the end as in its last step."""
    starts, lower, upper, begin = [], [], [], 0.0
    for piece in (certificate, *certificate.then):
        problem = piece.problem
        reached = ReachableSet.of(problem).torque.bound()
        starts.append(begin + problem.horizon.time.lower)
        lower.append(reached.lower)
        upper.append(reached.upper)
        begin += problem.horizon.curve.duration
    step = np.searchsorted(np.concatenate(starts), since_start, side='right') - 1
    step = np.maximum(step, 0)
    return np.concatenate(lower)[step], np.concatenate(upper)[step]


def _estimates(time: Array, estimates: list[ParameterEstimate]) -> EstimateSeries:
    pairs = enumerate(itertools.pairwise(estimates), start=1)
    changes = [0, *(i for i, (a, b) in pairs if a is not b)]
    chosen = [estimates[i] for i in changes]
    return EstimateSeries(
        time[changes],
        np.array([x.end_effector for x in chosen]),
        np.array([x.end_effector_bounds.lower for x in chosen]),
        np.array([x.end_effector_bounds.upper for x in chosen]),
    )


def _planning(number: IntArray, results: list[PlanResult]) -> tuple[PlanningEntry, ...]:
    pairs = enumerate(itertools.pairwise(results), start=1)
    changes = [0, *(i for i, (a, b) in pairs if a is not b)]
    return tuple(_entry(results[i], int(number[i])) for i in changes)


def _entry(result: PlanResult, plan: int) -> PlanningEntry:
    finding = result.finding
    seconds = 0.0 if finding.seconds is None else float(finding.seconds['total'])
    return PlanningEntry(
        result.time, finding.outcome.value, str(result), finding.cost, seconds, plan
    )
