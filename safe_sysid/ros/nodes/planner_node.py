"""identify -> plan: estimates in, certified plans out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
import os
import sys
import time

from rclpy.clock import Clock, ClockType
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory

from safe_sysid.measure.arm_clock import ArmClock, standing
from safe_sysid.measure.clock import Clock as PlanClock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.measure.sample_order import Arrival
from safe_sysid.plan.awaited_mode import AwaitedMode
from safe_sysid.plan.handled_places import StandingAt
from safe_sysid.plan.message import followed_of
from safe_sysid.plan.result import PlanResult
from safe_sysid.reach.problem import Problem
from safe_sysid.ros.messages.avoided_obstacles import AvoidedObstacles
from safe_sysid.ros.messages.codec import estimate_of
from safe_sysid.ros.messages.handling_checks import HandlingChecks
from safe_sysid.ros.messages.plan_publisher import PlanPublisher
from safe_sysid.ros.messages.planned_answers import PlannedAnswers
from safe_sysid.ros.messages.qos import MODES, STATE
from safe_sysid.ros.messages.request_topics import PLACED_AVOIDED
from safe_sysid.ros.messages.requested_goals import RequestedGoals
from safe_sysid.ros.messages.subscriptions import Subscriptions
from safe_sysid.ros.process.configured_node import ConfiguredNode
from safe_sysid.ros.process.held_after_change import held_after_change
from safe_sysid.ros.process.leaving import LeaveWithTheLoop
from safe_sysid.ros.process.lifecycle import Lifecycle, Work
from safe_sysid.ros.process.main import MISUSE, main_of
from safe_sysid.ros.process.parameters import read_config, serve_changes
from safe_sysid.ros.process.planner_settings import PlannerNodeSettings
from safe_sysid.ros.process.words import say
from safe_sysid.ros.watch.health import Condition, Health
from safe_sysid.ros.watch.newest_measurement import LOOK, NewestMeasurement
from safe_sysid.ros.watch.sample_gate import SampleGate
from safe_sysid.ros.watch.told_bounds import HeardBounds
from safe_sysid.ros.watch.told_by_one import ToldByOne
from safe_sysid.sets.compiled import compiled_here
from safe_sysid.track.supervisor import Cause, Mode
from safe_sysid.trajectory.plan import Plan

NICENESS = 5  # a search takes all cores it gets; those who are in the control path come first
SWITCH = 0.001  # [s] after which the search lets the thread that listens go on
FOLLOWED = (Mode.EXCITING.value, Mode.TASK.value)  # modes that lead to another one when done
# and those that a step of an errand leads to another one
STEPPED = (*FOLLOWED, *(mode.value for mode in (Mode.IDENTIFIED, Mode.CHANGING, Mode.HOLDING)))


class PlannerNode(ConfiguredNode):
    """Keeps a certified successor ready for the plan in force; answers before it is needed.

    In real time it searches in a thread, so that obstacles are heard at once. What the arm follows
    is what the controller says; where the two differ the planner begins again, once it rests.
    """

    needed_at_end = False  # the plan in force ends at rest without it

    def __init__(self) -> None:
        super().__init__('planner')
        os.nice(NICENESS)
        sys.setswitchinterval(SWITCH)
        self._settings = settings = read_config(self, PlannerNodeSettings)
        self._arm = arm = settings.arm()
        self._avoided = AvoidedObstacles(
            self, arm.model, settings.world, settings.scene, self._arm_clock(), self._on_scene
        )
        plans = PlanPublisher(self, arm.model)
        missions = settings.missions(arm.model)
        self._goals = RequestedGoals(
            arm.model, missions, settings.pose, self._avoided, self._problem
        )

        self._checks = HandlingChecks(self._goals, self._standing_at, settings.held_shapes)

        def tell(plan: Plan, clock: PlanClock, stamp: int) -> None:
            plans.publish(plan, clock, stamp)
            self._goals.note_plan()

        self._planning = settings.planning(arm, missions, self._avoided, tell)
        self._session, self._scene = self._planning.session, self._planning.response
        self._gate = SampleGate.of(settings.is_lockstep, ('parameter_estimate',))
        self._bounds, self._held_next = HeardBounds(arm.prior), held_after_change(settings, arm)
        self._sample: JointMeasurement | None = None
        self._awaited = AwaitedMode()
        self._told_by_one = ToldByOne(self, 'parameter_estimate')
        self._newest = 0  # stamp of the newest sample [ns]
        self._trouble = ''
        self.exit_status: int | None = None  # once it leaves by itself
        if settings.is_lockstep:  # else the first search looks whether it is over
            self._avoided.discover()
        self._connect()

    def _arm_clock(self) -> ArmClock:
        """Return the clock of the arm; before its first sample it is that of the node."""

        def before() -> int:
            return int(self.get_clock().now().nanoseconds)

        return ArmClock(before, standing) if self._settings.is_lockstep else ArmClock(before)

    def _connect(self) -> None:
        model, is_lockstep = self._arm.model, self._settings.is_lockstep
        self._answers = PlannedAnswers(self, is_lockstep, self._planning.announced)
        self.leave = LeaveWithTheLoop(self)
        work = Work(Mode.HOLDING, lambda: None, self._pause, self._forget)
        waits = self._settings.waits_to_be_activated
        self._life = Lifecycle(self, waits, self.leave.supervised, work)
        self._health = Health(self, self._condition, self._life)
        subscribe = Subscriptions(self, self._complain).add
        subscribe(String, 'mode', self._on_mode, MODES)
        subscribe(Float64MultiArray, 'parameter_estimate', self._on_estimate, STATE)
        subscribe(JointTrajectory, 'plan_in_force', self._on_plan_in_force, STATE)
        names = model.layout.joint_names
        self._measured = NewestMeasurement(self, names, is_lockstep, self._on_measurement)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._polls = self.create_timer(LOOK, self._look, clock=steady)
        serve_changes(self, self._settings, lambda now: self._goals.read_poses_by(now.pose))
        self._goals.listen(self, self._planning, self._complain, self._health.announce)
        self._checks.listen(self, self._planning, self._complain, self._health.announce)
        self._avoided.publish()

    def _problem(self) -> Problem:
        """Of plans with what is known now."""
        problem = self._settings.problem(self._arm, self._avoided.boxes)
        planner = self._settings.planner
        steps = replace(problem.horizon, intervals=planner.intervals, degree=planner.degree)
        return replace(problem, bounds=self._bounds.estimate, horizon=steps)

    def _standing_at(self) -> StandingAt:
        """Certificates of standing while what is held changes, with what is known now."""
        held, seconds = self._held_next, self._settings.planner.stands
        return StandingAt(self._problem(), seconds, held.bounds, held.nominal)

    def _complain(self, sentence: str) -> None:
        self._trouble = sentence

    def _pause(self) -> None:
        """Plan nothing any more."""
        self._planning.turn_to('')

    def _forget(self) -> None:
        """Forget plans, and the goal that was asked for."""
        self._pause()
        self._planning.begin_again()
        self._goals.take_away()

    def close(self) -> None:
        """Stop listening and searching."""
        self._planning.close()
        self._measured.close()
        self._avoided.close()

    def _on_measurement(self, measurement: JointMeasurement, arrival: Arrival) -> None:
        self._newest, mode = measurement.stamp, self._session.mode
        self._planning.note_sample(measurement.stamp)
        self._avoided.note_sample(measurement.stamp)
        self._goals.note_position(measurement.position, measurement.stamp)
        self._avoided.note_position(measurement.position)
        if arrival is Arrival.OLD and not self._answers.is_missing(self._newest, mode):
            return
        if arrival is Arrival.JUMPED:
            self._planning.begin_again()
        self._sample = measurement
        self._go_on()

    def _go_on(self) -> None:
        """Look at the sample, if all that it needs is there and no search goes on."""
        if self._sample is None or self._planning.search.is_busy or not self._life.is_active:
            return
        if not self._gate.is_open(self._sample.stamp):
            return
        sample, self._sample = self._sample, None
        if not self._planning.is_warm:
            self._health.announce()
            problem = self._settings.problem(self._arm, {})
            self._planning.warm_up(sample, self._bounds.estimate, problem, self._compiled)
        estimate, done = self._bounds.estimate, partial(self._done, sample)
        self._planning.step(sample, estimate, self._avoided, done)

    def _compiled(self, refusal: str) -> None:
        """Say at once that plans can be made: others wait for it."""
        if refusal:
            self._refuse(refusal)
        else:
            self._health.announce()

    def _refuse(self, reason: str) -> None:
        """Leave, as from where the arm is no plan is possible; nothing has moved yet."""
        self._complain(reason)
        say(f'planner: {reason}. There is no plan from where the arm is, and it stays there')
        self.exit_status = MISUSE

    def _done(self, sample: JointMeasurement, result: PlanResult | None) -> None:
        if result is not None:
            self._health.announce()  # every result, so that a recording has all of them
        settings, mode = self._settings, self._session.mode
        awaited = STEPPED if settings.awaits_errand else FOLLOWED
        waits = settings.is_lockstep and mode in awaited
        is_done = waits and self._session.rests(sample.stamp)
        if not self._awaited.keeps(sample, is_done=is_done):
            self._answers.answer(sample.stamp, mode)

    def _look(self) -> None:
        """Go on with a search that is over, and with a sample that nobody has named a mode for."""
        self._planning.search.poll()
        self._look_again(self._awaited.look())

    def _look_again(self, sample: JointMeasurement | None) -> None:
        """Look at a sample that was kept."""
        if sample is not None:
            self._sample = sample
            self._go_on()

    def _on_mode(self, msg: String) -> None:
        is_known = msg.data in Mode._value2member_map_ and self._life.is_active
        before = self._session.mode
        self._planning.turn_to(msg.data if is_known else '')
        if self._session.mode != before:
            self._look_again(self._awaited.turn())

    def _on_estimate(self, msg: Float64MultiArray) -> None:
        told = estimate_of(msg, self._arm.model.layout)
        # a search goes on with the one it began with
        if self._bounds.hear(told.estimate, told.stamp):
            self._health.announce()
        self._gate.note('parameter_estimate', told.stamp)
        self._go_on()

    def _on_plan_in_force(self, msg: JointTrajectory) -> None:
        self._planning.note_followed(followed_of(msg, self._arm.model.layout.joint_names))

    def _on_scene(self) -> None:
        """Compare plans with obstacles that changed, at once; stop where they are in the way."""
        self._checks.note_scene(self._avoided.boxes)
        now = self._avoided.now() if self._newest else 0  # samples may wait behind what is shown
        if self._planning.look(self._avoided, now):
            self._health.announce()
        self._avoided.publish()

    def _condition(self) -> Condition:
        session, scene, unclear = self._session, self._scene, self._avoided.unclear
        faults = {Cause.NO_PLAN: session.has_failed}
        faults[Cause.OBSTACLE] = scene.is_obstructed(self._newest)
        faults[Cause.SCENE_UNCLEAR] = bool(unclear) and not scene.is_stopping(self._newest)
        several = self._told_by_one.trouble(time.monotonic())
        faults[Cause.SECOND_PUBLISHER] = bool(several)
        sentences = (several, unclear, scene.complaint, session.complaint(), self._avoided.awaited)
        said = '; '.join(sentence for sentence in sentences if sentence)
        if self._newest and not self._planning.is_warm:
            said = f'{compiled_here()} kernels compiled; until all are there are no plans'
        trouble = said or self._trouble or self._measured.trouble
        figures = {**session.figures(), 'obstacles': len(self._avoided.drawn), **scene.figures()}
        figures |= {**self._goals.figures(), **self._checks.figures()}
        figures |= self._bounds.figures()
        figures[PLACED_AVOIDED] = self._avoided.placed
        return Condition(trouble, frozenset(c for c in faults if faults[c]), figures)


def main() -> int:
    """Run the node."""
    return main_of(PlannerNode)


if __name__ == '__main__':
    sys.exit(main())
