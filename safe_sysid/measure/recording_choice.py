"""The recording a command is about: a rosbag or a table, with the joints of one arm."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from safe_sysid.measure.bag.reader import read_rosbag
from safe_sysid.measure.csv_log import Columns, filled_pattern, read_csv
from safe_sysid.measure.recording import Recording

TABLES = ('.csv', '.txt', '.tsv')


@dataclass(frozen=True)
class RecordingChoice:
    """Where a recording is and how its joints are called there."""

    path: Path
    topic: str | None = None  # of a rosbag, where several report the joints
    names: str = '{joint}'  # of a joint; {joint} is its name in the URDF, {i} and {n} its number
    columns: Columns = field(default_factory=Columns)  # of a table


def recording_of_choice(choice: RecordingChoice, joints: tuple[str, ...]) -> Recording:
    """Return the recording, its joints in the order of the arm."""
    names = joint_names(choice, joints)
    if choice.path.suffix.lower() in TABLES:
        return read_csv(choice.path, names, choice.columns)
    return read_rosbag(choice.path, names, choice.topic)


def joint_names(choice: RecordingChoice, joints: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the joints in the recording."""
    return tuple(filled_pattern(choice.names, j, i) for i, j in enumerate(joints))
