"""The whole system on one page: measure, identify, plan, track, and again; no ROS."""

from __future__ import annotations

from typing import Protocol

from safe_sysid.arrays import Array
from safe_sysid.identify.online_identifier import OnlineIdentifier
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.plan.receding_horizon import RecedingHorizonPlanner
from safe_sysid.track.controller import Controller


class Robot(Protocol):
    """An arm, real or simulated."""

    def measure(self) -> JointMeasurement:
        """The newest sample."""

    def apply(self, torque: Array) -> None:
        """Hold a torque for one control period."""


def run(
    robot: Robot,
    identifier: OnlineIdentifier,
    planner: RecedingHorizonPlanner,
    controller: Controller,
    steps: int,
) -> None:
    """Identify the arm while moving it safely, for a number of control periods."""
    for _ in range(steps):
        measurement = robot.measure()
        estimate = identifier.step(measurement)
        plan = planner.step(measurement, estimate).in_force
        torque = controller.step(measurement, plan, estimate)
        robot.apply(torque)
