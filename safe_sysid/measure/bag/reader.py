"""A rosbag becomes a Recording, no ROS installation needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
import re

import numpy as np
from rosbags.rosbag2 import Reader

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.errors import MeasurementError
from safe_sysid.input_file import check_file, check_folder, is_file, is_folder, is_there
from safe_sysid.measure.bag import damaged
from safe_sysid.measure.bag.damaged import Damage, StoredMessage
from safe_sysid.measure.bag.joint_state_bytes import JointStateLayout, block_of, layout_of
from safe_sysid.measure.bag.sqlite_tables import check_tables
from safe_sysid.measure.bag.unpacked_chunks import use_in_library
from safe_sysid.measure.recorded_file import STORAGE, no_bag
from safe_sysid.measure.recording import Recording, Samples, recording_of

JOINT_STATE = 'sensor_msgs/msg/JointState'
SAMPLES, FOLLOWED = '/joint_states', '/plan_in_force'  # topics of a loop, in its namespace
SETTINGS = '/recorded/parameters'  # that its recorder adds
POSITIONS, WITH_EFFORT = (0,), (0, 2)  # sequences of a message that every joint has to be in
BLOCK = 4096  # messages that wait as bytes before they become numbers
LARGE = 1 << 24  # bytes that wait at most, beside one message
LONG_AGO = 3600 * 10**9  # [ns] before all others, which a sample of a driver is that has no clock

use_in_library()


def read_rosbag(path: Path, joints: tuple[str, ...], topic: str | None = None) -> Recording:
    """Return what a bag says about these joints: a folder, or one of its files without metadata.

    Joints are found by name in any order; messages about other joints are skipped. Without a
    topic there has to be only one with all the joints.
    """
    return _read(path, joints, topic, WITH_EFFORT)


def read_positions(path: Path, joints: tuple[str, ...], topic: str | None = None) -> Recording:
    """Return the same where nobody asks for efforts, which are 0."""
    return _read(path, joints, topic, POSITIONS)


def _read(
    path: Path, joints: tuple[str, ...], topic: str | None, needed: tuple[int, ...]
) -> Recording:
    if not is_there(path):
        raise MeasurementError(f'{path}: there is no such file or folder')
    taken: dict[str, _Taken] = {}
    remarks = []
    seen: set[str] = set()
    for part in _Parts(path).read():
        if isinstance(part, str):
            remarks.append(part)
            continue
        seen.add(f'{part.topic} ({part.type})')
        if part.type == JOINT_STATE and topic in (None, part.topic):
            taken.setdefault(part.topic, _Taken(joints, needed)).add(part)
    name, chosen = _chosen(_described(path, remarks), topic, taken, seen)
    recording = recording_of(
        str(path), joints, chosen.samples(), (*remarks, *chosen.remarks(name))
    )
    return replace(recording, is_torque=_is_of_loop(name, {one.split()[0] for one in seen}))


def _is_of_loop(topic: str, seen: set[str]) -> bool:
    """Whether a loop of ours told this, beside which a driver may report in its own way."""
    told = topic.removesuffix(SAMPLES) + FOLLOWED
    return topic.endswith(SAMPLES) and {told, SETTINGS} <= seen


def read_messages(path: Path, kind: str) -> dict[str, list[StoredMessage]]:
    """Messages of one type as they are stored, by topic."""
    found: dict[str, list[StoredMessage]] = {}
    for part in _Parts(path, kind).read():
        if not isinstance(part, str) and part.type == kind and _makes_sense(part):
            found.setdefault(part.topic, []).append(part)
    return found


class _Parts:
    """Messages of a bag, and sentences about what could not be read."""

    def __init__(self, path: Path, kind: str = JOINT_STATE) -> None:
        self._path, self._kind = path, kind

    def read(self) -> Iterator[StoredMessage | str]:
        """With the library where the bag is whole; file by file, from the front, where not."""
        check = check_folder if is_folder(self._path) else check_file
        check(self._path, MeasurementError)
        check_tables(self._path)
        count = 0
        try:
            with Reader(self._path) as reader:
                connections = [c for c in reader.connections if c.msgtype == self._kind]
                others = [c for c in reader.connections if c.msgtype != self._kind]
                for other in others:
                    yield StoredMessage(other.topic, other.msgtype, 0, b'')
                if connections:
                    for connection, received, data in reader.messages(connections):
                        count += 1
                        yield StoredMessage(connection.topic, self._kind, received, data)
        except Exception as error:  # noqa: BLE001 - damaged bytes raise whatever they like
            if count:
                yield f'damaged after {count} messages ({error}); the rest is lost'
                return
            yield from self._from_the_front(str(error))

    def _from_the_front(self, reason: str) -> Iterator[StoredMessage | str]:
        files = _storage_files(self._path)
        if not files:
            raise no_bag(self._path, reason)
        if is_folder(self._path):
            yield f'no usable metadata.yaml, read file by file: {[f.name for f in files]}'
        for file in files:
            count = 0
            try:
                for message in damaged.messages(file):
                    count += 1
                    yield message
            except Damage as damage:
                yield f'{file.name} is damaged: {damage}; {count} messages before that were read'


def _storage_files(path: Path) -> list[Path]:
    """Files of a bag in the order they were written: bag_0, bag_1, ... bag_10."""
    if is_file(path):
        return [path] if path.suffix in STORAGE else []
    found = [x for x in path.iterdir() if x.suffix in STORAGE and x.name[0] != '.']  # unfinished
    return sorted(found, key=lambda f: [int(x) for x in re.findall(r'\d+', f.stem)] or [0])


def _described(path: Path, remarks: list[str]) -> str:
    """Return the bag in an error message, with what could not be read of it."""
    return f'{path} ({"; ".join(remarks)})' if remarks else str(path)


def _chosen(
    path: str, topic: str | None, taken: dict[str, _Taken], seen: set[str]
) -> tuple[str, _Taken]:
    """Return the only topic that tells about all the joints."""
    if topic is None:
        useful = {name: one for name, one in taken.items() if one.samples_count}
    else:
        useful = taken
    if len(useful) == 1:
        return next(iter(useful.items()))
    if len(useful) > 1:
        raise MeasurementError(
            f'{path}: {sorted(useful)} all report these joints; choose one with --topic'
        )
    if taken:
        name, one = next(iter(sorted(taken.items())))
        raise MeasurementError(f'{path}: {one.refusal(name)}')
    wanted = JOINT_STATE if topic is None else f'{JOINT_STATE} on {topic}'
    raise MeasurementError(
        f'{path}: no {wanted}; it has {sorted(seen) if seen else "no readable message"}'
    )


@dataclass
class _Kind:
    """Messages of one layout: where the joints are in them, nowhere if they are of no use."""

    layout: JointStateLayout
    columns: IntArray | None
    why_not: str


@dataclass
class _Taken:
    """Messages of one topic become arrays, block by block."""

    joints: tuple[str, ...]
    needed: tuple[int, ...]
    kinds: list[_Kind] = field(default_factory=list)
    current: _Kind | None = None
    waiting: list[bytes] = field(default_factory=list)
    size: int = 0  # of those that wait [bytes]
    received: list[int] = field(default_factory=list)
    parts: list[tuple[IntArray, IntArray, Array, Array | None, Array]] = field(
        default_factory=list
    )
    skipped: dict[str, int] = field(default_factory=dict)

    def add(self, message: StoredMessage) -> None:
        """Take one message."""
        kind = self._kind(message.data) if _makes_sense(message) else None
        if kind is None or kind.columns is None:
            why = 'that cannot be read' if kind is None else kind.why_not
            self.skipped[why] = self.skipped.get(why, 0) + 1
            return
        is_full = len(self.waiting) >= BLOCK or self.size >= LARGE
        if kind is not self.current or is_full:
            self._flush()
            self.current = kind
        self.waiting.append(message.data)
        self.size += len(message.data)
        self.received.append(message.received)

    @property
    def samples_count(self) -> int:
        """Messages about all the joints so far."""
        return len(self.waiting) + sum(len(part[0]) for part in self.parts)

    def samples(self) -> Samples:
        """All of them; by the stamps of the driver if it gave any, else as they were received."""
        self._flush()
        columns: list[list[AnyArray]] = [list(column) for column in zip(*self.parts, strict=True)]
        self.parts.clear()
        lengths = [len(part) for part in columns[0]]
        without = sum(n for n, v in zip(lengths, columns[3], strict=True) if v is None)
        self._without_velocity = without if without < sum(lengths) else 0
        stamp, received, position = (_joined(columns[i]) for i in (0, 1, 2))
        velocity = None if without else _joined(columns[3])
        effort = _joined(columns[4])
        self._stamped = bool(np.count_nonzero(stamp) > len(stamp) // 2)
        samples = Samples(stamp if self._stamped else received, position, velocity, effort)
        return self._with_stamps(samples) if self._stamped else samples

    def _with_stamps(self, samples: Samples) -> Samples:
        """Leave out samples that a driver reported before it had a clock."""
        has = samples.stamp != 0
        if has.all() or samples.stamp[has].min() < LONG_AGO:  # a clock that begins at 0
            return samples
        self.skipped['without a stamp'] = int(np.count_nonzero(~has))
        velocity = None if samples.velocity is None else samples.velocity[has]
        return Samples(samples.stamp[has], samples.position[has], velocity, samples.effort[has])

    def remarks(self, topic: str) -> list[str]:
        """Which topic this was, and what was left out."""
        source = (
            'stamps of the driver' if self._stamped else 'no stamps of the driver: when received'
        )
        found = [f'topic {topic}, {source}']
        if self._without_velocity:
            found.append(
                f'{self._without_velocity} messages have no velocity: for all of them it is '
                'taken from the positions'
            )
        return found + [f'{count} messages skipped {why}' for why, count in self.skipped.items()]

    def refusal(self, topic: str) -> str:
        """Why none of the messages is of use."""
        why = ', '.join(f'{count} messages {why}' for why, count in self.skipped.items())
        return (
            f'nothing on {topic} reports position and effort of {list(self.joints)}: {why}; is it '
            'a recording of another arm (--robot)?'
        )

    def _kind(self, data: bytes) -> _Kind | None:
        if self.current is not None and self.current.layout.fits(data):
            return self.current
        for kind in self.kinds:
            if kind.layout.fits(data):
                return kind
        try:
            layout = layout_of(data)
        except MeasurementError:
            return None
        for kind in self.kinds:
            if kind.layout.equals(layout):
                return kind
        self.kinds.append(_kind_of(layout, self.joints, self.needed))
        return self.kinds[-1]

    def _flush(self) -> None:
        if self.current is None or not self.waiting:
            return
        block, columns = block_of(self.current.layout, self.waiting), self.current.columns
        position, velocity, effort = block.numbers
        self.parts.append(
            (
                block.stamp,
                np.array(self.received, dtype=np.int64),
                position[:, columns],
                velocity[:, columns] if velocity.shape == position.shape else None,
                (effort if self.needed == WITH_EFFORT else 0.0 * position)[:, columns],
            )
        )
        self.waiting.clear()
        self.size = 0
        self.received.clear()


def _joined(parts: list[AnyArray]) -> AnyArray:
    """One array; the parts are let go."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole


def _makes_sense(message: StoredMessage) -> bool:
    """Whether damage left the columns of a row what they have to be."""
    return isinstance(message.data, bytes) and (
        isinstance(message.received, int) and 0 <= message.received < 1 << 63
    )


def _kind_of(layout: JointStateLayout, joints: tuple[str, ...], needed: tuple[int, ...]) -> _Kind:
    missing = [joint for joint in joints if joint not in layout.names]
    counts = [count for _, count in layout.places]
    names = len(layout.names)
    if missing:
        why_not = f'about {list(layout.names)}, without {missing}'
    elif twice := [joint for joint in joints if layout.names.count(joint) > 1]:
        why_not = f'that name {twice} more than once'
    elif any(counts[i] != names for i in needed):
        why_not = f'with {counts[0]} positions and {counts[2]} efforts for {names} joints'
    else:
        columns = np.array([layout.names.index(joint) for joint in joints])
        return _Kind(layout, columns, '')
    return _Kind(layout, None, why_not)
