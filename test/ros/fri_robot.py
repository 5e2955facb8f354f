"""The robot's side of FRI: an LBR Med 7 that is simulated, with the session of a real one."""

from dataclasses import dataclass

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


@dataclass(frozen=True)
class FriHabits:
    """What lbr_fri_ros2_stack makes of positions and torques; by default nothing."""

    echoes: bool = False  # reports the position that it commands (open_loop, up to 2.1.2)
    smoothing: str = (
        'none'  # of positions: 'share', a tenth of the way a cycle; 'low_pass', 0.04 s
    )
    torque_filter: float = 0.0  # [s] of the measured torque: 0.0159 up to 2.1.2, 0.04 later
    states_every: int = 1  # cycles; 2 where the controller manager has 100 Hz and FRI 200
    external_limit: float = np.inf  # [N m] at activation; 2 in versions after pull request 271


class FriRobot:
    """Sends its state, waits for the torque, and moves for a cycle.

    It adds gravity of the bare arm to what it is told, as a real one does, and a spring about the
    position it is told. What it measures, it counts against the axes of the URDF.
    """

    def __init__(self, node, state, command, truth: RobotModel, position, habits=FriHabits()):
        self.habits, self._anchor, self._filtered = habits, None, None
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
            measured_joint_position=self._position(),
            measured_torque=-self._torque(sample.torque),
            external_torque=self._external(),
            commanded_torque=np.zeros(7) if self.command is None else self.command.torque,
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
        for _ in range(self.habits.states_every):
            self._cycle()

    def _position(self):
        """What is reported."""
        if self.habits.echoes and self._anchor is not None:
            return self._anchor
        return self.arm.truth.position

    def _torque(self, torque):
        """What is left of the sensor's torque behind the filter."""
        lag = self.habits.torque_filter
        share = 1.0 if not lag else 1.0 - np.exp(-PERIOD * self.habits.states_every / lag)
        last = torque if self._filtered is None else self._filtered
        self._filtered = share * torque + (1.0 - share) * last  # without a lag just the torque
        return self._filtered

    def _external(self):
        """Torque of which the robot, which knows the bare arm, sees no reason."""
        q, truth = self.arm.truth.position, self.arm.model
        return EffortContract(truth, CommandSignal()).gravity(q) - self._bare.gravity(q)

    def activate(self) -> None:
        """Go from monitoring to torque control, unless the driver refuses."""
        if np.abs(self._external()).max() <= self.habits.external_limit:
            self.session = FriSession.COMMANDING_ACTIVE

    def _smoothed(self, target):
        """Position that the driver tells the robot."""
        if self._anchor is None:
            self._anchor = self.arm.truth.position
        if self.habits.smoothing == 'share':
            target = self._anchor + 0.1 * (target - self._position())
        elif self.habits.smoothing == 'low_pass':
            target = self._anchor + (1.0 - np.exp(-PERIOD / 0.04)) * (target - self._anchor)
        self._anchor = target
        return target

    def _cycle(self) -> None:
        q = self.arm.truth.position
        if self.command is None or self.session != FriSession.COMMANDING_ACTIVE:
            self._anchor, target, overlay = None, q, np.zeros(7)
        else:
            target = self._smoothed(np.array(self.command.joint_position))
            overlay = np.array(self.command.torque)
        torque = overlay + self._bare.gravity(q) + STIFFNESS * (target - q)
        self.arm.apply(torque)

    def _on_command(self, msg) -> None:
        self.command = msg
        self.told.append(msg)
