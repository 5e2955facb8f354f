"""Records of the MCAP format as bytes: https://mcap.dev/spec."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import struct
import zlib

MAGIC = b'\x89MCAP0\r\n'
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK = 0x01, 0x02, 0x03, 0x04, 0x05, 0x06
MESSAGE_INDEX, CHUNK_INDEX, STATISTICS, SUMMARY_OFFSET, DATA_END = 0x07, 0x08, 0x0B, 0x0E, 0x0F
PADDING = 0x80  # from 0x80 on, codes belong to applications and readers skip the record
RECORD_HEADER = struct.Struct('<BQ')  # code, length of what follows
MESSAGE_HEADER = struct.Struct('<BQHIQQ')  # code, length, channel, sequence, log and publish time
MESSAGE_BYTES = 22  # of a message record beside its code, its length and its data

Times = list[tuple[int, int]]  # stamp [ns] and offset in the chunk of each message


def record(code: int, *parts: bytes | bytearray) -> bytes:
    """One record."""
    body = b''.join(parts)
    return RECORD_HEADER.pack(code, len(body)) + body


def header(library: str) -> bytes:
    """Return what a file of ROS 2 messages begins with."""
    return record(HEADER, _text('ros2'), _text(library))


def schema(number: int, name: str, definition: str) -> bytes:
    """Return a message type, defined by the text of its .msg file and those it needs."""
    parts = (struct.pack('<H', number), _text(name), _text('ros2msg'), _text(definition))
    return record(SCHEMA, *parts)


def channel(number: int, schema_number: int, topic: str, about: Mapping[str, str]) -> bytes:
    """Return a topic."""
    pairs = b''.join(_text(key) + _text(value) for key, value in about.items())
    return record(
        CHANNEL,
        struct.pack('<HH', number, schema_number),
        _text(topic),
        _text('cdr'),
        _sized(pairs),
    )


def chunk(first: int, last: int, records: bytes | bytearray) -> bytes:
    """Return records of messages between two stamps, not compressed."""
    head = struct.pack('<QQQI', first, last, len(records), zlib.crc32(records))
    return record(CHUNK, head, _text(''), struct.pack('<Q', len(records)), records)


def message_index(number: int, times: Times) -> bytes:
    """Where in a chunk the messages of one channel are."""
    entries = b''.join(struct.pack('<QQ', *entry) for entry in times)
    return record(MESSAGE_INDEX, struct.pack('<H', number), _sized(entries))


def chunk_index(
    span: tuple[int, int],
    place: tuple[int, int],
    indexes: Mapping[int, int],
    sizes: tuple[int, int],
) -> bytes:
    """Where a chunk is: its stamps, its offset and length, offsets of its indexes by channel.

    `sizes` are the bytes of all its indexes and of the records in it.
    """
    entries = b''.join(struct.pack('<HQ', *entry) for entry in indexes.items())
    index_bytes, records = sizes
    return record(
        CHUNK_INDEX,
        struct.pack('<QQQQ', *span, *place),
        _sized(entries),
        struct.pack('<Q', index_bytes),
        _text(''),
        struct.pack('<QQ', records, records),
    )


def statistics(
    counts: Mapping[int, int], span: tuple[int, int], described: tuple[int, int], chunks: int
) -> bytes:
    """How many messages there are, by channel, their first and last stamp; schemas, channels."""
    entries = b''.join(struct.pack('<HQ', *entry) for entry in counts.items())
    numbers = (sum(counts.values()), *described, 0, 0, chunks, *span)
    return record(STATISTICS, struct.pack('<QHIIIIQQ', *numbers), _sized(entries))


def tail(start: int, groups: Iterable[tuple[int, bytes]]) -> bytes:
    """Everything after the last message, from an offset on: summary by kind of record, footer."""
    data_end = record(DATA_END, struct.pack('<I', 0))
    at = summary_start = start + len(data_end)
    summary, offsets = b'', b''
    for code, records in groups:
        if records:
            offsets += record(SUMMARY_OFFSET, struct.pack('<BQQ', code, at, len(records)))
        summary += records
        at += len(records)
    if not summary:
        return data_end + record(FOOTER, struct.pack('<QQI', 0, 0, 0)) + MAGIC
    known = RECORD_HEADER.pack(FOOTER, 20) + struct.pack('<QQ', summary_start, at)
    checksum = zlib.crc32(summary + offsets + known)
    return data_end + summary + offsets + known + struct.pack('<I', checksum) + MAGIC


def _text(value: str) -> bytes:
    return _sized(value.encode())


def _sized(value: bytes) -> bytes:
    return struct.pack('<I', len(value)) + value
