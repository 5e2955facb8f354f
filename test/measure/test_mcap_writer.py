"""An MCAP file is complete after every system call that wrote to it, and after half of each."""

from functools import partial
import os
import shutil

import pytest
from rosbags.rosbag2 import Reader

from safe_sysid.measure import mcap_writer
from safe_sysid.measure.bag_topic import BagTopic, Delivery
from safe_sysid.measure.mcap_writer import McapWriter

TOPICS = [
    BagTopic(f'/topic_{i}', 'std_msgs/msg/String', 'string data\n', 'RIHS01_00', Delivery.RELIABLE)
    for i in range(3)
]
PAGE = 64  # [bytes]; small, so that many records begin near the end of one


def read(path):
    """Stamp, topic and data of every message, as an independent reader finds them."""
    with Reader(path) as reader:
        return [(stamp, conn.topic, bytes(data)) for conn, stamp, data in reader.messages()]


class Snapshots:
    """System calls of a writer, cut at every page; `look` is called between the parts."""

    def __init__(self, monkeypatch, look):
        self._look = look
        monkeypatch.setattr(mcap_writer, 'PAGE', PAGE)
        monkeypatch.setattr(mcap_writer.os, 'pwrite', partial(self._pwrite, os.pwrite))
        monkeypatch.setattr(mcap_writer.os, 'ftruncate', partial(self._cut, os.ftruncate))

    def _pwrite(self, pwrite, file, data, offset):
        count = min(len(data), PAGE - offset % PAGE)
        done = pwrite(file, data[:count], offset)
        self._look()
        return done

    def _cut(self, ftruncate, file, size):
        ftruncate(file, size)
        self._look()


def messages(rng, count):
    for i in range(count):
        data = rng.integers(256, size=rng.integers(0, 300)).astype('uint8').tobytes()
        yield 1000 * i + 7, int(rng.integers(1, 4)), data


def record(path, rng, monkeypatch, writer_class=McapWriter):
    """Write and commit, and check after every step that what was committed is there."""
    committed, waiting, states = [], [], []

    def look():
        if not path.exists():
            return
        found = read(path)
        assert found[: len(committed)] == committed
        assert found in (committed, committed + waiting)
        states.append(len(found))

    Snapshots(monkeypatch, look)
    writer = writer_class(path, 40_000)
    for i, (stamp, number, data) in enumerate(messages(rng, 60)):
        assert writer.has_room(TOPICS[number - 1], data)
        writer.write(number, TOPICS[number - 1], stamp, stamp, data)
        waiting.append((stamp, TOPICS[number - 1].name, data))
        if i % 4 == 3:
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
    _, looks = record(tmp_path / 'a.mcap', rng, monkeypatch)
    assert looks > 200


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
def test_a_writer_that_shows_half_a_record_is_found_out(tmp_path, rng, monkeypatch, mutant):
    with pytest.raises(Exception):  # noqa: B017 - whatever the reader stumbles over
        record(tmp_path / 'a.mcap', rng, monkeypatch, mutant)


def test_a_closed_file_is_as_small_as_its_messages_and_indexed(tmp_path, rng, monkeypatch):
    path = tmp_path / 'a.mcap'
    writer, _ = record(path, rng, monkeypatch)
    assert path.stat().st_size < 40_000
    with Reader(path) as reader:
        assert len(reader.storage.chunks) == 16
        counts = {conn.topic: conn.msgcount for conn in reader.connections}
    assert counts == {TOPICS[n - 1].name: count for n, count in writer.counts.items()}


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
    for size in range(8_000, 12_000, 97):
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
