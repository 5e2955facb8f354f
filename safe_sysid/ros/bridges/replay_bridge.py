"""recording -> measure: a bag behind the topics of a robot, at its pace or as fast as it goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
import os
from pathlib import Path
import sys
import time

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from rclpy.clock import Clock, ClockType
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from safe_sysid.config import Positive
from safe_sysid.errors import ConfigError
from safe_sysid.loop_settings import LoopSettings
from safe_sysid.measure.bag.reader import read_rosbag
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.measure.turns import whole_turns
from safe_sysid.model.effort_contract import CommandSignal, EffortContract
from safe_sysid.ros.messages.codec import JointStateWriter, estimate_of
from safe_sysid.ros.messages.qos import EVERY_SAMPLE, HEALTH, STATE
from safe_sysid.ros.process.configured_node import ConfiguredNode
from safe_sysid.ros.process.main import FAULT, main_of
from safe_sysid.ros.process.parameters import read_config
from safe_sysid.ros.process.words import say
from safe_sysid.ros.watch.health import Condition, Health, heard_from
from safe_sysid.ros.watch.recorder_listens import RecorderListens
from safe_sysid.track.supervisor import Cause

LOOK = 0.002  # [s] between looks for samples that are due
AGAIN = 0.1  # [s] after which in lockstep the first sample is told again
AHEAD = 100  # samples that in lockstep may be on their way, fewer than EVERY_SAMPLE keeps
LAST_WORD = 1.0  # [s] after the last sample, then the process ends with the next word of others
NO_WORD = 5.0  # [s] after it; there are no others then


@dataclass(frozen=True)
class ReplaySettings(LoopSettings):
    """Parameters of the player."""

    bag: str = ''  # folder or file
    topic: str = ''  # of joint states; empty: the only one that reports all joints
    is_torque: bool = False  # whether effort is torque already; bags of our own loop are known
    recorded: bool = False  # whether in lockstep nothing is told before a recorder listens
    speed: Positive = 1.0  # times as fast as it was recorded

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.bag:
            raise ConfigError('bag is empty, it has to be the folder or file of a recording')

    def log(self) -> JointLog:
        """Return the recording as joint torques."""
        bare = replace(self, payload='').described()
        recording = read_rosbag(Path(self.bag), bare.layout.joint_names, self.topic or None)
        ones = bare.limits.torque * 0.0 + 1.0
        log = whole_turns(recording, bare.limits.is_continuous).log(ones, ones)
        if self.is_torque or recording.is_torque:
            return log
        contract = EffortContract(bare, CommandSignal())
        return replace(log, torque=contract.torque(log.torque, log.position))


class ReplayBridge(ConfiguredNode):
    """Publishes samples when they are due, or in lockstep as fast as estimates follow."""

    def __init__(self) -> None:
        super().__init__('replay_bridge')
        settings = read_config(self, ReplaySettings)
        self._speed, self._log = settings.speed, settings.log()
        self._layout = settings.described().layout
        self._prefix = self.get_namespace().rstrip('/') + '/'
        source = f'{self.get_fully_qualified_name()} {os.getpid()}'
        self._writer = JointStateWriter(self._layout.joint_names, source)
        self._states = self.create_publisher(JointState, 'joint_states', EVERY_SAMPLE)
        self._health = Health(self, self._condition)
        self._told = self._answered = 0  # samples
        self._began: float | None = None
        self._ended: float | None = None
        self._heard = -np.inf  # when another node said how it is [s]
        self.exit_status: int | None = None
        self.create_subscription(DiagnosticArray, '/diagnostics', self._on_health, HEALTH)
        step, period = self._keep_pace, LOOK
        self._recorder_listens = RecorderListens(self, settings.recorded)
        if settings.is_lockstep:
            step, period = self._ask_again, AGAIN
            self.create_subscription(
                Float64MultiArray, 'parameter_estimate', self._take_answer, STATE
            )
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self.create_timer(period, step, clock=steady)

    def _keep_pace(self) -> None:
        """Tell what is due, from the moment on that somebody listens."""
        if self._began is None:
            if self._states.get_subscription_count():
                self._began = time.monotonic()
            return
        elapsed = (time.monotonic() - self._began) * self._speed
        self._tell_until(self._samples_up_to(self._log.stamp[0] + round(elapsed * 1e9)))
        if self._told == len(self._log):
            self._end_soon()

    def _take_answer(self, msg: Float64MultiArray) -> None:
        """Tell more; not all at once, as a queue drops what it has no room for."""
        answered = self._samples_up_to(estimate_of(msg, self._layout).stamp)
        if answered < self._answered:  # an identifier that was started again begins anew
            self._told = 0
        self._answered = answered
        if answered:
            self._tell_until(answered + AHEAD)

    def _ask_again(self) -> None:
        """Tell the first sample until it was heard; no later one gets lost."""
        if not self._recorder_listens:
            return
        if self._answered == 0:
            self._told = 0
            self._tell_until(1)
        elif self._answered == len(self._log):
            self._end_soon()

    def _samples_up_to(self, stamp: int) -> int:
        return int(np.searchsorted(self._log.stamp, stamp, side='right'))

    def _tell_until(self, count: int) -> None:
        """Publish, so that this many samples are told."""
        count = min(count, len(self._log))
        for i in range(self._told, count):
            self._states.publish(self._writer.message(self._log[i]))
        self._told = max(self._told, count)

    def _on_health(self, msg: DiagnosticArray) -> None:
        """End when the identifier gives up: what comes after that teaches nothing."""
        for status in msg.status:
            heard = heard_from(status)
            namespace, _, name = status.name.rpartition('/')
            if heard is None or f'{namespace}/' != self._prefix or name == self.get_name():
                continue
            self._heard = time.monotonic()
            if Cause.CONTRADICTION in heard.faults and self.exit_status is None:
                say(f'the {name} gave up: {heard.trouble}')
                self.exit_status = FAULT

    def _end_soon(self) -> None:
        """End when everybody has had the time to take the last sample and to tell of it."""
        now = time.monotonic()
        if self._ended is None:
            self._ended = now
        due = self._ended + LAST_WORD
        if (self._heard > due or now > self._ended + NO_WORD) and self.exit_status is None:
            self.exit_status = 0

    def _condition(self) -> Condition:
        figures = {'samples told': self._told, 'samples in all': len(self._log)}
        return Condition('', frozenset(), {**figures, 'gives_torque': False})


def main() -> int:
    """Run the node."""
    return main_of(ReplayBridge)


if __name__ == '__main__':
    sys.exit(main())
