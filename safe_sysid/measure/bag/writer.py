"""BagWriter: a rosbag2 of several files that survives its process being killed at any moment.

Whatever was written before the last `commit` is in the bag, and the bag can be read as it is:
every file that metadata.yaml names is complete, and metadata.yaml is always a whole one. After a
kill its counts may be those of the commit before. Survived is the end of the process, not that of
the machine: what the system has not yet put on the disk is lost with the power.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
import shutil
import sqlite3
from typing import Annotated, Protocol

from safe_sysid.config import OneOf, Range, Settings
from safe_sysid.errors import RecordingError
from safe_sysid.measure.bag.mcap_writer import McapWriter
from safe_sysid.measure.bag.metadata import BagFileFigures, BagMetadata
from safe_sysid.measure.bag.sqlite_writer import SqliteWriter
from safe_sysid.measure.bag.topic import BagTopic


class FileWriter(Protocol):
    """One file of a bag."""

    counts: dict[int, int]
    span: tuple[int, int]

    def has_room(self, topic: BagTopic, data: bytes) -> bool:
        """Whether one more message fits."""
        ...

    def describe(self, number: int, topic: BagTopic) -> None:
        """Say what a topic is, if that has not been said yet."""

    def write(self, number: int, topic: BagTopic, stamp: int, published: int, data: bytes) -> None:
        """Take a message."""

    def commit(self) -> None:
        """Make what was written part of the file."""

    def close(self) -> None:
        """Commit and finish the file."""


class Storage(Protocol):
    """Kind of file, by name of its plugin."""

    def __call__(self, path: Path, size: int) -> FileWriter:
        """Begin a file."""
        ...

    def size_for(self, topic: BagTopic, data: bytes) -> int:
        """Bytes that a file needs for one message."""
        ...


STORAGES: Mapping[str, tuple[Storage, str]] = {
    'mcap': (McapWriter, '.mcap'),
    'sqlite3': (SqliteWriter, '.db3'),
}
StorageName = Annotated[str, OneOf(tuple(STORAGES))]
FileSize = Annotated[float, Range(at_least=0.065536)]  # [MB]


@dataclass(frozen=True)
class BagSettings(Settings):
    """Kind and size of the files of a bag."""

    storage: StorageName = 'mcap'  # kind of the files
    file_size: FileSize = 128.0  # [MB], after which the next file begins
    ros_distro: str = ''  # empty if not known


class BagWriter:
    """A bag in a folder of its own."""

    def __init__(self, folder: Path, settings: BagSettings) -> None:
        self._folder = folder
        self._settings = settings
        self._storage, self._suffix = STORAGES[settings.storage]
        self._topics: list[BagTopic] = []
        self._described = 0  # topics that the file at hand knows, with messages or without
        self._finished: list[BagFileFigures] = []
        self._stamp = 0
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise RecordingError(
                f'{folder}: no new folder can be made ({error.strerror}); name one that '
                'does not exist, where you may write'
            ) from error
        try:
            self._file = self._next_file(round(settings.file_size * 1e6))
            self._guarded(self._say_what_is_there)
        except RecordingError:  # nothing is in the bag, so nothing of it stays
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def add_topic(self, topic: BagTopic) -> int:
        """Return number by which messages of a topic are written."""
        self._topics.append(topic)
        return len(self._topics)

    def write(self, number: int, stamp: int, published: int, data: bytes) -> None:
        """Take a serialised message; an earlier stamp [ns] than the last one counts as that."""
        topic = self._topics[number - 1]
        self._stamp = max(self._stamp, stamp)
        if not self._file.has_room(topic, data):
            self._begin_file(topic, data)
        self._guarded(self._describe_topics)
        stamp = self._stamp
        self._guarded(lambda: self._file.write(number, topic, stamp, published, data))

    def commit(self) -> None:
        """From here on, what was written survives the end of the process."""
        self._guarded(self._file.commit)
        self._guarded(self._say_what_is_there)

    def close(self) -> None:
        """Finish the bag."""
        self._guarded(self._file.close)
        self._guarded(self._say_what_is_there)

    def _begin_file(self, topic: BagTopic, data: bytes) -> None:
        """Finish the file and go on in the next one, with room for a message in any case."""
        last = self._file
        self._guarded(last.close)
        self._finished.append(BagFileFigures(self._name(), dict(last.counts), last.span))
        size = max(round(self._settings.file_size * 1e6), 2 * self._storage.size_for(topic, data))
        self._file, self._described = self._next_file(size), 0
        self._guarded(self._say_what_is_there)

    def _describe_topics(self) -> None:
        """Tell readers the types of topics without messages, too, as rosbag2 does."""
        for number, topic in list(enumerate(self._topics, 1))[self._described :]:
            self._described = number
            if self._file.has_room(topic, b''):
                self._file.describe(number, topic)

    def _next_file(self, size: int) -> FileWriter:
        path = self._folder / self._name()
        try:
            return self._storage(path, size)
        except (OSError, sqlite3.Error) as error:
            raise RecordingError(f'{path}: {_reason(error)}; recording ends here') from error

    def _name(self) -> str:
        return f'{self._folder.name}_{len(self._finished)}{self._suffix}'

    def _say_what_is_there(self) -> None:
        current = BagFileFigures(self._name(), self._file.counts, self._file.span)
        settings = self._settings
        BagMetadata(
            settings.storage, self._topics, [*self._finished, current], settings.ros_distro
        ).write(self._folder)

    def _guarded(self, write: Callable[[], None]) -> None:
        """Write something; what can't be written is told to the operator."""
        try:
            write()
        except (OSError, sqlite3.Error) as error:
            raise RecordingError(
                f'{self._folder}: {_reason(error)}; the bag holds everything up to the last '
                'commit, recording ends here'
            ) from error


def _reason(error: OSError | sqlite3.Error) -> str:
    """Return what is wrong, without the name of a file."""
    return getattr(error, 'strerror', None) or str(error)
