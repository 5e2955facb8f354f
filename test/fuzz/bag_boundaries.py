"""Where parts of a file of a bag begin, by what they are, and bags of every way to write one."""

from functools import cache
from pathlib import Path
import struct
import tempfile

from measure.bag.bags import PLUGINS, STORE, three_joints
import numpy as np
from rosbags.rosbag2 import CompressionFormat, CompressionMode, Writer

from safe_sysid.measure.bag.mcap_records import (
    CHANNEL,
    CHUNK,
    CHUNK_INDEX,
    DATA_END,
    FOOTER,
    HEADER,
    MAGIC,
    MESSAGE,
    MESSAGE_INDEX,
    PADDING,
    RECORD_HEADER,
    SCHEMA,
    STATISTICS,
    SUMMARY_OFFSET,
)
from safe_sysid.measure.bag.topic import BagTopic, Delivery
from safe_sysid.measure.bag.writer import BagSettings, BagWriter

KIND = 'sensor_msgs/msg/JointState'
NAMES = {
    HEADER: 'header', FOOTER: 'footer', SCHEMA: 'schema', CHANNEL: 'channel', MESSAGE: 'message',
    CHUNK: 'chunk', MESSAGE_INDEX: 'message index', CHUNK_INDEX: 'chunk index',
    STATISTICS: 'statistics', SUMMARY_OFFSET: 'summary offset', DATA_END: 'end of the data',
    PADDING: 'padding',
}  # fmt: skip
HEAD_OF_CHUNK = {  # what is how far behind the begin of its content
    'first stamp': 0, 'last stamp': 8, 'size of its records': 16, 'checksum': 24, 'compression': 28
}  # fmt: skip
SQLITE = {  # of the header of a file
    'magic': 0, 'size of a page': 16, 'versions': 18, 'payload': 21, 'number of pages': 28,
    'free pages': 32, 'schema': 40, 'encoding': 56,
}  # fmt: skip
PAGE = {'kind': 0, 'free block': 1, 'cells': 3, 'content': 5, 'pointers': 8}  # of its head
SMALLEST = 0.07  # [MB] of a file of ours
MESSAGES = 12


def mcap_boundaries(data):
    """Offset and name of every record of an mcap, those in chunks that are not compressed too."""
    found = [(0, 'magic'), *_records(data, len(MAGIC), len(data) - len(MAGIC))]
    return [*found, (len(data) - len(MAGIC), 'magic at the end')]


def _records(data, at, end):
    while at + RECORD_HEADER.size <= end:
        code, length = RECORD_HEADER.unpack_from(data, at)
        content = at + RECORD_HEADER.size
        yield at, NAMES.get(code, 'other')
        yield at + 1, f'length of {NAMES.get(code, "other")}'
        yield content, f'content of {NAMES.get(code, "other")}'
        if code == CHUNK:
            yield from _in_chunk(data, content, content + length)
        at = content + length


def _in_chunk(data, at, end):
    yield from ((at + shift, f'{name} of a chunk') for name, shift in HEAD_OF_CHUNK.items())
    (length,) = struct.unpack_from('<I', data, at + HEAD_OF_CHUNK['compression'])
    records = at + 32 + length + 8
    yield records - 8, 'size of compressed records'
    if length:
        yield records, 'compressed records'
        yield (records + end) // 2, 'inside of compressed records'
    else:
        yield from _records(data, records, end)


def sqlite_boundaries(data):
    """Offset and name of parts of the header, and of the head and the first cell of every page."""
    found = [(shift, f'{name} of the file') for name, shift in SQLITE.items()]
    (size,) = struct.unpack_from('>H', data, 16)
    for page in range(0, len(data), size):
        head = page if page else 100
        kind = data[head]
        found += [(head + shift, f'{name} of a page {kind}') for name, shift in PAGE.items()]
        (cell,) = struct.unpack_from('>H', data, head + 8)
        found.append((min(page + cell, len(data) - 1), f'cell of a page {kind}'))
    return found


def _library(storage, *, compressed=False):
    """Folder written by the library that other tools use."""

    def write(folder):
        bag, *_ = three_joints(np.random.default_rng(3), MESSAGES)
        writer = Writer(folder, version=9, storage_plugin=PLUGINS[storage])
        if compressed:
            writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        with writer:
            topic = writer.add_connection('/joint_states', KIND, typestore=STORE)
            for _, _, received, data in bag.messages:
                writer.write(topic, received, data)

    return write


def _ours(storage, *, is_closed):
    """Folder written by a recorder of ours; one that was killed has left its padding."""

    def write(folder):
        bag, *_ = three_joints(np.random.default_rng(3), MESSAGES)
        writer = BagWriter(folder, BagSettings(storage, SMALLEST))
        number = writer.add_topic(
            BagTopic('/joint_states', KIND, 'string[] name\n', '', Delivery.RELIABLE)
        )
        for i, (_, _, received, data) in enumerate(bag.messages):
            writer.write(number, received, received, data)
            if i % 4 == 3:
                writer.commit()
        if is_closed:
            writer.close()

    return write


WAYS = {
    'mcap': _library('mcap'),
    'mcap, compressed': _library('mcap', compressed=True),
    'mcap of ours': _ours('mcap', is_closed=True),
    'mcap of ours, killed': _ours('mcap', is_closed=False),
    'sqlite3': _library('sqlite3'),
    'sqlite3 of ours': _ours('sqlite3', is_closed=True),
}


@cache
def written(way):
    """Name and content of each file of a bag, the one with messages first."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'bag'
        WAYS[way](path)
        files = {file.name: file.read_bytes() for file in path.iterdir()}
    return dict(sorted(files.items(), key=lambda file: file[0].endswith('.yaml')))


@cache
def boundaries(way):
    """Offsets in the file with messages, by name."""
    data = next(iter(written(way).values()))
    pairs = (mcap_boundaries if 'mcap' in way else sqlite_boundaries)(data)
    found = {}
    for offset, name in pairs:
        found.setdefault(name, []).append(offset)
    return found
