"""Bags of several files: whole at every moment, in order, and read by an independent reader."""

from dataclasses import replace
import os
from pathlib import Path
import signal
import sqlite3
import subprocess
import sys

from full_disk import files_of_at_most
import pytest
from rosbags.rosbag2 import Reader
from tiers import slow_after

from safe_sysid.errors import ConfigError, RecordingError
from safe_sysid.measure.bag import writer
from safe_sysid.measure.bag.metadata import BagMetadata
from safe_sysid.measure.bag.topic import BagTopic, Delivery
from safe_sysid.measure.bag.writer import BagSettings, BagWriter

TOPICS = [
    BagTopic(f'/topic_{i}', 'std_msgs/msg/String', 'string data\n', 'RIHS01_00', delivery)
    for i, delivery in enumerate(Delivery)
]
SMALL = 0.066  # [MB] of a file


def read(folder):
    with Reader(folder) as reader:
        return [(stamp, conn.topic, bytes(data)) for conn, stamp, data in reader.messages()]


def fill(bag, rng, count, look=list):
    """Write messages of random length and commit now and then; what was written."""
    numbers = [bag.add_topic(topic) for topic in TOPICS]
    written = []
    for i in range(count):
        which = int(rng.integers(len(numbers)))
        data = rng.bytes(int(rng.integers(2000)))
        bag.write(numbers[which], 1000 * i, 1000 * i, data)
        written.append((1000 * i, TOPICS[which].name, data))
        if i % 20 == 19:
            bag.commit()
            look(list(written))
    return written


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_types_of_topics_without_messages_are_told_in_every_file(tmp_path, storage):
    bag = BagWriter(tmp_path / 'bag', BagSettings(storage, SMALL))
    silent = BagTopic('/silent', 'a_cell/msg/Door', 'bool open\n', '', Delivery.LATCHED)
    bag.add_topic(silent)
    number = bag.add_topic(TOPICS[0])
    for i in range(50):
        bag.write(number, i, i, bytes(2000))
        bag.commit()
    bag.add_topic(replace(silent, name='/late', type='a_cell/msg/Lamp'))
    bag.write(number, 50, 50, b'')
    bag.close()
    with Reader(tmp_path / 'bag') as reader:
        definitions = {conn.topic: conn.msgdef.data for conn in reader.connections}
    assert definitions == {
        '/silent': 'bool open\n',
        '/topic_0': 'string data\n',
        '/late': 'bool open\n',
    }


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_a_bag_has_every_message_in_order_over_several_files(tmp_path, rng, storage):
    bag = BagWriter(tmp_path / 'bag', BagSettings(storage, SMALL))
    written = fill(bag, rng, 300)
    bag.close()
    files = [path for path in (tmp_path / 'bag').iterdir() if path.name != 'metadata.yaml']
    assert len(files) > 3
    assert max(path.stat().st_size for path in files) < 2 * SMALL * 1e6
    with Reader(tmp_path / 'bag') as reader:
        assert reader.message_count == len(written)
        assert (reader.start_time, reader.end_time) == (0, 299_001)
        counts = {conn.topic: conn.msgcount for conn in reader.connections}
    assert read(tmp_path / 'bag') == written
    assert counts == {t.name: sum(w[1] == t.name for w in written) for t in TOPICS}


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_a_bag_can_be_read_while_it_is_written(tmp_path, rng, storage):
    bag = BagWriter(tmp_path / 'bag', BagSettings(storage, SMALL))

    def look(committed):
        assert read(tmp_path / 'bag') == committed

    fill(bag, rng, 120, look)


def test_metadata_is_whole_whenever_something_changed_in_the_folder(tmp_path, rng, monkeypatch):
    """The bag opens after every renaming and every file, also between two files of it."""
    folder, committed, looks = tmp_path / 'bag', [], []

    def look(change, *arguments):
        done = change(*arguments)
        if (folder / 'metadata.yaml').exists():
            found = read(folder)
            assert found[: len(committed)] == committed
            looks.append(len(found))
        return done

    for change in ('replace', 'rename', 'write_text'):
        original = getattr(Path, change)
        monkeypatch.setattr(
            Path, change, lambda *a, original=original, **k: look(lambda: original(*a, **k))
        )
    bag = BagWriter(folder, BagSettings('mcap', SMALL))
    fill(bag, rng, 120, lambda now: committed.extend(now[len(committed) :]))
    bag.close()
    assert len(looks) > 12


def test_a_message_larger_than_a_file_gets_one_of_its_own(tmp_path):
    bag = BagWriter(tmp_path / 'bag', BagSettings('mcap', SMALL))
    number = bag.add_topic(TOPICS[0])
    sizes = [10, 500_000, 10]
    for i, size in enumerate(sizes):
        bag.write(number, i, i, bytes(size))
    bag.close()
    assert [len(data) for _, _, data in read(tmp_path / 'bag')] == sizes


