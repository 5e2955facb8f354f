"""The robot's side of FRI: an LBR Med 7 that is simulated, with the session of a real one."""

import numpy as np
from rclpy.qos import QoSProfile

from safe_sysid.model.effort_contract import CommandSignal, EffortContract
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.bridges.fri_state import CommandMode, ControlMode, Drives, FriSession, Quality
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm

DRIVER = QoSProfile(depth=1)
PERIOD = 0.005  # [s]
BEGAN = 1_700_000_000_000_000_000  # [ns] on the robot's clock
STIFFNESS = 200.0  # [N m/rad] of its joint impedance control


class FriRobot:
    """Sends its state, waits for the torque, and moves for a cycle.

    It adds gravity of the bare arm to what it is told, as a real one does, and a spring about the
    position it is told. What it measures, it counts against the axes of the URDF.
    """

    def __init__(self, node, state, command, truth: RobotModel, position):
        self._bare = EffortContract(RobotModel.named('lbr_med7'), CommandSignal())
        self._state, self._node = state, node
        settings = ArmSettings(PERIOD)
        self.arm = SimulatedArm(truth, np.array(position), np.random.default_rng(1), settings)
        self.session = FriSession.COMMANDING_ACTIVE
        self.command_mode = CommandMode.TORQUE
        self.sample_time = PERIOD
        self.command = None  # newest
        self.told: list = []
        self._states = node.create_publisher(state, '/lbr/state', DRIVER)
        node.create_subscription(command, '/lbr/command/torque', self._on_command, DRIVER)

    @property
    def is_connected(self) -> bool:
        topic = '/lbr/command/torque'
        return self._states.get_subscription_count() > 0 and self._node.count_publishers(topic) > 0

    def message(self):
        """Its state as a message."""
        sample, stamp = self.arm.measure(), BEGAN + self.arm.truth.stamp
        return self._state(
            sample_time=self.sample_time,
            session_state=int(self.session),
            connection_quality=int(Quality.EXCELLENT),
            drive_state=int(Drives.ACTIVE),
            client_command_mode=int(self.command_mode),
            control_mode=int(ControlMode.JOINT_IMPEDANCE),
            overlay_type=1,
            time_stamp_sec=stamp // 10**9,
            time_stamp_nano_sec=stamp % 10**9,
            measured_joint_position=sample.position,
            measured_torque=-sample.torque,
        )

    def send(self, **changed) -> None:
        """Send the state, with some fields replaced."""
        msg = self.message()
        for name, value in changed.items():
            setattr(msg, name, value)
        self.command = None
        self._states.publish(msg)

    def move(self) -> None:
        """Move for one cycle with what was commanded, or hold where it is."""
        q = self.arm.truth.position
        if self.command is None or self.session != FriSession.COMMANDING_ACTIVE:
            target, overlay = q, np.zeros(7)
        else:
            target, overlay = np.array(self.command.joint_position), np.array(self.command.torque)
        torque = overlay + self._bare.gravity(q) + STIFFNESS * (target - q)
        self.arm.apply(torque)

    def _on_command(self, msg) -> None:
        self.command = msg
        self.told.append(msg)
