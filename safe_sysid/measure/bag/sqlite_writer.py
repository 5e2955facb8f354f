"""SqliteWriter: a bag file in rosbag2's SQLite format, one transaction per commit.

A process killed inside a commit leaves a journal beside the file. Whoever opens the file for
writing next puts it back to the commit before; `sqlite3 FILE .tables` is enough. Readers that open
it read-only can't. An MCAP file needs nothing of the kind.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
import sqlite3

from safe_sysid.measure.bag.topic import BagTopic
from safe_sysid.output_file import new_file

SCHEMA_VERSION = 4
TABLES = f"""
CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);
CREATE TABLE metadata(
  id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL, metadata TEXT NOT NULL);
CREATE TABLE topics(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
  serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL,
  type_description_hash TEXT NOT NULL);
CREATE TABLE message_definitions(
  id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL, encoding TEXT NOT NULL,
  encoded_message_definition TEXT NOT NULL, type_description_hash TEXT NOT NULL);
CREATE TABLE messages(
  id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL,
  data BLOB NOT NULL);
CREATE INDEX timestamp_idx ON messages (timestamp ASC);
INSERT INTO schema VALUES ({SCHEMA_VERSION}, '');
"""
ROW = 64  # [bytes] of a message beside its data, roughly, with its entry in the index


class SqliteWriter:
    """One file; what was written is in it from `commit` on."""

    def __init__(self, path: Path, size: int) -> None:
        self.counts: dict[int, int] = {}  # messages committed, by topic
        self.span = (0, 0)  # [ns] stamps of the first and last message committed
        self._left = size
        self._types: set[str] = set()
        self._topics: set[int] = set()
        self._rows: list[tuple[int, int, bytes]] = []
        with new_file(path) as unnamed, closing(sqlite3.connect(unnamed)) as first:
            first.executescript(TABLES)
        self._file = sqlite3.connect(path, isolation_level=None)
        self._file.execute('PRAGMA synchronous = OFF')  # the system is not what ends

    @staticmethod
    def size_for(topic: BagTopic, data: bytes) -> int:
        """Bytes that a file needs for one message."""
        return len(topic.definition) + len(topic.offered_qos) + len(data) + ROW

    def has_room(self, topic: BagTopic, data: bytes) -> bool:
        """Whether one more message fits."""
        return self._left >= self.size_for(topic, data)

    def describe(self, number: int, topic: BagTopic) -> None:
        """Say what a topic is, if that has not been said yet."""
        if number in self._topics:
            return
        self._begin()
        self._topics.add(number)
        row = (number, topic.name, topic.type, 'cdr', topic.offered_qos, topic.type_hash)
        self._file.execute('INSERT INTO topics VALUES (?, ?, ?, ?, ?, ?)', row)
        self._left -= self.size_for(topic, b'')
        if topic.type in self._types:
            return
        self._types.add(topic.type)
        self._file.execute(
            'INSERT INTO message_definitions (topic_type, encoding, encoded_message_definition,'
            ' type_description_hash) VALUES (?, ?, ?, ?)',
            (topic.type, 'ros2msg', topic.definition, topic.type_hash),
        )

    def write(self, number: int, topic: BagTopic, stamp: int, published: int, data: bytes) -> None:
        """Take a message of topic `number`; the format has no place for when it was published."""
        del published
        self.describe(number, topic)
        self._rows.append((number, stamp, data))
        self._left -= len(data) + ROW

    def commit(self) -> None:
        """Make what was written part of the file."""
        rows, first = self._rows, not self.counts
        if not rows:
            return
        self._begin()
        self._file.executemany(
            'INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)', rows
        )
        self._file.execute('COMMIT')
        self._rows = []
        self.span = (rows[0][1] if first else self.span[0], rows[-1][1])
        for number, _, _ in rows:
            self.counts[number] = self.counts.get(number, 0) + 1

    def close(self) -> None:
        """Commit and close; what does not fit any more is taken back, so that readers see none."""
        try:
            self.commit()
        except sqlite3.Error:
            self._file.rollback()
            raise
        finally:
            self._file.close()

    def _begin(self) -> None:
        if not self._file.in_transaction:
            self._file.execute('BEGIN')
