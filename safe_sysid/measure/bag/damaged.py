"""Messages out of storage files that were never closed: a cut mcap, a cut or open sqlite3.

Files are read from the front, in the order they were written, up to the first byte that is
missing or makes no sense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
import sqlite3
import struct
from typing import BinaryIO, NamedTuple

from safe_sysid.errors import MeasurementError
from safe_sysid.measure.bag.unpacked_chunks import UNPACKED
from safe_sysid.measure.recorded_file import MCAP_MAGIC, SQLITE_MAGIC

SCHEMA, CHANNEL, MESSAGE, CHUNK, END_OF_DATA = 0x03, 0x04, 0x05, 0x06, 0x0F
LARGEST_RECORD = 1 << 30  # [bytes]; a length beyond it is damage
NAMED = 40  # letters of a name that nobody knows, which damage may have made long


class StoredMessage(NamedTuple):
    """One message as it is stored."""

    topic: str
    type: str
    received: int  # [ns] when it was recorded
    data: bytes


class Damage(Exception):  # noqa: N818 - what is found, not what went wrong here
    """Where a file stops making sense; everything before it was yielded."""


def messages(path: Path) -> Iterator[StoredMessage]:
    """Every message up to the damage, which is raised as `Damage` unless there is none."""
    with path.open('rb') as file:
        start = file.read(len(SQLITE_MAGIC))
    if start.startswith(MCAP_MAGIC):
        try:
            yield from _mcap_messages(path)
        except struct.error as error:
            raise Damage('it has a record that is too short for what it is') from error
    elif start == SQLITE_MAGIC:
        yield from _sqlite_messages(path)
    else:
        raise Damage('it begins like neither an mcap nor an sqlite3 file')


def _sqlite_messages(path: Path) -> Iterator[StoredMessage]:
    connection = sqlite3.connect(f'{path.resolve().as_uri()}?mode=ro&immutable=1', uri=True)
    try:
        # Without it a file that is shorter than its header says is refused as a whole.
        connection.execute('PRAGMA writable_schema = ON')
        topics = {
            number: (name, kind)
            for number, name, kind in connection.execute('SELECT id, name, type FROM topics')
        }
        rows = connection.execute('SELECT topic_id, timestamp, data FROM messages')
        for topic, received, data in rows:
            if topic not in topics or not isinstance(received, int) or not data:
                raise Damage('a row makes no sense')
            yield StoredMessage(*topics[topic], received, data)
    except sqlite3.Error as error:
        raise Damage(str(error)) from error
    finally:
        connection.close()


def _mcap_messages(path: Path) -> Iterator[StoredMessage]:
    schemas: dict[int, str] = {}
    channels: dict[int, tuple[str, str]] = {}
    with path.open('rb') as file:
        file.seek(len(MCAP_MAGIC))
        for kind, content in _records(file):
            if kind == END_OF_DATA:
                return
            if kind == SCHEMA:
                schemas[_number(content)] = _text(content, 2)[0]
            elif kind == CHANNEL:
                name, _ = _text(content, 4)
                (schema,) = struct.unpack_from('<H', content, 2)
                channels[_number(content)] = (name, schemas.get(schema, ''))
            elif kind == MESSAGE:
                channel, _, received, _ = struct.unpack_from('<HIQQ', content)
                yield StoredMessage(*channels.get(channel, ('', '')), received, content[22:])


def _records(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield records of a file, those inside of chunks as well."""
    while head := file.read(9):
        if len(head) < 9:
            raise Damage('it ends inside of a record')
        kind, length = struct.unpack('<BQ', head)
        if length > LARGEST_RECORD:
            raise Damage(f'it has a record of {length} bytes')
        content = file.read(length)
        if kind == CHUNK:
            yield from _chunk(content)
        elif len(content) == length:
            yield kind, content
        if len(content) < length:
            raise Damage('it ends inside of a record')
    raise Damage('it has no end')


def _chunk(content: bytes) -> Iterator[tuple[int, bytes]]:
    try:
        (size,) = struct.unpack_from('<Q', content, 16)
        compression, at = _text(content, 28)
        compressed = content[at + 8 :]
        unpacked = _unpacking(compression)
    except struct.error as error:
        raise Damage('it ends at the head of a chunk') from error
    try:
        records = unpacked(compressed, size)
    except MeasurementError as error:
        raise Damage(f'it has {error}') from error
    except Exception as error:  # libraries have errors of their own
        raise Damage(f'it has a {compression[:NAMED]} chunk that cannot be unpacked') from error
    # A chunk has no mark at its end.
    stream = BytesIO(records)
    while stream.tell() < len(records):
        head = stream.read(9)
        if len(head) < 9:
            return
        kind, length = struct.unpack('<BQ', head)
        inside = stream.read(min(length, LARGEST_RECORD))
        if len(inside) < length:
            return
        yield kind, inside


def _unpacking(compression: str) -> Callable[[bytes, int], bytes]:
    if compression not in UNPACKED:
        named = compression[:NAMED]
        raise Damage(f"it is compressed with '{named}', which cannot be unpacked here")
    return UNPACKED[compression]


def _number(content: bytes) -> int:
    return int(struct.unpack_from('<H', content)[0])


def _text(content: bytes, at: int) -> tuple[str, int]:
    """Text at a byte, and the byte after it."""
    (length,) = struct.unpack_from('<I', content, at)
    begin = at + 4
    return content[begin : begin + length].decode(errors='replace'), begin + length
