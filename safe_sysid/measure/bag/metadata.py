"""metadata.yaml of a bag: which files it has, which topics, and how many messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

from safe_sysid.measure.bag.topic import BagTopic
from safe_sysid.output_file import write_text

# The last one in which quality of service is text, so that every rosbag2 since Humble reads it.
VERSION = 8
FILE_NAME = 'metadata.yaml'


@dataclass(frozen=True)
class BagFileFigures:
    """What is in one file of a bag."""

    name: str
    counts: dict[int, int]  # messages by number of the topic
    span: tuple[int, int]  # [ns] stamps of the first and last message

    @property
    def messages(self) -> int:
        """Number of messages."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class BagMetadata:
    """Everything metadata.yaml says."""

    storage: str  # mcap or sqlite3
    topics: Sequence[BagTopic]  # number 1 first
    files: Sequence[BagFileFigures]
    ros_distro: str

    def write(self, folder: Path) -> None:
        """Put the file in place of the one before; there is always a complete one."""
        write_text(folder / FILE_NAME, self.text())

    def text(self) -> str:
        """Text in JSON, which is YAML too."""
        spans = [file.span for file in self.files if file.messages]
        span = (spans[0][0], spans[-1][1]) if spans else (0, 0)
        information = {
            'version': VERSION,
            'storage_identifier': self.storage,
            **_when(span),
            'message_count': sum(file.messages for file in self.files),
            'topics_with_message_count': [
                _about(topic, sum(file.counts.get(number, 0) for file in self.files))
                for number, topic in enumerate(self.topics, start=1)
            ],
            'compression_format': '',
            'compression_mode': '',
            'relative_file_paths': [file.name for file in self.files],
            'files': [
                {'path': file.name, **_when(file.span), 'message_count': file.messages}
                for file in self.files
            ],
            'custom_data': None,
            'ros_distro': self.ros_distro,
        }
        return json.dumps({'rosbag2_bagfile_information': information}, indent=1)


def _when(span: tuple[int, int]) -> dict[str, Any]:
    return {
        'duration': {'nanoseconds': span[1] - span[0]},
        'starting_time': {'nanoseconds_since_epoch': span[0]},
    }


def _about(topic: BagTopic, count: int) -> dict[str, Any]:
    return {
        'topic_metadata': {
            'name': topic.name,
            'type': topic.type,
            'serialization_format': 'cdr',
            'offered_qos_profiles': topic.offered_qos,
            'type_description_hash': topic.type_hash,
        },
        'message_count': count,
    }
