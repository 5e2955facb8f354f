"""track -> robot: Kinova, Gazebo and any other arm with an effort controller of ros2_control."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
import sys
import time

import numpy as np
from rclpy.clock import Clock, ClockType
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from safe_sysid.arrays import Array, IntArray
from safe_sysid.config import Positive
from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.measure.turns import Turns
from safe_sysid.model.effort_contract import CommandSignal, EffortContract
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.bridges.bridge_settings import BridgeSettings
from safe_sysid.ros.bridges.controller_switch import ControllerSwitch, Nobody, Switched
from safe_sysid.ros.bridges.guarded_edge import GuardedEdge
from safe_sysid.ros.messages.codec import SECOND, JointStateReader, numbers
from safe_sysid.ros.messages.qos import SAMPLES
from safe_sysid.ros.process.configured_node import ConfiguredNode
from safe_sysid.ros.process.main import main_of
from safe_sysid.ros.process.parameters import read_config
from safe_sysid.ros.process.real_time import prepare_process, settle_memory
from safe_sysid.ros.watch.health import Condition, Health
from safe_sysid.track.hand_over import Holder
from safe_sysid.track.obey_probe import ProbeSettings
from safe_sysid.track.supervisor import Cause

LOOK = 0.0005  # [s] between two looks for the answer to a sample
EFFORT_WITHIN = 0.5  # [s] of the first torque, effort is reported


@dataclass(frozen=True)
class Ros2ControlSettings(BridgeSettings):
    """Parameters of the bridge."""

    states: str = '/joint_states'  # topic on which the driver reports
    commands: str = '/forward_effort_controller/commands'  # topic of its effort controller
    hold_controller: str = ''  # of positions, holds the arm without torque from us; empty: nobody
    controller_manager: str = '/controller_manager'  # that switches controllers
    controller_joints: tuple[str, ...] = ()  # in the order of the effort controller; empty: ours
    patience: Positive = 1.0  # periods without an answer before the guard's word is commanded
    command: CommandSignal = field(default_factory=CommandSignal)
    probe: ProbeSettings = field(default_factory=ProbeSettings)

    @property
    def switched(self) -> Switched:
        """The two controllers between which the arm is switched."""
        _, _, effort = self.commands.rpartition('/')[0].rpartition('/')
        return Switched(effort, self.hold_controller)

    def order(self, joint_names: tuple[str, ...]) -> IntArray:
        """Place of each joint of the controller among ours."""
        told = self.controller_joints or joint_names
        if sorted(told) != sorted(joint_names):
            raise ConfigError(
                f'controller_joints is {list(told)}; the same joints as {list(joint_names)} are '
                'needed, in any order'
            )
        return np.array([joint_names.index(name) for name in told])


class Ros2ControlBridge(ConfiguredNode):
    """joint states of a driver in, effort commands for its controller out.

    Before the first torque, nothing is commanded: the arm is its driver's. The effort controller
    goes on with what it was told last, for ever, so the last torque is given only once the
    controller manager has switched to a controller that holds the arm.

    A driver may have no effort (nan) until it is commanded, as Gazebo has: the first torque is
    then what holds the arm, and nobody learns from a state without effort.
    """

    def __init__(self) -> None:
        super().__init__('ros2_control_bridge')
        self._settings = settings = read_config(self, Ros2ControlSettings)
        arm = settings.arm()
        names = arm.model.layout.joint_names
        _refuse_unknown_currents(arm.model)
        self._order = settings.order(names)
        self._contract = EffortContract(
            replace(settings, payload='').described(), settings.command
        )
        self._reader = JointStateReader(names)
        self._turns = Turns(arm.model.limits.is_continuous)
        self._edge = GuardedEdge(self, arm, settings, self._holder(settings), settings.probe)
        self.leave, self.hosted = self._edge, self._edge.hosted
        self._measurement: JointMeasurement | None = None
        self._stamp: int | None = None  # of the measurement [ns]
        self._bad_state = ''
        self._engaged: int | None = None  # stamp of the state that the first torque answers [ns]
        self._msg = Float64MultiArray()
        self._commanded: tuple[int | None, float] = (None, -np.inf)  # answer, and when [s]
        self._refuse_own_topic(settings.states)
        self._commands = self.create_publisher(Float64MultiArray, settings.commands, SAMPLES)
        self.create_subscription(JointState, settings.states, self._on_state, SAMPLES)
        self._health = Health(self, self._condition, self._edge.life)
        self._warnings = '; '.join(prepare_process(settings.real_time))
        settle_memory()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self.create_timer(LOOK, self._look, clock=steady)

    def _holder(self, settings: Ros2ControlSettings) -> Holder:
        """Who holds the arm when no torque is given."""
        if settings.hold_controller:
            return ControllerSwitch(self, settings.controller_manager, settings.switched)
        nobody = Nobody('hold_controller is empty')
        self.get_logger().warning(str(nobody))
        return nobody

    def _refuse_own_topic(self, states: str) -> None:
        own = self.resolve_topic_name('joint_states')
        if self.resolve_topic_name(states) == own:
            raise ConfigError(
                f'states is {own}, on which this bridge publishes; run the loop in a namespace, '
                'or let the driver report on another topic'
            )

    def _on_state(self, msg: JointState) -> None:
        read, self._bad_state = self._read(msg)
        if self._bad_state:
            self._health.announce()
        if read is None:
            return
        torque = self._contract.torque(read.torque, read.position)
        position = self._turns.step(read.position)
        self._measurement = replace(read, position=position, torque=torque)
        self._stamp = read.stamp
        self._edge.publish(self._measurement)
        if self._edge.answered == self._stamp:  # by a controller in this process
            self._look()

    def _read(self, msg: JointState) -> tuple[JointMeasurement | None, str]:
        """Return a state, and what is wrong with it.

        One whose effort is of no use still says where the arm is: it is braked by that.
        """
        try:
            read = self._reader.measurement(msg)
            self._expect_effort(read)
        except MeasurementError as error:
            try:
                return self._reader.motion(msg), str(error)
            except MeasurementError:
                return None, str(error)
        return read, ''

    def _expect_effort(self, read: JointMeasurement) -> None:
        """Refuse states that have no effort although the arm is commanded.

        Where it is let go, another controller may have it already.
        """
        if self._engaged is None or self._edge.lets_go:
            return
        since = (read.stamp - self._engaged) / SECOND
        if not read.has_torque and since > EFFORT_WITHIN:
            raise MeasurementError(
                f'effort of all joints is still nan in a state {since:.3g} s after the first '
                f'torque; {EFFORT_WITHIN} s are allowed. Does the driver have effort as a state '
                'interface? The guard brakes'
            )

    def _look(self) -> None:
        """Command what answers the newest sample, or the guard's word if there is no answer."""
        now, (answer, at) = time.monotonic(), self._commanded
        # nobody but the guard answers a sample where it acts alone, and nobody else the probe's
        answered = self._stamp if self._edge.needs_no_answer else self._edge.answered
        if answered == answer and now - at < self._settings.patience * self._settings.period:
            return
        self._commanded = answered, now
        stamp = self.get_clock().now().nanoseconds
        if self._measurement is not None:  # whose stamp may be ahead of a simulated clock
            stamp = max(stamp, self._measurement.stamp)
        torque = self._edge.torque(stamp, self._measurement)
        if torque is None:
            self._engaged = None
        elif self._measurement is not None:
            if self._engaged is None:
                self._engaged = self._measurement.stamp
            self._command(self._contract.effort(torque, self._measurement.position))

    def _command(self, effort: Array) -> None:
        self._msg.data = numbers(effort[self._order])
        self._commands.publish(self._msg)

    def _condition(self) -> Condition:
        edge = self._edge.condition()
        faults = edge.faults | ({Cause.BAD_MEASUREMENT} if self._bad_state else set())
        return Condition(self._bad_state or edge.trouble or self._warnings, faults, edge.figures)


def _refuse_unknown_currents(model: RobotModel) -> None:
    sensors = model.sensors
    if sensors.effort.kind == 'current' and np.all(sensors.effort_scale == 1.0):
        raise ConfigError(
            f'effort is a motor current, and effort_scale is 1 on every joint of {model.name}: '
            'nobody knows the torques of this arm. Calibrate it (safe-sysid calibrate-gains) and '
            'enter effort_scale [N m/A] in its settings'
        )


def main() -> int:
    """Run the node."""
    return main_of(Ros2ControlBridge)


if __name__ == '__main__':
    sys.exit(main())
