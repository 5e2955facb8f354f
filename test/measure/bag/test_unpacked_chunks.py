"""A small bag that unpacks to much does not fill memory or disk; what is in order is read."""

from io import BytesIO
import struct
import tracemalloc

import lz4.frame
import numpy as np
import pytest
from rosbags.rosbag2 import (
    CompressionFormat,
    CompressionMode,
    StoragePlugin,
    Writer,
    reader,
    storage_mcap,
)
from rosbags.typesys import Stores, get_typestore

from safe_sysid.errors import MeasurementError
from safe_sysid.measure.bag import unpacked_chunks
from safe_sysid.measure.bag.damaged import CHUNK, Damage, messages
from safe_sysid.measure.bag.reader import read_rosbag
from safe_sysid.measure.bag.unpacked_chunks import (
    LARGEST,
    LimitedFile,
    unpacked_lz4,
    unpacked_message,
    unpacked_zstd,
)
from safe_sysid.measure.recorded_file import MCAP_MAGIC

zstd = unpacked_chunks._zstd()
PACKED = {'lz4': lz4.frame.compress, 'zstd': zstd.compress}
UNPACKED = {'lz4': unpacked_lz4, 'zstd': unpacked_zstd}
BOTH = pytest.mark.parametrize('kind', PACKED)
STORE = get_typestore(Stores.LATEST)
HUGE = 1 << 28  # [bytes]


@BOTH
@pytest.mark.parametrize('size', [0, 1, 70_000])
def test_what_was_packed_comes_back(kind, size, rng):
    content = rng.bytes(size)
    assert UNPACKED[kind](PACKED[kind](content), size) == content
    half = size // 2
    two = PACKED[kind](content[:half]) + PACKED[kind](content[half:])
    assert UNPACKED[kind](two, size) == content


@BOTH
def test_no_more_comes_out_than_was_told(kind):
    packed = PACKED[kind](bytes(HUGE))
    tracemalloc.start()
    with pytest.raises(MeasurementError, match='unpacks to more than the 1000 bytes it tells'):
        UNPACKED[kind](packed, 1000)
    with pytest.raises(MeasurementError, match=f'a chunk of {LARGEST + 1} bytes; at most'):
        UNPACKED[kind](packed, LARGEST + 1)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < HUGE / 10


@BOTH
def test_a_cut_chunk_is_not_taken_for_a_whole_one(kind, rng):
    content = rng.bytes(1000)
    with pytest.raises(MeasurementError, match='ends too early'):
        UNPACKED[kind](PACKED[kind](content)[:-3], 1000)


@BOTH
def test_a_chunk_of_a_file_that_tells_too_little_is_damage(kind, tmp_path):
    packed = PACKED[kind](bytes(HUGE // 16))
    name = kind.encode()
    content = struct.pack('<QQQI', 0, 0, 1000, 0) + struct.pack('<I', len(name)) + name
    content += struct.pack('<Q', len(packed)) + packed
    path = tmp_path / 'bag.mcap'
    path.write_bytes(MCAP_MAGIC + struct.pack('<BQ', CHUNK, len(content)) + content)
    with pytest.raises(Damage, match='a chunk that unpacks to more than the 1000 bytes it tells'):
        list(messages(path))
    with pytest.raises(MeasurementError, match='unpacks to more than the 1000 bytes it tells'):
        read_rosbag(path, ('a',))


@pytest.mark.parametrize('mode', [CompressionMode.MESSAGE, CompressionMode.FILE])
def test_bags_of_which_each_message_or_the_file_is_compressed_are_read(mode, tmp_path):
    kind = STORE.types['sensor_msgs/msg/JointState']
    header, time = STORE.types['std_msgs/msg/Header'], STORE.types['builtin_interfaces/msg/Time']
    writer = Writer(tmp_path / 'bag', version=9, storage_plugin=StoragePlugin.SQLITE3)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        connection = writer.add_connection('/joint_states', kind.__msgtype__, typestore=STORE)
        for k in range(5):
            msg = kind(header(time(0, k * 1000), ''), ['a'], *(np.full(1, k / 10),) * 3)
            data = STORE.serialize_cdr(msg, kind.__msgtype__)
            writer.write(connection, k * 1000, data)
    recording = read_rosbag(tmp_path / 'bag', ('a',))
    assert recording.position[:, 0].tolist() == [0.0, 0.1, 0.2, 0.3, 0.4]


def test_a_message_and_a_file_have_limits(monkeypatch):
    monkeypatch.setattr(unpacked_chunks, 'LARGEST', 1000)
    assert unpacked_message(zstd.compress(bytes(1000))) == bytes(1000)
    with pytest.raises(MeasurementError, match='more than the 1000 bytes'):
        unpacked_message(zstd.compress(bytes(1001)))
    file = LimitedFile(BytesIO(bytes(3000)), 2000)
    assert len(file.read(2000)) == 2000
    with pytest.raises(MeasurementError, match='more than 2000 bytes'):
        file.read(1)


def test_the_library_finds_these():
    assert reader.zstd.decompress is unpacked_message
    assert reader.zstd.open is unpacked_chunks.opened_file
    assert storage_mcap.DECOMPRESSORS == unpacked_chunks.UNPACKED
