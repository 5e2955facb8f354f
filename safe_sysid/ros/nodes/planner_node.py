"""identify -> plan: estimates in, certified plans out."""

from __future__ import annotations

import os
import sys
import time

from rclpy.node import Node
from std_msgs.msg import Float64MultiArray, Header, String
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from safe_sysid.errors import MessageError
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.measure.sample_order import Arrival
from safe_sysid.model.collision.world import read_world
from safe_sysid.plan.agreement import Followed
from safe_sysid.plan.announced import Announced
from safe_sysid.plan.answers import Answers
from safe_sysid.plan.restarting import RestartingPlanner
from safe_sysid.plan.session import Session
from safe_sysid.ros.messages.codec import estimate_of, plan_notice, time_of
from safe_sysid.ros.messages.drawings import frame_of_base, obstacle_markers, obstacles_in
from safe_sysid.ros.messages.plan_publisher import PlanPublisher
from safe_sysid.ros.messages.qos import ANSWERS, OBSTACLES, STATE
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
        self._frame = frame_of_base(arm.model)
        self._boxes = read_world(settings.world)
        planner = RestartingPlanner if settings.is_lockstep else RestartingPlanner.in_real_time
        self._planner = planner(lambda: settings.problem(arm, self._boxes), settings.planner)
        self._session = Session(self._planner, missions, settings.failures)
        self._announced, self._answers = Announced(), Answers()
        self._gate = SampleGate.of(settings.is_lockstep, ('parameter_estimate',))
        self._estimate = arm.prior
        self._sample: JointMeasurement | None = None
        self._trouble = ''
        self._connect()

    def _connect(self) -> None:
        model = self._arm.model
        self._plans = PlanPublisher(self, model)
        self._planned = self.create_publisher(Header, 'planned', ANSWERS)
        self._avoided = self.create_publisher(MarkerArray, 'avoided', STATE)
        self._health = Health(self, self._condition)
        subscribe = self.create_subscription
        subscribe(String, 'mode', self._on_mode, STATE)
        subscribe(Float64MultiArray, 'parameter_estimate', self._on_estimate, STATE)
        subscribe(JointTrajectory, 'plan_in_force', self._on_plan_in_force, STATE)
        subscribe(MarkerArray, 'obstacles', self._on_obstacles, OBSTACLES)
        is_lockstep, names = self._settings.is_lockstep, model.layout.joint_names
        self._measured = NewestMeasurement(self, names, is_lockstep, self._on_measurement)
        self._avoided.publish(obstacle_markers(self._boxes, self._frame, 0))

    def close(self) -> None:
        """Stop listening."""
        self._measured.close()

    def _on_measurement(self, measurement: JointMeasurement, arrival: Arrival) -> None:
        if arrival is Arrival.OLD and not self._is_asked_again(measurement.stamp):
            return
        if arrival is Arrival.JUMPED:
            self._planner.begin_again()
        self._sample = measurement
        self._go_on()

    def _is_asked_again(self, stamp: int) -> bool:
        """Whether a sample still wants to be looked at; an answer that got lost is given again."""
        if not self._settings.is_lockstep:
            return False
        if self._answers.has(stamp, self._session.mode):
            self._answer(stamp)
        return self._answers.lacks(stamp, self._session.mode)

    def _go_on(self) -> None:
        """Look at the sample, if all that it needs is there."""
        if self._sample is None or not self._gate.is_open(self._sample.stamp):
            return
        measurement, self._sample = self._sample, None
        if not self._planner.is_warm:
            self._warm_up(measurement)
        self._plan(measurement)
        self._answer(measurement.stamp)

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

    def _answer(self, stamp: int) -> None:
        """In lockstep the controller waits for this; plans are for one mode."""
        self._answers.note(stamp, self._session.mode)
        if self._settings.is_lockstep and self._session.mode:
            said = f'{self._session.mode} {self._announced.newest}'
            self._planned.publish(Header(stamp=time_of(stamp), frame_id=said))

    def _on_mode(self, msg: String) -> None:
        self._session.turn_to(msg.data if msg.data in Mode._value2member_map_ else '')

    def _on_estimate(self, msg: Float64MultiArray) -> None:
        try:
            told = estimate_of(msg, self._arm.model.layout)
        except MessageError as error:
            self._trouble = str(error)
            return
        self._estimate = told.estimate
        self._gate.note('parameter_estimate', told.stamp)
        self._go_on()

    def _on_plan_in_force(self, msg: JointTrajectory) -> None:
        if not msg.points:
            self._planner.note_followed(None)
            return
        try:
            notice = plan_notice(msg, self._arm.model.layout.joint_names)
        except MessageError as error:
            self._trouble = str(error)
            return
        end = notice.start + round(notice.motion.duration * 1e9)
        self._planner.note_followed(Followed(notice.start, end))

    def _on_obstacles(self, msg: MarkerArray) -> None:
        """Avoid what RViz shows, from the next time on that the arm is at rest."""
        try:
            boxes = obstacles_in(msg, self._frame)
        except MessageError as error:
            self._trouble = str(error)
            return
        self._boxes = {**read_world(self._settings.world), **boxes}
        self._planner.begin_again()
        self._avoided.publish(obstacle_markers(self._boxes, self._frame, 0))

    def _condition(self) -> Condition:
        session = self._session
        figures = {**session.figures(), 'obstacles': len(self._boxes)}
        faults = frozenset({Cause.NO_PLAN} if session.has_failed else ())
        trouble = session.complaint() or self._trouble or self._measured.trouble
        return Condition(trouble, faults, figures)


def main() -> int:
    """Run the node."""
    return main_of(PlannerNode)


if __name__ == '__main__':
    sys.exit(main())
