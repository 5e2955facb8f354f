"""identify -> plan: estimates in, certified plans out."""

from __future__ import annotations

import os
import sys
import time

from rclpy.node import Node
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.measure.sample_order import Arrival
from safe_sysid.plan.announced import Announced
from safe_sysid.plan.restarting import RestartingPlanner
from safe_sysid.plan.session import Session
from safe_sysid.ros.messages.avoided_obstacles import AvoidedObstacles
from safe_sysid.ros.messages.codec import estimate_of, followed_of
from safe_sysid.ros.messages.plan_publisher import PlanPublisher
from safe_sysid.ros.messages.planned_answers import PlannedAnswers
from safe_sysid.ros.messages.qos import OBSTACLES, STATE
from safe_sysid.ros.messages.subscriptions import Subscriptions
from safe_sysid.ros.process.main import main_of
from safe_sysid.ros.process.parameters import read_config
from safe_sysid.ros.process.planner_settings import PlannerNodeSettings
from safe_sysid.ros.watch.health import Condition, Health
from safe_sysid.ros.watch.newest_measurement import NewestMeasurement
from safe_sysid.ros.watch.sample_gate import SampleGate
from safe_sysid.track.supervisor import Cause, Mode

NICENESS = 5  # a search takes all cores it gets; those who are in the control path come first


class PlannerNode(Node):
    """Keeps a certified successor ready for the plan in force; answers before it is needed.

    Its search blocks this process and nothing else; a queue depth of 1 hands it the newest sample
    afterwards. What the arm follows is what the controller says, and where the two differ the
    planner begins again, once the arm is at rest.
    """

    def __init__(self) -> None:
        super().__init__('planner', automatically_declare_parameters_from_overrides=True)
        os.nice(NICENESS)
        self._settings = settings = read_config(self, PlannerNodeSettings)
        self._arm = arm = settings.arm()
        missions = settings.missions(arm.model)
        self._avoided = avoided = AvoidedObstacles(self, arm.model, settings.world)
        planner = RestartingPlanner if settings.is_lockstep else RestartingPlanner.in_real_time
        self._planner = planner(lambda: settings.problem(arm, avoided.boxes), settings.planner)
        self._session = Session(self._planner, missions, settings.failures)
        self._announced = Announced()
        self._gate = SampleGate.of(settings.is_lockstep, ('parameter_estimate',))
        self._estimate = arm.prior
        self._sample: JointMeasurement | None = None
        self._trouble = ''
        self._connect()

    def _connect(self) -> None:
        model = self._arm.model
        self._plans = PlanPublisher(self, model)
        self._answers = PlannedAnswers(self, self._settings.is_lockstep, self._announced)
        self._health = Health(self, self._condition)
        subscribe = Subscriptions(self, self._complain).add
        subscribe(String, 'mode', self._on_mode, STATE)
        subscribe(Float64MultiArray, 'parameter_estimate', self._on_estimate, STATE)
        subscribe(JointTrajectory, 'plan_in_force', self._on_plan_in_force, STATE)
        subscribe(MarkerArray, 'obstacles', self._on_obstacles, OBSTACLES)
        is_lockstep, names = self._settings.is_lockstep, model.layout.joint_names
        self._measured = NewestMeasurement(self, names, is_lockstep, self._on_measurement)
        self._avoided.publish()

    def _complain(self, sentence: str) -> None:
        self._trouble = sentence

    def close(self) -> None:
        """Stop listening."""
        self._measured.close()

    def _on_measurement(self, measurement: JointMeasurement, arrival: Arrival) -> None:
        stamp, mode = measurement.stamp, self._session.mode
        if arrival is Arrival.OLD and not self._answers.is_missing(stamp, mode):
            return
        if arrival is Arrival.JUMPED:
            self._planner.begin_again()
        self._sample = measurement
        self._go_on()

    def _go_on(self) -> None:
        """Look at the sample, if all that it needs is there."""
        if self._sample is None or not self._gate.is_open(self._sample.stamp):
            return
        measurement, self._sample = self._sample, None
        if not self._planner.is_warm:
            self._warm_up(measurement)
        self._plan(measurement)
        self._answers.answer(measurement.stamp, self._session.mode)

    def _warm_up(self, measurement: JointMeasurement) -> None:
        self._trouble = 'compiling; until it is done there are no plans'
        self._health.announce()
        self._session.warm_up(measurement, self._estimate)
        self._trouble = ''

    def _plan(self, measurement: JointMeasurement) -> None:
        result = self._session.step(measurement, self._estimate, time.monotonic())
        if result is None:
            return
        clock = self._planner.clock
        for plan in self._announced.new(result, clock):
            self._plans.publish(plan, clock, clock.stamp(result.time))
        self._health.announce()  # every result, so that a recording has all of them

    def _on_mode(self, msg: String) -> None:
        self._session.turn_to(msg.data if msg.data in Mode._value2member_map_ else '')

    def _on_estimate(self, msg: Float64MultiArray) -> None:
        told = estimate_of(msg, self._arm.model.layout)
        self._estimate = told.estimate
        self._gate.note('parameter_estimate', told.stamp)
        self._go_on()

    def _on_plan_in_force(self, msg: JointTrajectory) -> None:
        self._planner.note_followed(followed_of(msg, self._arm.model.layout.joint_names))

    def _on_obstacles(self, msg: MarkerArray) -> None:
        """Avoid what RViz shows, from the next time on that the arm is at rest."""
        self._avoided.hear(msg)
        self._planner.begin_again()
        self._avoided.publish()

    def _condition(self) -> Condition:
        session = self._session
        figures = {**session.figures(), 'obstacles': len(self._avoided.boxes)}
        faults = frozenset({Cause.NO_PLAN} if session.has_failed else ())
        trouble = session.complaint() or self._trouble or self._measured.trouble
        return Condition(trouble, faults, figures)


def main() -> int:
    """Run the node."""
    return main_of(PlannerNode)


if __name__ == '__main__':
    sys.exit(main())
