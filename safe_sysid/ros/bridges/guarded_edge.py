"""GuardedEdge: what every bridge has in common; no torque reaches a robot but through its guard.

A bridge turns what its driver says into a `JointMeasurement` and calls, in every control period,

    edge.publish(measurement)
    torque = edge.torque(now, measurement)      # None: the robot gets no torque

where `now` is on the same clock as the stamps of the measurements, in nanoseconds. What brakes the
arm is the plan that the controller says it follows, with the estimate it was certified for.
"""

from __future__ import annotations

from collections.abc import Callable
import os

from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory

from safe_sysid.arrays import Array
from safe_sysid.errors import MessageError
from safe_sysid.loop_settings import Arm
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.plan.plan_message import PlanNotice, plan_notice
from safe_sysid.ros.messages.certified_plan_buffer import CertifiedPlanBuffer
from safe_sysid.ros.messages.codec import (
    JointStateWriter,
    TorqueReader,
    estimate_of,
)
from safe_sysid.ros.messages.qos import PLANS, SAMPLES, STATE
from safe_sysid.ros.watch.health import Condition
from safe_sysid.track.guarded_torque import Command, GuardedTorque, Outcome, Seen
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.track.supervisor import Cause, Mode
from safe_sysid.track.torque_guard import GuardSettings, TorqueGuard
from safe_sysid.trajectory.plan import Plan


class GuardedEdge:
    """Measurements out, commands in, and the guard between commands and the robot."""

    def __init__(self, node: Node, arm: Arm, settings: GuardSettings) -> None:
        self._node, self._arm, self._settings = node, arm, settings
        names = arm.model.layout.joint_names
        self._writer = JointStateWriter(names, f'{node.get_fully_qualified_name()} {os.getpid()}')
        self._reader = TorqueReader(names)
        self._told = CertifiedPlanBuffer(names)
        self._estimate = arm.prior
        self._notice: PlanNotice | None = None
        self._plan: Plan | None = None
        self._command: Command | None = None
        self._clock: Clock | None = None
        self._guard: TorqueGuard | None = None
        self._given: GuardedTorque | None = None
        self._trouble = ''
        self._is_engaged = False
        self.mode: Mode | None = None  # None until the supervisor says one
        self.answered: int | None = None  # newest sample that the controller answered [ns]
        self.when_answered: Callable[[], None] = _go_on_waiting
        self._subscribe()

    def _subscribe(self) -> None:
        node = self._node
        self._states = node.create_publisher(JointState, 'joint_states', SAMPLES)
        node.create_subscription(String, 'mode', self._on_mode, STATE)
        node.create_subscription(Float64MultiArray, 'torque_command', self._on_command, SAMPLES)
        node.create_subscription(Float64MultiArray, 'parameter_estimate', self._on_estimate, STATE)
        node.create_subscription(
            Float64MultiArray, 'certified_estimate', self._on_certified, PLANS
        )
        node.create_subscription(JointTrajectory, 'plan_in_force', self._on_plan, STATE)

    @property
    def gives_torque(self) -> bool:
        """Whether any torque may reach the robot; a fault in idle is no reason to begin."""
        return self._is_engaged

    def publish(self, measurement: JointMeasurement) -> None:
        """Tell everybody what the robot measures."""
        self._states.publish(self._writer.message(measurement))

    def torque(self, now: int, measurement: JointMeasurement | None) -> Array | None:
        """What the robot gets at a stamp [ns], (n,) [N m]; None for no torque at all."""
        if self._clock is None or self._guard is None:
            self._clock = Clock(now)
            law = RobustPassivityController(self._arm.model, self._arm.gains, self._clock)
            self._guard = TorqueGuard(self._arm.model, self._settings, self._clock, law)
        if not self.gives_torque:
            self._given = None
            return None
        command = None if self.mode is Mode.FAULT else self._command
        seen = Seen(command, measurement, self._plan_on(self._clock), self._estimate)
        self._given = self._guard.step(now, seen)
        return self._given.torque

    def condition(self) -> Condition:
        """What the guard has to say."""
        refusal = '' if self._guard is None else self._guard.refusal
        refused = bool(refusal) and self.mode is not Mode.FAULT
        figures = {
            'gives_torque': self.gives_torque,
            'guard': 'off' if self._given is None else self._given.outcome.value,
            'mode': 'unknown' if self.mode is None else self.mode.value,
        }
        is_blind = self._given is not None and self._given.outcome is Outcome.BLIND
        trouble = refusal or self._trouble or ('no measurement to go by' if is_blind else '')
        faults = {Cause.COMMAND_REFUSED} if refused else set()
        return Condition(trouble, frozenset(faults), figures)

    def _plan_on(self, clock: Clock) -> Plan | None:
        """The plan in force, once the estimate it was certified for is known."""
        if self._plan is None and self._notice is not None:
            self._plan = self._told.plan(self._notice, clock)
        return self._plan

    def _forget(self) -> None:
        """Begin anew: what was commanded and followed before counts no more."""
        self._notice = self._plan = self._command = None
        if self._guard is not None:
            self._guard.reset()

    def _on_mode(self, msg: String) -> None:
        mode = Mode(msg.data) if msg.data in Mode._value2member_map_ else None
        if mode is None:
            self._trouble = f"mode is '{msg.data}', allowed are {[m.value for m in Mode]}"
            return
        ended = self.mode is Mode.FAULT and mode is not Mode.FAULT
        if ended or (mode is Mode.IDLE and self.mode is not Mode.IDLE):
            self._forget()
        if mode is not Mode.FAULT or self.mode is None:
            self._is_engaged = mode is not Mode.IDLE
        self.mode = mode

    def _on_command(self, msg: Float64MultiArray) -> None:
        try:
            command = self._reader.command(msg)
            self.answered = command.stamp
            if len(command.torque):
                self._command = command
            self.when_answered()
        except MessageError as error:
            self._trouble = str(error)

    def _on_estimate(self, msg: Float64MultiArray) -> None:
        try:
            self._estimate = estimate_of(msg, self._arm.model.layout).estimate
        except MessageError as error:
            self._trouble = str(error)

    def _on_certified(self, msg: Float64MultiArray) -> None:
        try:
            self._told.learn(estimate_of(msg, self._arm.model.layout).estimate)
        except MessageError as error:
            self._trouble = str(error)

    def _on_plan(self, msg: JointTrajectory) -> None:
        if not msg.points:  # the controller follows none; the guard keeps the last one to brake
            return
        try:
            self._notice, self._plan = plan_notice(msg, self._arm.model.layout.joint_names), None
        except MessageError as error:
            self._trouble = str(error)


def _go_on_waiting() -> None:
    """In real time nobody waits for an answer."""
