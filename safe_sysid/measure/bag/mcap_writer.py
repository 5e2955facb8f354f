"""McapWriter: an MCAP file that is complete at every moment, also when its process is killed.

The file has its full size from the beginning (as a hole, which takes no space) and ends with a
footer from the beginning. Between the last message and the footer stands one padding record, which
readers skip. New records are written *inside* the padding, followed by the header of what is left
of it. Nobody sees them until one write of nine bytes, within one page of the file and so never
done by half, puts the header of the first new record in place of the padding's. To close the file
an index and a footer go into the padding, the file is cut off after them, and the padding shrinks
to nothing; in between, both ways to read a file (by index, from the front) find every message.
"""

from __future__ import annotations

import os
from pathlib import Path

from safe_sysid.measure.bag import mcap_records as mcap
from safe_sysid.measure.bag.mcap_chunk import McapChunk
from safe_sysid.measure.bag.topic import BagTopic
from safe_sysid.output_file import new_file

PAGE = 4096  # [bytes] the smallest there is
LIBRARY = 'safe_sysid'
BESIDES = 1024  # [bytes] footer, header, statistics without counts, fillers
PER_TOPIC = 256  # [bytes] at most in statistics, in the index of a chunk, and beside its texts
END = mcap.tail(0, ())


class McapWriter:
    """One file; what was written is in it from `commit` on."""

    def __init__(self, path: Path, size: int) -> None:
        self.counts: dict[int, int] = {}  # messages committed, by topic
        self.span = (0, 0)  # [ns] stamps of the first and last message committed
        self._size = size
        self._schemas: dict[str, bytes] = {}  # by type
        self._channels: dict[int, bytes] = {}
        self._chunk = McapChunk()
        self._indexes: list[bytes] = []
        self._summary = 0  # [bytes]
        head = mcap.MAGIC + mcap.header(LIBRARY)
        self._padding = len(head)  # offset of the padding record
        self._file = _complete_file(path, head, size)

    @staticmethod
    def size_for(topic: BagTopic, data: bytes) -> int:
        """Bytes that a file needs for one message."""
        texts = (
            topic.definition + topic.offered_qos + topic.name + 2 * topic.type + topic.type_hash
        )
        return 2 * len(texts.encode()) + len(data) + 2 * PER_TOPIC + 2 * BESIDES

    def has_room(self, topic: BagTopic, data: bytes) -> bool:
        """Whether one more message fits, with all that has to be said about it."""
        waiting = len(self._chunk.records) + 16 * (self._chunk.messages + 1)
        topics = PER_TOPIC * len(self._channels)
        spent = self._padding + waiting + topics + self._summary
        return spent + self.size_for(topic, data) <= self._size

    def describe(self, number: int, topic: BagTopic) -> None:
        """Say what a topic is, if that has not been said yet."""
        if number in self._channels:
            return
        schema = self._schemas.get(topic.type)
        if schema is None:
            schema = mcap.schema(len(self._schemas) + 1, topic.type, topic.definition)
            self._schemas[topic.type] = schema
            self._chunk.describe(schema)
        about = {
            'offered_qos_profiles': topic.offered_qos,
            'topic_type_hash': topic.type_hash,
        }
        schema_number = list(self._schemas).index(topic.type) + 1
        channel = mcap.channel(number, schema_number, topic.name, about)
        self._channels[number] = channel
        self._chunk.describe(channel)
        self._summary = self._summary + len(schema) + len(channel)

    def write(self, number: int, topic: BagTopic, stamp: int, published: int, data: bytes) -> None:
        """Take a message of topic `number`, 1 to 65535; stamps [ns] never go back."""
        self.describe(number, topic)
        self._chunk.add(number, stamp, published, data)

    def commit(self) -> None:
        """Make what was written part of the file."""
        chunk, first = self._chunk, not self._indexes
        if not chunk.messages:
            return
        block, index = chunk.at(self._padding)
        self._append(block)
        self._chunk = McapChunk()
        self._indexes.append(index)
        self._summary += len(index)
        self.span = (chunk.span[0] if first else self.span[0], chunk.span[1])
        for number, times in chunk.times.items():
            self.counts[number] = self.counts.get(number, 0) + len(times)

    def close(self) -> None:
        """Commit, write the index and cut off what is left."""
        self.commit()
        inside = self._padding + mcap.RECORD_HEADER.size
        statistics = mcap.statistics(
            self.counts, self.span, (len(self._schemas), len(self._channels)), len(self._indexes)
        )
        end = mcap.tail(
            inside,
            (
                (mcap.SCHEMA, b''.join(self._schemas.values())),
                (mcap.CHANNEL, b''.join(self._channels.values())),
                (mcap.CHUNK_INDEX, b''.join(self._indexes)),
                (mcap.STATISTICS, statistics),
            ),
        )
        _write(self._file, end, inside)
        os.ftruncate(self._file, inside + len(end))
        _write(self._file, mcap.RECORD_HEADER.pack(mcap.PADDING, 0), self._padding)
        os.close(self._file)

    def _append(self, block: bytes) -> None:
        """Put whole records in place of the beginning of the padding."""
        header = mcap.RECORD_HEADER.size
        after = self._padding + len(block)
        if after % PAGE > PAGE - header:  # its next header would cross a page
            block += mcap.record(mcap.PADDING)
            after += header
        left = self._size - len(END) - after - header
        _write(
            self._file,
            block[header:] + mcap.RECORD_HEADER.pack(mcap.PADDING, left),
            self._padding + header,
        )
        _write(self._file, block[:header], self._padding)
        self._padding = after


def _complete_file(path: Path, head: bytes, size: int) -> int:
    """Open a file that holds no messages yet and is complete, under its name."""
    with new_file(path) as unnamed:
        file = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            os.ftruncate(file, size)
            left = size - len(END) - len(head) - mcap.RECORD_HEADER.size
            _write(file, head + mcap.RECORD_HEADER.pack(mcap.PADDING, left), 0)
            _write(file, END, size - len(END))
        except OSError:
            os.close(file)
            raise
    return file


def _write(file: int, data: bytes, offset: int) -> None:
    """Write all of it: the system may write less at a time."""
    rest = memoryview(data)
    while rest:
        written = os.pwrite(file, rest, offset)
        rest, offset = rest[written:], offset + written
