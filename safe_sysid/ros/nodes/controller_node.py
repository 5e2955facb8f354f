"""plan -> track: joint states, plans and estimates in, torques out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
import sys
import time

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, String
from trajectory_msgs.msg import JointTrajectory

from safe_sysid.arrays import Array
from safe_sysid.config import Positive
from safe_sysid.errors import MeasurementError, SafeSysidError
from safe_sysid.loop_settings import ManagedSettings
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.measure.sample_order import Arrival, SampleOrder
from safe_sysid.measure.single_publisher import SinglePublisherCheck
from safe_sysid.measure.stamp_breaks import StampBreaks
from safe_sysid.plan.message import notice_of
from safe_sysid.ros.messages.certified_plan_buffer import CERTIFIED, CertifiedPlanBuffer
from safe_sysid.ros.messages.codec import (
    JointStateReader,
    TorqueWriter,
    estimate_of,
    plan_message,
    stamp_of,
)
from safe_sysid.ros.messages.qos import ANSWERS, MODES, PLANS, SAMPLES, STATE
from safe_sysid.ros.messages.unread_messages import UnreadMessages
from safe_sysid.ros.process.configured_node import ConfiguredNode
from safe_sysid.ros.process.leaving import LeaveWithTheLoop
from safe_sysid.ros.process.lifecycle import Lifecycle, Work
from safe_sysid.ros.process.main import main_of
from safe_sysid.ros.process.parameters import read_config
from safe_sysid.ros.process.real_time import RealTimeSettings, prepare_process, settle_memory
from safe_sysid.ros.process.warm_up import warm_up_law
from safe_sysid.ros.watch.bodies_energy import BodiesEnergy, bodies_of
from safe_sysid.ros.watch.clock_skew import ClockSkew
from safe_sysid.ros.watch.cycle_monitor import CycleMonitor, CycleSettings
from safe_sysid.ros.watch.energy_excess import BEYOND_V_M, EnergyExcess
from safe_sysid.ros.watch.health import Condition, Health
from safe_sysid.ros.watch.sample_gate import SampleGate
from safe_sysid.track.chosen_law import PassivityController, law_for
from safe_sysid.track.guarded_torque import Command
from safe_sysid.track.plan_succession import PlanSuccession, SuccessionSettings
from safe_sysid.track.sensed_passivity import BrokenPromiseError, SensedPassivityController
from safe_sysid.track.supervisor import Cause, Mode
from safe_sysid.track.takeover import TrackedArm
from safe_sysid.trajectory.plan import Plan

COMMANDING = (
    *(Mode.EXCITING, Mode.IDENTIFIED, Mode.TASK, Mode.BRAKING, Mode.HOLDING),
    Mode.CHANGING,
)
NO_TORQUE = np.zeros(0)
LONGEST_STEP = 1.5  # periods from a sample to the next, where none is lost
MOVING_ON = (Mode.EXCITING, Mode.TASK, Mode.CHANGING)  # modes in which a plan may follow another


@dataclass(frozen=True)
class ControllerNodeSettings(ManagedSettings):
    """Parameters of the controller."""

    succession: SuccessionSettings = field(default_factory=SuccessionSettings)
    cycle: CycleSettings = field(default_factory=CycleSettings)
    real_time: RealTimeSettings = field(default_factory=RealTimeSettings)
    silence: Positive = 1.0  # [s] without word from the supervisor after which no plan follows
    energy_share: Positive = 1.1  # of V_M, above which an assumption has to be false


class ControllerNode(ConfiguredNode):
    """Answers every joint measurement with a torque, as long as there is a plan to follow.

    Whoever gives it samples by `take` gets answers by `answer`; else samples are `joint_states`.
    """

    def __init__(self, answer: Callable[[Command], None] | None = None) -> None:
        super().__init__('controller')
        self._settings = settings = read_config(self, ControllerNodeSettings)
        self._gives = answer
        self._arm = arm = settings.arm()
        for assumed in arm.sentences:
            self.get_logger().warning(assumed)
        names = arm.model.layout.joint_names
        self._reader, self._writer = JointStateReader(names), TorqueWriter(names)
        self._told = CertifiedPlanBuffer(names)
        tracked = TrackedArm.of(arm.model, arm.gains, arm.sampling)
        step = LONGEST_STEP * settings.period
        self._succession = PlanSuccession(tracked, settings.succession, step)
        self._gate = SampleGate.of(settings.is_lockstep, ('parameter_estimate', 'planned'))
        self._order, self._sources = SampleOrder(), SinglePublisherCheck()
        self._cycles = CycleMonitor(settings.cycle, settings.period)
        self._skew, self._excess, self._bodies = ClockSkew(), EnergyExcess(), BodiesEnergy()
        self._estimate = arm.prior
        self._mode: Mode | None = None
        self._mode_heard = 0.0
        self._plan_clock: Clock | None = None
        self._controller: PassivityController | None = None
        self._sample: tuple[JointMeasurement, float] | None = None  # not answered, when it came
        self._answer: Command | None = None
        self._answered = -1  # stamp of the sample answered last [ns]
        self._planned: tuple[int, str, str] | None = None  # stamp, mode, start of the newest plan
        self._bad_sample = self._no_torque = self._trouble = ''
        self._looked = 0  # stamp at which plans were looked at last [ns]
        self._unread, self._breaks = UnreadMessages(), StampBreaks()
        self._lost_track = False
        self._connect()
        self._warnings = '; '.join(prepare_process(settings.real_time))
        warm_up_law(arm)
        settle_memory()

    def _connect(self) -> None:
        self._torques = self.create_publisher(Float64MultiArray, 'torque_command', SAMPLES)
        self._in_force = self.create_publisher(JointTrajectory, 'plan_in_force', STATE)
        self.leave = LeaveWithTheLoop(self)
        work = Work(Mode.IDLE, lambda: None, self._pause, lambda: None)
        waits = self._settings.waits_to_be_activated
        self._life = Lifecycle(self, waits, self.leave.supervised, work)
        self._health = Health(self, self._condition, self._life)
        subscribe, reading = self.create_subscription, self._unread.reading
        subscribe(String, 'mode', self._on_mode, MODES)
        learnt = reading('parameter_estimate', self._on_estimate)
        subscribe(Float64MultiArray, 'parameter_estimate', learnt, STATE)
        certified = reading(CERTIFIED, self._on_certified)
        subscribe(Float64MultiArray, CERTIFIED, certified, PLANS)
        subscribe(JointTrajectory, 'plan', reading('plan', self._on_plan), PLANS)
        subscribe(Header, 'planned', self._on_planned, ANSWERS)
        if self._gives is None:
            subscribe(JointState, 'joint_states', self._on_sample, SAMPLES)

    def _on_sample(self, msg: JointState) -> None:
        arrived = time.monotonic()
        if self._life.is_active and self._sources.accepts(msg.header.frame_id, arrived):
            self._read(lambda: self._reader.measurement(msg), arrived)

    def take(self, measurement: JointMeasurement, arrived: float) -> None:
        """Take a sample that came at a time of the steady clock [s]."""
        if self._life.is_active:
            self._read(lambda: self._reader.checked(measurement), arrived)

    def _read(self, read: Callable[[], JointMeasurement], arrived: float) -> None:
        """Answer a sample, or say what is wrong with it."""
        try:
            measurement = read()
        except MeasurementError as error:
            self._bad_sample = str(error)
            self._health.announce()
            return
        self._bad_sample = ''
        if not self._settings.is_lockstep:  # where time stands still, stamps do
            self._breaks.step(measurement.stamp)
        arrival = self._order.step(measurement.stamp)
        if arrival is Arrival.OLD and not self._is_asked_again(measurement.stamp):
            return
        if arrival is Arrival.JUMPED:
            self._trouble = Arrival.JUMPED.value
            self._health.announce()
            self._follow_none()
            self._skew, self._breaks = ClockSkew(), StampBreaks()
        if not (self._settings.is_lockstep or self._settings.simulated):  # time of its own
            self._skew.step(measurement.stamp, arrived)
        self._sample = measurement, arrived
        self._go_on()

    def _go_on(self) -> None:
        """Answer the sample, if all that it needs is there."""
        if self._sample is None or not self._gate.is_open(self._sample[0].stamp):
            return
        (measurement, arrived), self._sample = self._sample, None
        torque = None if self._awaits_fault else self._torque(measurement)
        if self._awaits_fault:  # how late it is would depend on the machine
            return
        if torque is None and not (self._settings.is_lockstep and self._mode in COMMANDING):
            return
        self._answer = Command(NO_TORQUE if torque is None else torque, measurement.stamp)
        self._tell(self._answer)
        self._cycles.step(measurement.stamp, arrived, time.monotonic())

    @property
    def _awaits_fault(self) -> bool:
        """Whether time stands still until the supervisor has heard of a fault."""
        return self._lost_track and self._settings.is_lockstep

    def _tell(self, answer: Command) -> None:
        """Give an answer, empty where in lockstep no torque follows from a sample."""
        self._answered = answer.stamp
        self._torques.publish(self._writer.message(answer))
        if self._gives is not None:
            self._gives(answer)

    def _torque(self, measurement: JointMeasurement) -> Array | None:
        """Return what follows from a sample; None without a plan, and in modes without torque."""
        if self._plan_clock is None or self._controller is None:
            self._plan_clock = Clock(measurement.stamp)
            self._controller = self._law(self._plan_clock)
        acts_until = self._plan_clock.seconds(measurement.stamp) + self._controller.ahead
        plan = self._followed(acts_until, measurement)
        if plan is None or self._mode not in COMMANDING:
            self._excess.forget()
            self._controller.note(measurement, None, self._estimate)
            return None
        try:
            torque = self._controller.step(measurement, plan, self._estimate)
        except BrokenPromiseError as error:
            self._lose_track(str(error))
            return None
        except SafeSysidError as error:  # the guard brakes, as no command comes
            self._no_torque = str(error)
            return None
        self._no_torque = ''
        self._watch_energy(measurement.stamp)
        return torque

    def _law(self, clock: Clock) -> PassivityController:
        """Law of this arm, which also says whether a plan may begin where it sees r itself."""
        arm = self._arm
        law = law_for(arm.model, arm.gains, clock, arm.sampling)
        if isinstance(law, SensedPassivityController):  # torques of two plans never mix
            succession, period = self._settings.succession, self._settings.period
            succession = replace(succession, late=min(succession.late, period))
            apart = period if arm.sampling is None else arm.sampling.apart
            self._succession = PlanSuccession(law, succession, apart)
        return law

    def _followed(self, t: float, measurement: JointMeasurement) -> Plan | None:
        """Return the plan in force, told to everybody when it changes."""
        before = self._succession.in_force
        for told in self._told.complete(self._plan_clock or Clock(0)):
            self._succession.offer(told)
        self._looked = measurement.stamp
        reason = self._reason_to_decline()
        if reason:
            self._succession.decline(t, reason)
        plan = self._succession.step(t, measurement, self._estimate)
        if plan is not None and plan is not before and self._plan_clock is not None:
            self._bodies.begin(bodies_of(plan, self._estimate))
            notice = notice_of(plan, self._plan_clock, str(plan.certificate))
            self._in_force.publish(plan_message(notice, self._arm.model.layout.joint_names))
        return plan

    def _reason_to_decline(self) -> str:
        """Why no plan may follow the one in force; empty if one may."""
        if self._mode not in MOVING_ON:
            return f'mode is {"unknown" if self._mode is None else self._mode.value}'
        silent = time.monotonic() - self._mode_heard
        if silent > self._settings.silence and not self._settings.is_lockstep:
            return f'the supervisor has not been heard for {silent:.1f} s'
        return ''

    def _watch_energy(self, stamp: int) -> None:
        assert self._controller is not None
        energy, V_M = self._controller.least_energy, self._arm.gains.V_M
        is_beyond = self._bodies.step(stamp, self._controller.most_energy / V_M)
        if is_beyond and self._mode is Mode.CHANGING:
            self._health.announce()
        if self._excess.step(stamp, energy, V_M):
            self.get_logger().warning(self._excess.trouble)
            self._health.announce()
        if energy > self._settings.energy_share * V_M and not self._lost_track:
            self._lose_track(
                f'energy of the tracking error is at least {energy:.4g} J, {V_M} J are promised'
                + (f'; just before, {self._breaks.trouble}' if self._breaks.trouble else '')
            )

    def _lose_track(self, trouble: str) -> None:
        self._lost_track, self._trouble = True, trouble
        self._health.announce()

    def _follow_none(self) -> None:
        self._succession.reset()
        self._excess.forget()
        self._bodies.begin('')
        self._lost_track = False
        self._in_force.publish(JointTrajectory())

    def _pause(self) -> None:
        """Forget plan and samples; what comes after a pause begins anew."""
        self._follow_none()
        self._controller, self._sample, self._order = None, None, SampleOrder()
        self._breaks = StampBreaks()

    def _is_asked_again(self, stamp: int) -> bool:
        """Whether a sample still wants an answer; one that got lost is given again."""
        if not self._settings.is_lockstep:
            return False
        if self._answer is not None and stamp == self._answered:
            self._tell(self._answer)
        return stamp > self._answered

    def _on_mode(self, msg: String) -> None:
        self._mode_heard = time.monotonic()
        mode = Mode(msg.data) if msg.data in Mode._value2member_map_ else None
        if mode is not self._mode and mode not in COMMANDING:
            self._follow_none()
        if mode is not self._mode:
            self._trouble = ''
            self._leave_mode(mode)
            self._gate.forget('planned')  # which was said for the mode before
        self._mode = mode
        self._note_planned()

    def _leave_mode(self, mode: Mode | None) -> None:
        """See to it that plans for the mode before do not begin in the next one.

        Those for the next one may be here already, as the planner may have heard of it before.
        """
        self._succession.leave(self._mode)
        if mode in MOVING_ON:
            self._succession.begin_anew()
            return
        self._told.complete(self._plan_clock or Clock(0))  # which nobody takes
        self._succession.end_in_force()

    def _on_estimate(self, msg: Float64MultiArray) -> None:
        told = estimate_of(msg, self._arm.model.layout)
        self._estimate = told.estimate
        self._gate.note('parameter_estimate', told.stamp)
        self._go_on()

    def _on_certified(self, msg: Float64MultiArray) -> None:
        self._told.learn(estimate_of(msg, self._arm.model.layout, CERTIFIED).estimate)
        self._note_planned()

    def _on_plan(self, msg: JointTrajectory) -> None:
        self._told.hear(msg)
        self._note_planned()

    def _on_planned(self, msg: Header) -> None:
        mode, _, start = msg.frame_id.partition(' ')
        self._planned = stamp_of(msg.stamp), mode, start
        self._note_planned()

    def _note_planned(self) -> None:
        """Note the planner's answer, which counts once its newest plan and aim are there."""
        if self._planned is None or self._mode is None:
            return
        stamp, mode, start = self._planned
        if mode == self._mode.value and self._told.knows(start):
            self._gate.note('planned', stamp)
            self._go_on()

    def _condition(self) -> Condition:
        now = time.monotonic()
        intruder = self._sources.intruder(now)
        faults = {
            Cause.SECOND_PUBLISHER: intruder and f'joint_states: {intruder}',
            Cause.BAD_MEASUREMENT: self._bad_sample,
            Cause.TRACKING: self._trouble if self._lost_track else '',
        }
        sentences = [sentence for sentence in faults.values() if sentence]
        trouble = '; '.join(sentences) or self._no_torque or self._trouble
        trouble = trouble or self._unread.trouble or self._doubts or self._warnings
        plan = self._succession.in_force
        figures = {
            'plan': 'none' if plan is None else f'from {plan.start_time:.3f} s',
            'last plan not taken over': self._succession.refusal or 'none',
            'samples twice or out of order': self._order.old,
            **self._cycles.figures(),
            'stamps slow [ppm]': round(1e6 * self._skew.share),
            'torques seen after [ms]': self._seen_after,
            BEYOND_V_M: self._excess.trouble,
            **self._bodies.figures(),
        }
        present = frozenset(cause for cause, sentence in faults.items() if sentence)
        return Condition(trouble, present, figures)

    @property
    def _doubts(self) -> str:
        """What samples say against what is promised of them; no fault by itself."""
        law = self._controller
        of_law = law.doubts if isinstance(law, SensedPassivityController) else ''
        of_stamps = self._breaks.trouble, self._skew.trouble
        of_plans = self._told.incomplete(self._looked)
        doubts = of_plans, *of_stamps, self._excess.trouble, of_law
        return '; '.join(x for x in doubts if x)

    @property
    def _seen_after(self) -> str:
        law = self._controller
        delay = law.delay if isinstance(law, SensedPassivityController) else None
        return 'not seen' if delay is None else f'{1e3 * delay:.3g}'


def main() -> int:
    """Run the node."""
    return main_of(ControllerNode)


if __name__ == '__main__':
    sys.exit(main())
