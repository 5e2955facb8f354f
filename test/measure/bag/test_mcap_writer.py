"""An MCAP file is complete after every system call that wrote to it, and after half of each."""

from functools import partial
import os
import shutil
import struct

import pytest
from rosbags.rosbag2 import Reader
from tiers import slow_after

from safe_sysid.measure.bag import mcap_writer
from safe_sysid.measure.bag.mcap_records import CHUNK, DATA_END, MAGIC, PADDING, RECORD_HEADER
from safe_sysid.measure.bag.mcap_writer import McapWriter
from safe_sysid.measure.bag.topic import BagTopic, Delivery

TOPICS = [
    BagTopic(f'/topic_{i}', 'std_msgs/msg/String', 'string data\n', 'RIHS01_00', Delivery.RELIABLE)
    for i in range(3)
]
PAGE = 32  # [bytes]; small, so that many records begin near the end of one


def read(path):
    """Stamp, topic and data of every message, as an independent reader finds them."""
    with Reader(path) as reader:
        return [(stamp, conn.topic, bytes(data)) for conn, stamp, data in reader.messages()]


def walk(path):
    """Every record follows on the one before; while a file is closed, padding may reach on."""
    data = path.read_bytes()
    place, code = len(MAGIC), None
    while code != DATA_END and place < len(data):
        code, length = RECORD_HEADER.unpack_from(data, place)
        if code == CHUNK:
            (inside,) = struct.unpack_from('<Q', data, place + 9 + 32)
            assert length == 40 + inside
        place += RECORD_HEADER.size + length
    assert code in (DATA_END, PADDING)


class Snapshots:
    """System calls of a writer, cut where a page ends; `look` is called between the parts."""

    def __init__(self, monkeypatch, look):
        self._look = look
        monkeypatch.setattr(mcap_writer, 'PAGE', PAGE)
        monkeypatch.setattr(mcap_writer.os, 'pwrite', partial(self._pwrite, os.pwrite))
        monkeypatch.setattr(mcap_writer.os, 'ftruncate', partial(self._cut, os.ftruncate))

    def _pwrite(self, pwrite, file, data, offset):
        count = min(len(data), PAGE - offset % PAGE) if offset % PAGE else len(data)
        done = pwrite(file, data[:count], offset)
        self._look()
        return done

    def _cut(self, ftruncate, file, size):
        ftruncate(file, size)
        self._look()


def messages(rng, count):
    for i in range(count):
        data = rng.integers(256, size=rng.integers(0, 120)).astype('uint8').tobytes()
        yield 1000 * i + 7, int(rng.integers(1, 4)), data


def record(path, messages, monkeypatch, writer_class=McapWriter):
    """Write and commit, and check after every step that what was committed is there."""
    committed, waiting, states = [], [], []

    def look():
        if not path.exists():
            return
        walk(path)
        found = read(path)
        assert found[: len(committed)] == committed
        assert found in (committed, committed + waiting)
        states.append(len(found))

    Snapshots(monkeypatch, look)
    writer = writer_class(path, 30_000)
    for i, (stamp, number, data) in enumerate(messages):
        assert writer.has_room(TOPICS[number - 1], data)
        writer.write(number, TOPICS[number - 1], stamp, stamp, data)
        waiting.append((stamp, TOPICS[number - 1].name, data))
        if i % 2:
            writer.commit()
            committed, waiting = committed + waiting, []
            look()
            assert states[-1] == len(committed)
    writer.write(1, TOPICS[0], 10**6, 10**6, b'last')
    waiting.append((10**6, TOPICS[0].name, b'last'))
    writer.close()
    assert read(path) == committed + waiting
    return writer, len(states)


def test_every_message_committed_is_there_after_every_write_and_half_of_it(
    tmp_path, rng, monkeypatch
):
    path = tmp_path / 'a.mcap'
    writer, looks = record(path, messages(rng, 32), monkeypatch)
    assert looks > 60
    assert path.stat().st_size < 20_000  # closed, it is as small as its messages, and indexed
    with Reader(path) as reader:
        assert len(reader.storage.chunks) == 17
        counts = {conn.topic: conn.msgcount for conn in reader.connections}
    assert counts == {TOPICS[n - 1].name: count for n, count in writer.counts.items()}


class HeaderFirst(McapWriter):
    """Shows new records before they are there."""

    def _append(self, block):
        mcap_writer._write(self._file, block[:9], self._padding)
        super()._append(block)


class CrossesPages(McapWriter):
    """Lets the header of a record cross a page."""

    def _append(self, block):
        page, mcap_writer.PAGE = mcap_writer.PAGE, 1 << 40
        super()._append(block)
        mcap_writer.PAGE = page


@pytest.mark.parametrize('mutant', [HeaderFirst, CrossesPages])
def test_a_writer_that_shows_half_a_record_is_found_out(tmp_path, monkeypatch, mutant):
    with pytest.raises(Exception):  # noqa: B017 - whatever the reader stumbles over
        record_all_over_a_page(tmp_path, monkeypatch, mutant)


@pytest.mark.parametrize('step', slow_after(1, [3, 1]))  # a header has nine bytes
def test_half_a_header_is_never_in_the_file(tmp_path, monkeypatch, step):
    record_all_over_a_page(tmp_path, monkeypatch, step=step)


def record_all_over_a_page(folder, monkeypatch, writer_class=McapWriter, step=3):
    """Let the second of two records begin at each place of a page, or at some of them."""
    for size in range(0, PAGE, step):
        both = [(7, 1, b''), (7, 1, bytes(size)), (9, 1, b'next'), (9, 1, b'')]
        with monkeypatch.context() as patch:
            record(folder / f'{writer_class.__name__}_{size}.mcap', both, patch, writer_class)


def test_a_file_that_was_never_closed_reads_the_same_from_a_copy(tmp_path, rng):
    writer = McapWriter(tmp_path / 'a.mcap', 100_000)
    for stamp, number, data in messages(rng, 50):
        writer.write(number, TOPICS[number - 1], stamp, stamp, data)
    writer.commit()
    shutil.copy(tmp_path / 'a.mcap', tmp_path / 'b.mcap')
    writer.close()
    assert read(tmp_path / 'b.mcap') == read(tmp_path / 'a.mcap')
    assert len(read(tmp_path / 'a.mcap')) == 50


def test_what_has_room_fits_with_its_index(tmp_path, rng):
    """Fill files to the brim: what is written at the end never leaves the file."""
    for size in range(8_000, 12_000, 291):
        path = tmp_path / f'{size}.mcap'
        writer, count = McapWriter(path, size), 0
        for stamp, number, data in messages(rng, 1000):
            if not writer.has_room(TOPICS[number - 1], data):
                break
            writer.write(number, TOPICS[number - 1], stamp, stamp, data)
            writer.commit()
            count += 1
        assert path.stat().st_size == size
        assert len(read(path)) == count > 0
        writer.close()
        assert path.stat().st_size <= size
        assert len(read(path)) == count
