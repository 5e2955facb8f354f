"""The rest of the loop for a bridge under test: names the mode, answers samples with a torque."""

from collections.abc import Callable
import time

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
import rclpy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.messages.codec import JointStateReader, TorqueWriter
from safe_sysid.ros.messages.qos import HEALTH, SAMPLES, STATE
from safe_sysid.ros.watch.health import heard_from
from safe_sysid.track.guarded_torque import Command

GIVE_UP = 180.0  # [s]


class SmallLoop:
    """`law` makes a torque of every sample; what came and went is kept."""

    def __init__(self, node, model: RobotModel, law: Callable[[JointMeasurement], np.ndarray]):
        names = model.layout.joint_names
        self._node, self._law = node, law
        self._reader, self._writer = JointStateReader(names), TorqueWriter(names)
        self.samples: list[JointMeasurement] = []
        self.torques: list[np.ndarray] = []
        self.more = self._extra = 0.0  # [N m] on top, by which it grows in every sample
        self.said: dict[str, object] = {}  # newest status by node
        self._modes = node.create_publisher(String, 'mode', STATE)
        self._torques = node.create_publisher(Float64MultiArray, 'torque_command', SAMPLES)
        node.create_subscription(JointState, 'joint_states', self._on_sample, SAMPLES)
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_health, HEALTH)

    @property
    def is_connected(self) -> bool:
        return (
            self._torques.get_subscription_count() > 0
            and self._modes.get_subscription_count() > 0
            and self._node.count_publishers('joint_states') > 0
        )

    def say(self, mode: str) -> None:
        self._modes.publish(String(data=mode))

    def trouble(self, name: str) -> str:
        """What is wrong with a node, in its words."""
        return '' if name not in self.said else self.said[name].trouble

    def figures(self, name: str):
        return {} if name not in self.said else self.said[name].figures

    def wait_until(self, condition, what: str, step=lambda: None) -> None:
        """Serve callbacks until something has come true; `step` is done in between."""
        end = time.monotonic() + GIVE_UP
        while not condition():
            assert time.monotonic() < end, f'waited {GIVE_UP} s for {what}; {self.said}'
            rclpy.spin_once(self._node, timeout_sec=0.002)
            step()

    def _on_sample(self, msg: JointState) -> None:
        sample = self._reader.measurement(msg)
        self._extra += self.more
        torque = self._law(sample) + self._extra
        self.samples.append(sample)
        self.torques.append(torque)
        self._torques.publish(self._writer.message(Command(torque, sample.stamp)))

    def _on_health(self, msg: DiagnosticArray) -> None:
        for status in msg.status:
            heard = heard_from(status)
            if heard is not None:
                self.said[heard.name] = heard


class SpringLaw:
    """Gravity and a damped spring that pulls to a place."""

    def __init__(self, model: RobotModel, target, stiffness: float, damping: float):
        rigid = model.pinocchio()
        self._rigid, self._data = rigid, rigid.createData()
        self._target, self._gains = np.array(target), (stiffness, damping)

    def __call__(self, sample: JointMeasurement) -> np.ndarray:
        import pinocchio

        stiffness, damping = self._gains
        gravity = pinocchio.computeGeneralizedGravity(self._rigid, self._data, sample.position)
        pull = stiffness * (self._target - sample.position) - damping * sample.velocity
        return np.array(gravity) + pull
