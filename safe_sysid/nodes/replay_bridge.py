"""recording -> measure: a recorded bag behind the topics of a robot, at the pace it was taken."""

from __future__ import annotations

from dataclasses import dataclass, replace
import os
from pathlib import Path
import sys
import time

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState

from safe_sysid.config import Positive
from safe_sysid.errors import ConfigError
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.measure.rosbag import read_rosbag
from safe_sysid.model.effort_contract import CommandSignal, EffortContract
from safe_sysid.nodes.health import Condition, Health
from safe_sysid.nodes.loop_settings import LoopSettings
from safe_sysid.nodes.messages import JointStateWriter
from safe_sysid.nodes.process import main_of
from safe_sysid.nodes.qos import EVERY_SAMPLE
from safe_sysid.nodes.ros_config import read_config

LOOK = 0.002  # [s] between looks for samples that are due


@dataclass(frozen=True)
class ReplaySettings(LoopSettings):
    """Parameters of the player."""

    bag: str = ''  # folder or file
    topic: str = ''  # of joint states; empty: the only one that reports all joints
    is_torque: bool = False  # whether effort is torque already, as in bags of our own loop
    speed: Positive = 1.0  # times as fast as it was recorded

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.bag:
            raise ConfigError('bag is empty, it has to be the folder or file of a recording')

    def log(self) -> JointLog:
        """The recording as joint torques."""
        bare = replace(self, payload='').described()
        recording = read_rosbag(Path(self.bag), bare.layout.joint_names, self.topic or None)
        ones = bare.limits.torque * 0.0 + 1.0
        log = recording.log(ones, ones)
        if self.is_torque:
            return log
        contract = EffortContract(bare, CommandSignal())
        return replace(log, torque=contract.torque(log.torque, log.position))


class ReplayBridge(Node):
    """Publishes every sample when it is due; ends after the last one."""

    def __init__(self) -> None:
        super().__init__('replay_bridge', automatically_declare_parameters_from_overrides=True)
        settings = read_config(self, ReplaySettings)
        self._speed, self._log = settings.speed, settings.log()
        source = f'{self.get_fully_qualified_name()} {os.getpid()}'
        names = settings.described().layout.joint_names
        self._writer = JointStateWriter(names, source)
        self._states = self.create_publisher(JointState, 'joint_states', EVERY_SAMPLE)
        self._health = Health(self, self._condition)
        self._told = 0
        self._began: float | None = None
        self.exit_status: int | None = None
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self.create_timer(LOOK, self._look, clock=steady)

    def _look(self) -> None:
        if self._began is None:
            if self._states.get_subscription_count():  # begins when somebody listens
                self._began = time.monotonic()
            return
        elapsed = (time.monotonic() - self._began) * self._speed
        due = self._log.stamp[0] + round(elapsed * 1e9)
        while self._told < len(self._log) and self._log.stamp[self._told] <= due:
            self._states.publish(self._writer.message(self._log[self._told]))
            self._told += 1
        if self._told == len(self._log) and due > self._log.stamp[-1] + 10**9:
            self.exit_status = 0

    def _condition(self) -> Condition:
        figures = {'samples told': self._told, 'samples in all': len(self._log)}
        return Condition('', frozenset(), {**figures, 'gives_torque': False})


def main() -> int:
    """Run the node."""
    return main_of(ReplayBridge)


if __name__ == '__main__':
    sys.exit(main())