def test_stamps_that_go_back_count_as_the_last_one(tmp_path):
    bag = BagWriter(tmp_path / 'bag', BagSettings())
    number = bag.add_topic(TOPICS[0])
    for stamp in (5, 9, 7, 12):
        bag.write(number, stamp, stamp, b'1234')
    bag.commit()
    assert [stamp for stamp, _, _ in read(tmp_path / 'bag')] == [5, 9, 9, 12]
    bag.close()


def test_playing_a_bag_offers_what_was_offered(tmp_path):
    bag = BagWriter(tmp_path / 'bag', BagSettings())
    for i, topic in enumerate(TOPICS):
        bag.write(bag.add_topic(topic), i, i, b'1234')
    bag.close()
    with Reader(tmp_path / 'bag') as reader:
        offered = {conn.topic: conn.ext.offered_qos_profiles for conn in reader.connections}
    for topic in TOPICS:
        (qos,) = offered[topic.name]
        assert (qos.reliability.value, qos.durability.value) == topic.delivery.value


WRITE_FOREVER = """
import sys
from pathlib import Path
from safe_sysid.measure.bag.topic import BagTopic, Delivery
from safe_sysid.measure.bag.writer import BagSettings, BagWriter
bag = BagWriter(Path(sys.argv[1]), BagSettings(sys.argv[2], 1.0))
topic = BagTopic('/t', 'std_msgs/msg/String', 'string data\\n', '', Delivery.RELIABLE)
number = bag.add_topic(topic)
for i in range(10**9):
    bag.write(number, i, i, i.to_bytes(8, 'little') * 20)
    if i % 50 == 49:
        bag.commit()
        print(i, flush=True)
"""


@pytest.mark.parametrize('storage', slow_after(1, ['mcap', 'sqlite3']))
def test_a_killed_process_leaves_what_it_committed(tmp_path, rng, storage):
    for attempt, lines in enumerate(rng.integers(1, 200, size=3)):
        folder = tmp_path / str(attempt)
        with subprocess.Popen(
            [sys.executable, '-c', WRITE_FOREVER, folder, storage],
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            for _ in range(lines):
                said = process.stdout.readline()
            os.kill(process.pid, signal.SIGKILL)
            said = (process.stdout.read() or said).splitlines()[-1]
        if storage == 'sqlite3':
            for path in folder.glob('*.db3'):  # as the docstring of the writer says
                with sqlite3.connect(path) as file:
                    file.execute('SELECT count(*) FROM topics')
                file.close()
        found = read(folder)
        assert [stamp for stamp, _, _ in found] == list(range(len(found)))
        assert len(found) > int(said)
        assert all(data == stamp.to_bytes(8, 'little') * 20 for stamp, _, data in found)


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_of_a_bag_that_cannot_be_begun_nothing_stays(tmp_path, storage):
    with files_of_at_most(1), pytest.raises(RecordingError, match='recording ends here'):
        BagWriter(tmp_path / 'bag', BagSettings(storage))
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_of_a_file_that_cannot_be_begun_nothing_stays(tmp_path, storage):
    with files_of_at_most(1), pytest.raises((OSError, sqlite3.Error)):
        writer.STORAGES[storage][0](tmp_path / 'bag_1', 100_000)
    assert not [*tmp_path.iterdir()]


def test_metadata_that_cannot_be_written_leaves_those_before(tmp_path):
    metadata = BagMetadata('mcap', TOPICS, [], '')
    metadata.write(tmp_path)
    with files_of_at_most(100), pytest.raises(OSError, match='too large'):
        replace(metadata, topics=[]).write(tmp_path)
    (path,) = tmp_path.iterdir()
    assert path.read_text(encoding='utf-8') == metadata.text()


def test_what_cannot_be_is_said(tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match="storage is 'bag', it has to be one of mcap, sqlite3"):
        BagSettings('bag')
    with pytest.raises(ConfigError, match=r'file_size is 0\.01, it has to be at least 0\.065536'):
        BagSettings('mcap', 0.01)
    with pytest.raises(RecordingError, match='no new folder can be made'):
        BagWriter(tmp_path, BagSettings())
    bag = BagWriter(tmp_path / 'full', BagSettings())
    bag.write(bag.add_topic(TOPICS[0]), 1, 1, b'1234')

    def full(*_):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(writer.STORAGES['mcap'][0], '_append', full)
    with pytest.raises(RecordingError, match=r'No space left .* recording ends here'):
        bag.commit()
