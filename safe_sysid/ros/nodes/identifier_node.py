"""measure -> identify: joint states in, parameter estimates out."""

from __future__ import annotations

from dataclasses import dataclass, field
import sys
import time

from geometry_msgs.msg import InertiaStamped
from rclpy.clock import Clock, ClockType
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, String
from visualization_msgs.msg import MarkerArray

from safe_sysid.errors import MeasurementError
from safe_sysid.identify.change.change_test import ChangeSettings
from safe_sysid.identify.change.change_watch import ChangeWatch, LooksAtOnce
from safe_sysid.identify.change.known_objects import KnownObject, known_object
from safe_sysid.identify.change.looks_in_background import LooksInBackground
from safe_sysid.identify.online_identifier import (
    IdentificationFault,
    IdentifierSettings,
    OnlineIdentifier,
)
from safe_sysid.identify.solves import SolvesAtOnce, SolvesInBackground
from safe_sysid.loop_settings import LoopArm, ManagedSettings
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.measure.sample_order import Arrival, SampleOrder
from safe_sysid.measure.single_publisher import SinglePublisherCheck
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.ros.messages.codec import JointStateReader, estimate_message, stamp_of
from safe_sysid.ros.messages.drawings import payload_markers, payload_message
from safe_sysid.ros.messages.qos import EVERY_SAMPLE, STATE
from safe_sysid.ros.messages.recognised_objects import RECOGNISED, told_objects
from safe_sysid.ros.process.configured_node import ConfiguredNode
from safe_sysid.ros.process.held_after_change import held_after_change
from safe_sysid.ros.process.leaving import LeaveWithTheLoop
from safe_sysid.ros.process.lifecycle import Lifecycle, Work
from safe_sysid.ros.process.main import main_of
from safe_sysid.ros.process.parameters import read_config
from safe_sysid.ros.watch.health import Condition, Health
from safe_sysid.ros.watch.payload_change import TAKEN, TOPIC, ahead
from safe_sysid.ros.watch.payload_events import HoldSettings, PayloadEvents
from safe_sysid.ros.watch.told_bounds import REPEATED, ToldBounds
from safe_sysid.track.supervisor import WITHOUT_TORQUE, Cause, Mode

AGAIN = 10.0  # [s] after which the same warning may come again


@dataclass(frozen=True)
class IdentifierNodeSettings(ManagedSettings):
    """Parameters of the identifier."""

    identifier: IdentifierSettings = field(default_factory=IdentifierSettings)
    change_test: ChangeSettings = field(default_factory=ChangeSettings)
    hold: HoldSettings = field(default_factory=HoldSettings)
    waits_for_mode: bool = True  # whether samples count only under torque; brakes are in no model

    def __post_init__(self) -> None:
        super().__post_init__()
        self.identifier.check_period(self.period)

    def watch(self, arm: LoopArm) -> ChangeWatch:
        """Return what looks for changes that nobody announced, beside the samples or in time."""
        looks = LooksAtOnce if self.is_lockstep else LooksInBackground
        observation = self.identifier.observation
        settings = observation, self.change_test, looks, self.known_objects()
        return ChangeWatch(arm.model, arm.prior, *settings)

    def known_objects(self) -> list[KnownObject]:
        """Return what is recognised."""
        payloads = self.payloads()
        if not payloads:
            return []
        empty, own = self.with_empty_hand()
        return [known_object(empty, each, self.grasp, own) for each in payloads]


