"""The recording a command is about: a rosbag or a table, with the joints of one arm."""

from __future__ import annotations

from collections.abc import Iterable
import contextlib
from dataclasses import dataclass, field
from pathlib import Path

from safe_sysid.arrays import Array
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.csv_log import Columns, read_csv, read_positions_csv
from safe_sysid.measure.numbered_columns import filled_names, filled_pattern
from safe_sysid.measure.recorded_file import PACKED, TABLES, packed
from safe_sysid.measure.recording import Recording


@dataclass(frozen=True)
class RecordingChoice:
    """Where a recording is and how its joints are called there."""

    path: Path
    topic: str | None = None  # of a rosbag, where several report the joints
    names: str = '{joint}'  # of a joint; {joint} is its name in the URDF, {i} and {n} its number
    columns: Columns = field(default_factory=Columns)  # of a table


def recording_of_choice(
    choice: RecordingChoice, joints: tuple[str, ...], torque_per_unit: Array | None = None
) -> Recording:
    """Return the recording, its joints in the order of the arm, as its driver reports them.

    What a loop of ours recorded is joint torque; with `torque_per_unit` that is turned back.
    """
    names = joint_names(choice, joints)
    if choice.path.suffix.lower() in TABLES:
        return read_csv(choice.path, names, choice.columns)
    if choice.path.suffix.lower() in PACKED:
        raise packed(choice.path)
    if choice.columns.rate is not None:
        raise MeasurementError(f'{choice.path}: a bag has times; --rate is for a table without')
    from safe_sysid.measure.bag.reader import read_rosbag  # what a table does not wait for

    recording = read_rosbag(choice.path, names, choice.topic)
    return recording if torque_per_unit is None else recording.as_driver(torque_per_unit)


def positions_of_others(choice: RecordingChoice, others: Iterable[str]) -> dict[str, Recording]:
    """Positions of joints that a recording has beside those of the arm, by name in the URDF.

    Columns that are found by a number alone belong to the joints of the arm.
    """
    found = {}
    for joint in others if '{joint}' in choice.names else ():
        with contextlib.suppress(MeasurementError):  # it has not been recorded
            found[joint] = _of_one(choice, filled_pattern(choice.names, joint, 0))
    return found


def _of_one(choice: RecordingChoice, name: str) -> Recording:
    if choice.path.suffix.lower() in TABLES:
        return read_positions_csv(choice.path, name, choice.columns)
    from safe_sysid.measure.bag.reader import read_positions

    return read_positions(choice.path, (name,), choice.topic)


def joint_names(choice: RecordingChoice, joints: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the joints in the recording, of which no two are the same."""
    return tuple(filled_names(choice.names, joints))
