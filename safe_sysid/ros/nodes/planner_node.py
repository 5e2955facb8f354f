"""identify -> plan: estimates in, certified plans out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
import os
import sys
import time

import numpy as np
from rclpy.clock import Clock as SteadyClock
from rclpy.clock import ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, String
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from safe_sysid.config import Count, Finite
from safe_sysid.errors import ConfigError, MeasurementError, MessageError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.measure.sample_order import Arrival, SampleOrder
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.collision.world import read_world
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.agreement import Followed
from safe_sysid.plan.announced import Announced
from safe_sysid.plan.answers import Answers
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.receding_horizon import PlannerSettings
from safe_sysid.plan.restarting import RestartingPlanner
from safe_sysid.plan.result import PlanResult
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.ros.messages.codec import (
    JointStateReader,
    estimate_message,
    estimate_of,
    name_of,
    notice_of,
    plan_message,
    plan_notice,
    time_of,
)
from safe_sysid.ros.messages.drawings import frame_of_base, obstacle_markers, obstacles_in
from safe_sysid.ros.messages.newest_sample import NewestSample
from safe_sysid.ros.messages.plan_drawings import plan_path, reachable_balls
from safe_sysid.ros.messages.qos import ANSWERS, NEWEST_SAMPLE, OBSTACLES, PLANS, STATE
from safe_sysid.ros.process.loop_settings import LoopSettings
from safe_sysid.ros.process.main import main_of
from safe_sysid.ros.process.parameters import read_config
from safe_sysid.ros.watch.health import Condition, Health
from safe_sysid.ros.watch.sample_gate import SampleGate
from safe_sysid.ros.watch.single_publisher import SourceWatch
from safe_sysid.sets.box import Box
from safe_sysid.track.supervisor import Cause, Mode
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

LOOK = 0.005  # [s] between two looks for a sample
NICENESS = 5  # a search takes all cores it gets; those who are in the control path come first


@dataclass(frozen=True)
class PlannerNodeSettings(LoopSettings):
    """Parameters of the planner."""

    planner: PlannerSettings = field(default_factory=PlannerSettings)
    mission: MissionSettings = field(default_factory=MissionSettings)
    goal: tuple[Finite, ...] = ()  # [rad] where the task leads to; empty: there is no task
    world: str = 'empty'  # obstacles: of config/worlds, or a YAML file
    failures: Count = 5  # searches in a row without a plan before that is a fault


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
        if len(settings.goal) not in (0, arm.model.n):
            raise ConfigError(f'goal has {len(settings.goal)} entries, not {arm.model.n}')
        self._frame = frame_of_base(arm.model)
        self._boxes: dict[str, Box] = read_world(settings.world)
        self._reader = JointStateReader(arm.model.layout.joint_names)
        self._order, self._sources = SampleOrder(), SourceWatch()
        self._gate = SampleGate.of(settings.is_lockstep, ('parameter_estimate',))
        self._mode: Mode | None = None
        self._estimate = arm.prior
        self._planner = self._new_planner()
        self._missions = self._new_missions()
        self._sample: JointMeasurement | None = None
        self._announced = Announced()
        self._answers = Answers()
        self._trouble = self._bad_sample = ''
        self._connect()

    def _connect(self) -> None:
        self._plans = self.create_publisher(JointTrajectory, 'plan', PLANS)
        self._certified = self.create_publisher(Float64MultiArray, 'certified_estimate', PLANS)
        self._planned = self.create_publisher(Header, 'planned', ANSWERS)
        self._paths = self.create_publisher(MarkerArray, 'plan_markers', STATE)
        self._reach = self.create_publisher(MarkerArray, 'reachable_set', STATE)
        self._avoided = self.create_publisher(MarkerArray, 'avoided', STATE)
        self._health = Health(self, self._condition)
        subscribe = self.create_subscription
        subscribe(String, 'mode', self._on_mode, STATE)
        subscribe(Float64MultiArray, 'parameter_estimate', self._on_estimate, STATE)
        subscribe(JointTrajectory, 'plan_in_force', self._on_plan_in_force, STATE)
        subscribe(MarkerArray, 'obstacles', self._on_obstacles, OBSTACLES)
        self._newest_sample = NewestSample(self)
        if self._settings.is_lockstep:
            subscribe(JointState, 'joint_states', self._on_sample, NEWEST_SAMPLE)
        else:
            steady = SteadyClock(clock_type=ClockType.STEADY_TIME)
            self._timer = self.create_timer(LOOK, self._look, clock=steady)
        self._avoided.publish(obstacle_markers(self._boxes, self._frame, 0))

    def _new_missions(self) -> dict[Mode, Mission]:
        """What plans are for, in each mode that has any."""
        model, settings = self._arm.model, self._settings
        goal = np.array(settings.goal) if settings.goal else None
        learned = replace(settings.mission, exciting=0)
        return {
            Mode.EXCITING: Mission(model, None, settings.mission),
            Mode.TASK: Mission(model, goal, learned),
        }

    def _look(self) -> None:
        msg = self._newest_sample.take()
        if msg is not None:
            self._on_sample(msg)

    def close(self) -> None:
        """Stop listening."""
        self._newest_sample.close()

    def _on_sample(self, msg: JointState) -> None:
        if not self._sources.accepts(msg.header.frame_id, time.monotonic()):
            return
        try:
            measurement = self._reader.measurement(msg)
        except MeasurementError as error:
            self._bad_sample = str(error)
            return
        self._bad_sample = ''
        arrival = self._order.step(measurement.stamp)
        if arrival is Arrival.OLD and not self._is_asked_again(measurement.stamp):
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
        if self._mode in self._missions:
            self._plan(self._missions[self._mode], measurement)
        self._answer(measurement.stamp)

    def _answer(self, stamp: int) -> None:
        """In lockstep the controller waits for this; plans are for one mode."""
        self._answers.note(stamp, self._mode_name)
        if self._settings.is_lockstep and self._mode is not None:
            said = f'{self._mode_name} {self._announced.newest}'
            self._planned.publish(Header(stamp=time_of(stamp), frame_id=said))

    def _is_asked_again(self, stamp: int) -> bool:
        """Whether a sample still wants to be looked at; an answer that got lost is given again."""
        if not self._settings.is_lockstep:
            return False
        if self._answers.has(stamp, self._mode_name):
            self._answer(stamp)
        return self._answers.lacks(stamp, self._mode_name)

    @property
    def _mode_name(self) -> str:
        return '' if self._mode is None else self._mode.value

    def _warm_up(self, measurement: JointMeasurement) -> None:
        """Have everything compiled while the arm does not move."""
        self._trouble = 'compiling; until it is done there are no plans'
        self._health.announce()
        self._planner.warm_up(self._missions.values(), measurement, self._estimate)
        self._trouble = ''

    def _plan(self, mission: Mission, measurement: JointMeasurement) -> None:
        result = self._planner.step(mission, measurement, self._estimate, time.monotonic())
        if result is not None:
            self._publish(result, self._planner.clock)
            self._health.announce()  # every result, so that a recording has all of them

    def _new_planner(self) -> RestartingPlanner:
        """In lockstep planner and controller look at the same samples, so they agree."""
        settings = self._settings
        if settings.is_lockstep:
            return RestartingPlanner(self._problem, settings.planner)
        return RestartingPlanner.in_real_time(self._problem, settings.planner)

    def _problem(self) -> Problem:
        """For this arm, among the obstacles that are known now; any curve will do."""
        arm, rest = self._arm, np.zeros(self._arm.model.n)
        any_curve = Bezier(rest, rest, rest, self._settings.planner.duration)
        horizon = Horizon(any_curve, rest, rest)
        return Problem(arm.model, arm.prior, horizon, arm.gains, Obstacles.of(self._boxes))

    def _publish(self, result: PlanResult, clock: Clock) -> None:
        """Tell plans that are new, each once, and what they were certified for."""
        for plan in self._announced.new(result, clock):
            estimate = certified_estimate(self._arm.prior, plan)
            self._certified.publish(estimate_message(estimate, clock.stamp(result.time)))
            notice = notice_of(plan, clock, name_of(estimate))
            self._plans.publish(plan_message(notice, self._arm.model.layout.joint_names))
            self._draw(plan, notice.start)

    def _draw(self, plan: Plan, stamp: int) -> None:
        """For RViz; sets are computed only where somebody looks at them."""
        self._paths.publish(plan_path(self._arm.model, plan, self._frame, stamp))
        if self._reach.get_subscription_count():
            self._reach.publish(reachable_balls(plan, self._frame, stamp))

    def _on_mode(self, msg: String) -> None:
        mode = Mode(msg.data) if msg.data in Mode._value2member_map_ else None
        if mode is not self._mode:
            self._planner.forget()
        self._mode = mode

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
            self._planner.followed = None
            return
        try:
            notice = plan_notice(msg, self._arm.model.layout.joint_names)
        except MessageError as error:
            self._trouble = str(error)
            return
        end = notice.start + round(notice.motion.duration * 1e9)
        self._planner.followed = Followed(notice.start, end)

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
        planner = self._planner
        failed = planner.failures >= self._settings.failures
        figures = {
            'is warm': planner.is_warm,
            **planner.figures(),
            'nothing left to do in': self._mode_name if planner.is_done else '',
            'failed searches in a row': planner.failures,
            'obstacles': len(self._boxes),
        }
        has_words = failed and planner.result is not None
        trouble = (str(planner.result) if has_words else self._trouble) or self._bad_sample
        return Condition(trouble, frozenset({Cause.NO_PLAN} if failed else ()), figures)


def certified_estimate(prior: ParameterEstimate, plan: Plan) -> ParameterEstimate:
    """Nominal parameters and bounds that a plan was certified for."""
    if plan.theta_bounds is None or plan.theta_0 is None:
        raise ConfigError('a plan without the bounds it was certified for is not sent')
    return ParameterEstimate(prior.layout, plan.theta_0, plan.theta_bounds)


def main() -> int:
    """Run the node."""
    return main_of(PlannerNode)


if __name__ == '__main__':
    sys.exit(main())
