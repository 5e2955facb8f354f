"""The whole system on one page: measure, identify, plan, track, and again; no ROS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import SafeSysidError
from safe_sysid.identify.online_identifier import OnlineIdentifier
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.receding_horizon import RecedingHorizonPlanner
from safe_sysid.plan.result import PlanResult
from safe_sysid.plan.watch import refuse_broken_promise
from safe_sysid.track.braking import Braking
from safe_sysid.track.controller import BrakingLaw
from safe_sysid.track.guarded_torque import GuardInput
from safe_sysid.track.sensed_passivity import SensedPassivityController
from safe_sysid.trajectory.plan import Plan

AT_REST = 0.02  # [rad/s] in every joint
SETTLING = 1_000_000_000  # [ns] after the end of a plan in which an arm should come to rest
LONGEST_BRAKING = 100_000  # periods, should the stamps of measurements stand still


class Robot(Protocol):
    """An arm, real or simulated."""

    def measure(self) -> JointMeasurement:
        """Return the newest sample."""

    def apply(self, torque: Array) -> None:
        """Hold a torque for one control period."""


@dataclass(frozen=True, eq=False)
class LoopSample:
    """Inputs and outputs of every stage in one control period."""

    measurement: JointMeasurement
    estimate: ParameterEstimate
    result: PlanResult  # whose plan was in force
    torque: Array  # (n,) [N m] applied
    fault: str = ''  # why the arm brakes; empty as long as there is no fault


class BrakedRobot(Robot, Protocol):
    """A robot that something else can hold."""

    def stand(self) -> None:
        """Be held at rest for one control period."""


def unwatched(_: LoopSample) -> None:
    """Nobody looks on."""


def look(robot: BrakedRobot, controller: SensedPassivityController, seconds: float) -> None:
    """Show an arm that is held at rest to the controller, until it may give a torque."""
    begin = robot.measure().stamp
    while robot.measure().stamp - begin < seconds * 1e9:
        controller.look(robot.measure())
        robot.stand()


def run(
    robot: Robot,
    identifier: OnlineIdentifier,
    planner: RecedingHorizonPlanner,
    controller: BrakingLaw,
    steps: int,
    watch: Callable[[LoopSample], None] = unwatched,
    last: LoopSample | None = None,
) -> LoopSample | None:
    """Identify the arm while moving it safely, for a number of control periods.

    Whatever fails in a stage ends the run: the arm brakes along the certified plan in force, and
    then `LoopFault` is raised, which says why and whether the arm is at rest. `watch` sees every
    period. A controller that sees positions only has to `look` at the arm before. Returned is the
    last sample, which a run that goes on with a moving arm has to be given to brake it.
    """
    followed = None if last is None else last.result.in_force
    for _ in range(steps):
        measurement = robot.measure()
        try:
            estimate = identifier.step(measurement)
            result = planner.step(measurement, estimate)
            torque = controller.step(measurement, result.in_force, estimate)
            followed = followed_at(planner.clock.seconds(measurement.stamp), result, followed)
            refuse_broken_promise(measurement, followed, planner.clock)
        except SafeSysidError as cause:
            if last is not None:
                braking = Braking(planner.clock, controller)
                last = brake(robot, braking, replace(last, fault=str(cause)), watch)
            raise LoopFault(cause, last) from cause
        robot.apply(torque)
        last = LoopSample(measurement, estimate, result, torque)
        watch(last)
    return last


def followed_at(now: float, result: PlanResult, before: Plan | None) -> Plan:
    """Return the plan in force at a sample; that of its torque may begin a little later."""
    plan = result.in_force
    return plan if before is None or now >= plan.start_time else before


class LoopFault(SafeSysidError):  # noqa: N818 - a fault is what it is
    """A stage failed; raised when the arm has braked, or at once if it never got a torque."""

    def __init__(self, cause: SafeSysidError, last: LoopSample | None) -> None:
        super().__init__(f'{cause}; {_whereabouts(last)}')
        self.cause = cause
        self.last = last  # moment of the arm


def _whereabouts(last: LoopSample | None) -> str:
    """Return what the arm did after a fault, and does now."""
    if last is None:
        return 'the arm has got no torque'
    braked = 'the arm braked along its certified plan'
    speed = float(np.abs(last.measurement.velocity).max())
    if speed <= AT_REST:
        return f'{braked} and is at rest'
    return f'{braked}, but still moves with {speed:.3g} rad/s: engage its brakes'


def brake(
    robot: Robot, braking: Braking, last: LoopSample, watch: Callable[[LoopSample], None]
) -> LoopSample:
    """Follow the plan in force to its end, by what the plan needs when measurements are bad."""
    plan = last.result.in_force
    for _ in range(LONGEST_BRAKING):
        measurement = robot.measure()
        now = measurement.stamp
        seen = GuardInput(None, measurement, plan, last.estimate)
        torque, _ = braking.step(now, measurement, seen)
        if torque is None:
            torque, _ = braking.step(now, None, seen)
        held = last.torque if torque is None else torque
        robot.apply(held)
        last = replace(last, measurement=measurement, torque=held)
        watch(last)
        if braking.is_over(now) and (
            np.abs(measurement.velocity).max() <= AT_REST or braking.is_over(now - SETTLING)
        ):
            break
    return last