class IdentifierNode(ConfiguredNode):
    """Feeds every joint measurement to the identifier and publishes what it learns."""

    needed_at_end = False  # the plan in force ends at rest without it

    def __init__(self) -> None:
        super().__init__('identifier')
        settings = read_config(self, IdentifierNodeSettings)
        self._is_lockstep = settings.is_lockstep
        self._counts = not settings.waits_for_mode  # samples, now
        self._not_counted: JointMeasurement | None = None  # the newest one
        arm = settings.arm()
        self._model = arm.model
        for assumed in settings.prior.known(arm.model).sentences(arm.model):
            self.get_logger().info(f'assumed: {assumed}')
        self._prior = self._estimate = arm.prior
        self._told: ParameterEstimate | None = None  # the newest whose payload was told
        self._bounds = ToldBounds()
        self._since = -1  # [ns] stamp up to which samples are of the payload before
        solves = SolvesAtOnce if settings.is_lockstep else SolvesInBackground
        self._identifier = OnlineIdentifier(
            arm.model, arm.prior, settings.identifier, solves, settings.watch(arm), arm.calibrated
        )
        promised = settings.identifier.observation
        for said in (promised.readings(arm.model), promised.torques(arm.model)):
            for sentence in said.sentences:
                self.get_logger().warning(sentence)
        self._reader = JointStateReader(arm.model.layout.joint_names)
        self._order, self._sources = SampleOrder(), SinglePublisherCheck()
        self._fault = self._bad_sample = ''
        self._samples = self._refused = 0
        self._stamp = 0
        self._estimates = self.create_publisher(Float64MultiArray, 'parameter_estimate', STATE)
        self._payloads = self.create_publisher(InertiaStamped, 'payload', STATE)
        self._drawings = self.create_publisher(MarkerArray, 'payload_markers', STATE)
        self.leave = LeaveWithTheLoop(self)
        work = Work(Mode.HOLDING, self._begin, lambda: None, self._forget)
        self._life = Lifecycle(self, settings.waits_to_be_activated, self.leave.supervised, work)
        self._health = Health(self, self._condition, self._life)
        held = held_after_change(settings, arm)
        told = self._tell, self._begins_anew, self._health.announce
        self._events = PayloadEvents(self, self._identifier, held, settings.hold, *told)
        self._publish(self._estimate)
        if not settings.is_lockstep:
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self._repeats = self.create_timer(REPEATED, self._tell_again, clock=steady)
        self.create_subscription(JointState, 'joint_states', self._on_sample, EVERY_SAMPLE)
        self.create_subscription(Header, TOPIC, self._on_payload_since, STATE)
        if settings.waits_for_mode:
            self.create_subscription(String, 'mode', self._on_mode, STATE)

    def _on_sample(self, msg: JointState) -> None:
        if not self._life.is_active:
            return
        if not self._sources.accepts(msg.header.frame_id, time.monotonic()):
            return
        try:
            measurement = self._reader.measurement(msg)
        except MeasurementError as error:
            self._refused += 1
            self._bad_sample = str(error)
            return
        self._bad_sample = ''
        self._events.note_sample(measurement.stamp)
        if self._order.step(measurement.stamp) is not Arrival.OLD:
            self._take(measurement)
        elif self._is_lockstep:  # asked again, as the answer got lost
            self._publish(self._estimate)

    def _on_mode(self, msg: String) -> None:
        """Count samples while the robot is under torque, which a fault alone does not change."""
        if msg.data != Mode.FAULT.value:
            self._counts = msg.data not in WITHOUT_TORQUE
        if self._counts and self._is_lockstep and self._not_counted is not None:
            self._take(self._not_counted)  # time has stood still since

    def _take(self, measurement: JointMeasurement) -> None:
        self._stamp = measurement.stamp
        if self._counts and measurement.has_torque:
            self._not_counted = None
            self._learn(measurement)
            return
        self._not_counted = measurement
        if self._is_lockstep:
            self._publish(self._estimate)

    def _learn(self, measurement: JointMeasurement) -> None:
        self._samples += 1
        try:
            estimate = self._identifier.step(measurement)
            self._fault = ''
        except IdentificationFault as fault:
            estimate = fault.estimate
            is_new, self._fault = not self._fault, str(fault)
            if is_new:
                self._health.announce()
        if estimate is not self._estimate or self._is_lockstep:
            self._estimate = estimate
            self._publish(estimate)

    def _begins_anew(self, stamp: int) -> bool:
        """Whether no torque is given, so that another payload is nothing to answer."""
        if not self._counts:
            self._learn_anew(stamp)
        return not self._counts

    def _tell(self) -> None:
        """Publish what is known after a change of what is held."""
        self._fault, self._estimate = '', self._identifier.estimate
        self._publish(self._estimate)
        self._health.announce()

    def _tell_again(self) -> None:
        self._publish(self._estimate)

    def _publish(self, estimate: ParameterEstimate) -> None:
        self._estimates.publish(estimate_message(estimate, self._stamp))
        if self._bounds.note(estimate):
            self._health.announce()
        if estimate is not self._told:  # in lockstep the same estimate answers many samples
            self._told = estimate
            self._payloads.publish(payload_message(self._model, estimate, self._stamp))
            self._drawings.publish(payload_markers(self._model, estimate, self._stamp))

    def _on_payload_since(self, msg: Header) -> None:
        """Forget everything about the payload, tell everybody, and answer."""
        since = stamp_of(msg.stamp)
        if since == self._since:  # told again
            return
        if self._stamp and (trouble := ahead(since, self._stamp)):
            self.get_logger().warning(trouble, throttle_duration_sec=AGAIN)
            return
        self._since = since
        self._learn_anew(since)
        self._health.announce()

    def _learn_anew(self, since: int) -> None:
        self._identifier.new_payload(since)
        self._events.begin_anew()
        self._fault = ''
        self._order = SampleOrder()
        self._estimate = self._prior
        self._publish(self._estimate)

    def _begin(self) -> None:
        """Tell what is known; in lockstep somebody may wait for it."""
        self._order = SampleOrder()
        self._publish(self._estimate)

    def _forget(self) -> None:
        """Forget everything about the payload."""
        self._learn_anew(self._stamp)

    def _take_late_change(self) -> None:
        """Take what torques of before tell now, as they are looked at beside the samples.

        While no torque is given it is a payload that nobody knows, as an event is then.
        """
        if not self._counts and self._identifier.has_noticed:
            self._learn_anew(self._stamp)

    def _condition(self) -> Condition:
        self._take_late_change()
        bounds = self._estimate.end_effector_bounds
        figures = {
            TAKEN: self._since,
            'samples of the payload before': self._identifier.ignored,
            'samples': self._samples,
            'samples refused': self._refused,
            'samples twice or out of order': self._order.old,
            'jumps of the clock': self._order.jumps,
            'solves cut short by the clock': self._identifier.solves_cut_short,
            'mass at least [kg]': f'{bounds.lower[0]:.4g}',
            'mass at most [kg]': f'{bounds.upper[0]:.4g}',
            RECOGNISED: told_objects(self._identifier.recognised()),
            **self._bounds.figures(),
            **self._events.figures(),
        }
        faults = {Cause.CONTRADICTION} if self._fault else set()
        change = self._events.change()
        if change is not None:
            faults.add(Cause.CHANGE_NOTICED)
        intruder = self._sources.intruder(time.monotonic())
        warning = self._bad_sample or (intruder and f'joint_states: {intruder}')
        warning = warning or self._waiting() or self._events.trouble
        warning = warning or '; '.join(self._identifier.doubts)
        said = [sentence for sentence in (change and change.sentence, self._fault) if sentence]
        return Condition('; '.join(said) or warning, frozenset(faults), figures)

    def _waiting(self) -> str:
        """Why samples do not count, by their stamps; they may have gone back for good."""
        since = self._identifier.since
        if self._stamp > since or not self._identifier.ignored:
            return ''
        return f'samples are of the payload before, up to {since} ns; now is {self._stamp} ns'

    def close(self) -> None:
        """End the process that computes bounds."""
        self._identifier.close()


def main() -> int:
    """Run the node."""
    return main_of(IdentifierNode)


if __name__ == '__main__':
    sys.exit(main())
