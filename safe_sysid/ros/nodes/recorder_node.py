"""Records every topic into a bag that is complete whenever the recorder ends, killed or not.

What cannot be written ends the recording, not the process, and never the run: the diagnostics say
why and how much was kept. With `required` it is a fault, which brakes the arm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
import os
from pathlib import Path
import re
import sys
import time
from typing import Annotated

from rclpy.clock import Clock, ClockType
from rclpy.serialization import serialize_message
from std_msgs.msg import String

from safe_sysid.config import Range
from safe_sysid.errors import ConfigError, RecordingError
from safe_sysid.loop_settings import LoopSettings
from safe_sysid.measure.bag.topic import BagTopic, Delivery
from safe_sysid.measure.bag.writer import BagSettings, BagWriter, FileSize, StorageName
from safe_sysid.model.facts import facts_path, read_facts, urdf_path
from safe_sysid.model.urdf_tree import urdf_text
from safe_sysid.ros.messages.definitions import definition
from safe_sysid.ros.messages.inbox import Inbox, Letter
from safe_sysid.ros.messages.recorded_arm import TEXT, RecordedArm
from safe_sysid.ros.messages.recorded_topics import RecordedTopics
from safe_sysid.ros.process.configured_node import ConfiguredNode
from safe_sysid.ros.process.leaving import LeaveAsMonitor
from safe_sysid.ros.process.main import main_of
from safe_sysid.ros.process.parameter_survey import ParameterSurvey, parameter_file
from safe_sysid.ros.process.parameters import read_config
from safe_sysid.ros.process.told_parameters import told_parameters
from safe_sysid.ros.watch.health import Condition, Health
from safe_sysid.track.supervisor import Cause

FETCH = 0.01  # [s] between looks into the queues
Interval = Annotated[float, Range(at_least=FETCH)]  # [s]
LOOK = 0.1  # [s] between looks for new topics and nodes
DRAWS = 'robot_state_publisher'  # node whose transforms are better than ours
# Topics that are only in the bag: what a run needs to be repeated.
URDF, SETTINGS, PARAMETERS = (
    f'/recorded/{name}' for name in ('robot_description', 'robot_settings', 'parameters')
)


@dataclass(frozen=True)
class RecorderSettings(LoopSettings):
    """What is recorded, and where; URDF and settings of the robot go into the bag."""

    folder: str = ''  # of the bag; one that exists is left alone. Empty: recording_<date>_<time>
    topics: str = '.*'  # regular expression that a whole topic name has to match
    storage: StorageName = 'mcap'  # kind of the files
    file_size: FileSize = 128.0  # [MB], after which the next file of the bag begins
    commit_interval: Interval = 0.5  # [s]; what a killed recorder loses is not older
    required: bool = False  # whether the arm brakes when nothing can be recorded any more
    started: tuple[str, ...] = ()  # nodes whose parameters are in the arguments of this process

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            re.compile(self.topics)
        except re.error as error:
            raise ConfigError(
                f"topics is '{self.topics}', which is no regular expression: {error}"
            ) from error


class RecorderNode(ConfiguredNode):
    """Subscribes to whatever appears, and writes it down."""

    longest_turn = 60.0  # [s], as another process may leave with a lock of the middleware

    def __init__(self) -> None:
        super().__init__('recorder')
        settings = read_config(self, RecorderSettings)
        self._settings = settings
        self.leave = LeaveAsMonitor(self)
        name = settings.folder or f'recording_{datetime.now(timezone.utc):%Y%m%d_%H%M%S}'
        folder = free_folder(Path(name))
        distro = os.environ.get('ROS_DISTRO', '')
        self._bag = BagWriter(folder, BagSettings(settings.storage, settings.file_size, distro))
        self._inbox = Inbox(self)
        self._topics = RecordedTopics(
            self, self._inbox, self._bag.add_topic, lambda: self._guarded(self._write_letters)
        )
        self._survey = ParameterSurvey(self, self._write_parameters)
        self._texts = {name: self._text_topic(name) for name in (URDF, SETTINGS, PARAMETERS)}
        self._arm = self._write_robot(settings.robot)
        self._write_handed_over(settings.started)
        self._committed = time.monotonic()
        self._written = self._kept = 0  # messages; those kept are committed
        self._stopped = ''  # why nothing is recorded any more
        self._health = Health(self, self._condition)
        steady = Clock(clock_type=ClockType.STEADY_TIME)  # whatever /clock does
        self.create_timer(FETCH, self._fetch, clock=steady)
        self.create_timer(LOOK, self._look, clock=steady)
        self.get_logger().info(f'recording into {folder}')

    def close(self) -> None:
        """Fetch what is still there, and finish the bag."""
        if not self._stopped:
            self._guarded(self._write_letters)
            self._inbox.close()
            self._guarded(self._bag.close)

    def _look(self) -> None:
        """Subscribe to topics that are new and have a publisher."""
        if self._stopped:
            return
        self._topics.look(lambda topic: bool(re.fullmatch(self._settings.topics, topic)))
        if self._stopped:  # by what was written for it
            return
        publishers = self.get_publishers_info_by_topic(self._arm.tf.name)
        self._arm.is_told = any(each.node_name == DRAWS for each in publishers)
        self._survey.step()

    def _fetch(self) -> None:
        if self._stopped:
            return
        self._guarded(self._write_letters)
        now = time.monotonic()
        if now - self._committed >= self._settings.commit_interval and not self._stopped:
            self._guarded(self._commit)
            self._committed = now

    def _commit(self) -> None:
        self._bag.commit()
        self._kept = self._written

    def _guarded(self, write: Callable[[], None]) -> bool:
        """Write something; what cannot be written ends the recording and nothing else.

        Whether the recording goes on.
        """
        try:
            write()
        except (RecordingError, OSError) as error:
            if not self._stopped:
                self._stop(str(error))
        return not self._stopped

    def _stop(self, why: str) -> None:
        """Listen no more, and leave a bag that can be read."""
        self._stopped = f'recording stopped, {self._kept} messages are kept: {why}'
        self.get_logger().error(self._stopped)
        self._inbox.close()
        self._guarded(self._bag.close)
        self._health.announce()

    def _condition(self) -> Condition:
        is_fault = bool(self._stopped) and self._settings.required
        faults = frozenset({Cause.NOT_RECORDED} if is_fault else ())
        trouble = self._stopped or self._topics.trouble
        return Condition(trouble, faults, {'messages kept': self._kept})

    def _write_letters(self) -> None:
        for letter in self._inbox.fetch():
            self._bag.write(letter.topic, letter.received, letter.published, letter.data)
            self._written += 1
            if self._topics.is_of(letter.topic, self._arm.joint_states):
                self._arm.hear(letter.data)

    def _write_robot(self, robot: str) -> RecordedArm:
        """Write what the arm is, for whoever repeats the run, and for whoever looks at it."""
        config = Path(robot) if Path(robot).suffix in ('.yaml', '.yml') else facts_path(robot)
        urdf = urdf_path(config, read_facts(config))
        self._write_text(URDF, urdf_text(urdf))
        self._write_text(SETTINGS, config.read_text(encoding='utf-8'))
        arm = RecordedArm(urdf, f'{self.get_namespace().rstrip("/")}/', self._write_drawing)
        for sentence in arm.outside:
            self.get_logger().warning(f'a mesh is not in the recording: {sentence}')
        arm.begin(time.time_ns())
        return arm

    def _write_drawing(self, topic: BagTopic, data: bytes) -> None:
        if re.fullmatch(self._settings.topics, topic.name):
            now = time.time_ns()
            self._inbox.put(Letter(now, now, self._topics.number(topic), data))

    def _write_handed_over(self, started: tuple[str, ...]) -> None:
        """Parameters that others were started with; what they answer themselves comes later."""
        folder = self.get_namespace().rstrip('/')
        for name in (f'{folder}/{node}' for node in started):
            self._write_parameters(parameter_file(name, told_parameters(sys.argv, name)))

    def _write_parameters(self, text: str) -> None:
        self._write_text(PARAMETERS, text)

    def _text_topic(self, name: str) -> int:
        return self._bag.add_topic(BagTopic(name, TEXT, definition(TEXT), '', Delivery.LATCHED))

    def _write_text(self, topic: str, text: str) -> None:
        now = time.time_ns()
        data = serialize_message(String(data=text))
        self._inbox.put(Letter(now, now, self._texts[topic], data))


def free_folder(folder: Path) -> Path:
    """Return the folder, or the first of folder_2, folder_3, ... that is free.

    A recorder that crashed is started again with the settings it had, and goes on beside its bag.
    """
    free, count = folder, 1
    while free.exists():
        count += 1
        free = folder.with_name(f'{folder.name}_{count}')
    return free


def main() -> int:
    """Run the node."""
    return main_of(RecorderNode)


if __name__ == '__main__':
    sys.exit(main())
