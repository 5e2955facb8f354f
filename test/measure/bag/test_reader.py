"""A bag gives the numbers that were recorded, joint by joint, whole or damaged."""

import tracemalloc

from measure.bag.bags import BEGIN, STORE, Bag, joint_state, three_joints
import numpy as np
import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.measure.bag import reader
from safe_sysid.measure.bag.reader import read_rosbag

ABC = ('a', 'b', 'c')
STORAGES = ('sqlite3', 'mcap')


def storage_file(folder):
    (found,) = [file for file in folder.iterdir() if file.suffix in ('.db3', '.mcap')]
    return found


def assert_equal(recording, stamp, numbers):
    np.testing.assert_array_equal(recording.stamp, stamp)
    for found, expected in zip(
        (recording.position, recording.velocity, recording.effort), numbers, strict=True
    ):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize('storage', STORAGES)
def test_joints_are_found_by_name_in_any_order(storage, rng, tmp_path, monkeypatch):
    monkeypatch.setattr(reader, 'BLOCK', 7)
    bag, stamp, numbers = three_joints(rng, 50)
    path = bag.write(tmp_path / 'bag', storage)
    assert_equal(read_rosbag(path, ABC), stamp, numbers)
    assert_equal(read_rosbag(storage_file(path), ABC), stamp, numbers)
    one = read_rosbag(path, ('c',))
    np.testing.assert_array_equal(one.effort[:, 0], numbers[2][:, 2])


@pytest.mark.parametrize('storage', STORAGES)
def test_what_is_about_something_else_is_skipped_and_counted(storage, rng, tmp_path):
    bag, stamp, numbers = three_joints(rng, 20)
    text = STORE.serialize_cdr(STORE.types['std_msgs/msg/String']('hello'), 'std_msgs/msg/String')
    for i in range(0, 40, 2):  # the gripper reports on the same topic, in between
        data = joint_state(BEGIN + i, ('finger',), [0.1], [], [])
        bag.messages.insert(i, ('/joint_states', 'sensor_msgs/msg/JointState', BEGIN + i, data))
    bag.messages.append(('/chatter', 'std_msgs/msg/String', BEGIN, bytes(text)))
    recording = read_rosbag(bag.write(tmp_path / 'bag', storage), ABC)
    assert_equal(recording, stamp, numbers)
    assert "20 messages skipped about ['finger']" in '; '.join(recording.remarks)


def test_a_driver_whose_messages_change_their_layout(rng, tmp_path):
    bag, stamp, numbers = three_joints(rng, 30)
    for i in range(10, 20):
        names = ('a', 'extra', 'c', 'b') if i % 2 else ('c', 'b', 'a')
        columns = [0, 0, 2, 1] if i % 2 else [2, 1, 0]
        data = joint_state(stamp[i], names, *(x[i, columns] for x in numbers), frame='x' * i)
        bag.messages[i] = (*bag.messages[i][:3], data)
    assert_equal(read_rosbag(bag.write(tmp_path / 'bag', 'mcap'), ABC), stamp, numbers)


def test_velocities_that_only_some_messages_have_are_said_to_be_left_out(rng, tmp_path):
    bag, stamp, numbers = three_joints(rng, 30)
    for i in range(10, 14):
        data = joint_state(stamp[i], ABC, numbers[0][i], [], numbers[2][i])
        bag.messages[i] = (*bag.messages[i][:3], data)
    recording = read_rosbag(bag.write(tmp_path / 'bag', 'mcap'), ABC)
    assert recording.velocity is None
    np.testing.assert_array_equal(recording.position, numbers[0])
    assert '4 messages have no velocity' in '; '.join(recording.remarks)


def test_equal_length_does_not_mean_equal_content(rng, tmp_path):
    """Efforts where velocities were: as long, and the same up to the first number."""
    bag, stamp, (position, _, effort) = three_joints(rng, 4)
    bag.messages.clear()
    for i in range(4):
        numbers = ([], effort[i]) if i % 2 else (effort[i], [])
        bag.add(stamp[i], ABC, position[i], *numbers)
    bag.add(stamp[3] + 1000, ABC, position[3], [], effort[3])
    recording = read_rosbag(bag.write(tmp_path / 'bag', 'mcap'), ABC)
    np.testing.assert_array_equal(recording.effort, effort[[1, 3, 3]])
    assert recording.velocity is None


def test_bytes_that_only_align_may_hold_anything(rng, tmp_path):
    bag, stamp, numbers = three_joints(rng, 10)
    after = bag.messages[0][3].index(b'a\0') + 2  # the last name; its length is a multiple of 4
    for i, (*head, data) in enumerate(bag.messages):
        noisy = bytearray(data)
        noisy[after : after + 2] = bytes([i, 255 - i])
        bag.messages[i] = (*head, bytes(noisy))
    assert len({message[3][12 : after + 2] for message in bag.messages}) == 10
    assert_equal(read_rosbag(bag.write(tmp_path / 'bag', 'mcap'), ABC), stamp, numbers)


def test_without_stamps_of_the_driver_it_counts_when_a_message_was_received(rng, tmp_path):
    bag = Bag()
    for i in range(10):
        data = joint_state(0, ABC, *rng.normal(size=(3, 3)))
        bag.messages.append(('/j', 'sensor_msgs/msg/JointState', BEGIN + i * 10**6, data))
    recording = read_rosbag(bag.write(tmp_path / 'bag', 'mcap'), ABC)
    np.testing.assert_array_equal(recording.stamp, BEGIN + np.arange(10) * 10**6)
    assert 'no stamps of the driver' in recording.remarks[0]


@pytest.mark.parametrize('storage', STORAGES)
def test_a_folder_without_metadata_is_read_file_by_file_in_order(storage, rng, tmp_path):
    bag, stamp, numbers = three_joints(rng, 36)
    folder = tmp_path / 'bag'
    folder.mkdir()
    for part in range(12):  # part 10 comes after part 9, not after part 1
        piece = Bag(bag.messages[3 * part : 3 * part + 3]).write(tmp_path / f'p{part}', storage)
        file = storage_file(piece)
        file.rename(folder / f'run_{part}{file.suffix}')
    (folder / f'.9_run_12{file.suffix}').touch()  # of a process that was killed as it began one
    recording = read_rosbag(folder, ABC)
    assert_equal(recording, stamp, numbers)
    assert 'no usable metadata.yaml' in recording.remarks[0]
    assert 'run_12' not in ' '.join(recording.remarks)


@pytest.mark.parametrize('storage', STORAGES)
def test_of_a_cut_file_everything_before_the_cut_is_read(storage, rng, tmp_path):
    bag, stamp, numbers = three_joints(rng, 3000)
    whole = storage_file(bag.write(tmp_path / 'bag', storage)).read_bytes()
    cut = tmp_path / f'cut{".db3" if storage == "sqlite3" else ".mcap"}'
    for share in (0.3, 0.55, 0.8):
        cut.write_bytes(whole[: int(share * len(whole))])
        recording = read_rosbag(cut, ABC)
        count = len(recording)
        assert count > (share - 0.2) * 3000  # an index takes its share of the file
        assert_equal(recording, stamp[:count], [x[:count] for x in numbers])
        assert 'damaged' in ' '.join(recording.remarks)


@pytest.mark.parametrize('storage', STORAGES)
def test_no_cut_and_no_flipped_byte_ends_in_anything_but_numbers_or_a_sentence(
    storage, rng, tmp_path
):
    bag, stamp, _ = three_joints(rng, 200)
    whole = storage_file(bag.write(tmp_path / 'bag', storage)).read_bytes()
    file = tmp_path / f'x{".db3" if storage == "sqlite3" else ".mcap"}'
    refused = 0
    for trial in range(60):
        data = bytearray(whole)
        if trial % 2:
            data = data[: int(rng.integers(len(data)))]
        else:
            data[int(rng.integers(len(data)))] ^= 0xFF
        file.write_bytes(data)
        try:
            recording = read_rosbag(file, ABC)
        except MeasurementError as error:
            refused += 1
            assert str(file) in str(error)
        else:
            assert np.isin(recording.stamp, stamp).mean() > 0.9  # a flipped stamp is possible
    assert refused < 60


def test_compressed_chunks_of_a_cut_file_are_read(rng, tmp_path):
    lz4 = pytest.importorskip('lz4.frame', reason='lz4 comes with rosbags')
    bag, stamp, numbers = three_joints(rng, 500)
    whole = storage_file(bag.write(tmp_path / 'bag', 'mcap')).read_bytes()
    at = 8
    while whole[at] != 0x06:  # records up to the chunk stay as they are
        at += 9 + int.from_bytes(whole[at + 1 : at + 9], 'little')
    length = int.from_bytes(whole[at + 1 : at + 9], 'little')
    content = whole[at + 9 : at + 9 + length]
    packed = lz4.compress(content[40:])
    chunk = content[:28] + b'\x03\0\0\0lz4' + len(packed).to_bytes(8, 'little') + packed
    file = tmp_path / 'packed.mcap'
    file.write_bytes(whole[:at] + b'\x06' + len(chunk).to_bytes(8, 'little') + chunk)
    assert_equal(read_rosbag(file, ABC), stamp, numbers)


def test_two_topics_about_the_same_joints_need_a_choice(rng, tmp_path):
    bag, stamp, numbers = three_joints(rng, 5)
    bag.add(stamp[0], ABC, *np.zeros((3, 3)), topic='/commanded')
    path = bag.write(tmp_path / 'bag', 'mcap')
    with pytest.raises(MeasurementError, match=r"\['/commanded', '/joint_states'\].*--topic"):
        read_rosbag(path, ABC)
    assert_equal(read_rosbag(path, ABC, '/joint_states'), stamp, numbers)


@pytest.mark.parametrize(
    ('joints', 'topic', 'sentence'),
    [
        (('a', 'elbow'), None, r"about \['b', 'c', 'a'\], without \['elbow'\]"),
        (ABC, '/other', r'no sensor_msgs/msg/JointState on /other; it has .*/joint_states'),
    ],
)
def test_a_bag_without_the_joints_says_what_it_has(joints, topic, sentence, rng, tmp_path):
    path = three_joints(rng, 5)[0].write(tmp_path / 'bag', 'mcap')
    with pytest.raises(MeasurementError, match=sentence):
        read_rosbag(path, joints, topic)


def test_joints_that_a_message_names_twice_are_not_chosen_from(rng, tmp_path):
    """Two arms with the same names of joints in one message."""
    bag = Bag()
    for i in range(5):
        bag.add(BEGIN + i * 10**6, (*ABC, *ABC), *(rng.normal(size=6) for _ in range(3)))
    with pytest.raises(MeasurementError, match='more than once'):
        read_rosbag(bag.write(tmp_path / 'bag', 'mcap'), ABC)


def test_a_bag_without_effort_says_so(rng, tmp_path):
    bag = Bag()
    for i in range(5):
        bag.add(BEGIN + i * 10**6, ABC, rng.normal(size=3), rng.normal(size=3), [])
    with pytest.raises(MeasurementError, match='5 messages with 3 positions and 0 efforts'):
        read_rosbag(bag.write(tmp_path / 'bag', 'mcap'), ABC)


def test_what_is_not_a_bag_is_named(tmp_path):
    with pytest.raises(MeasurementError, match='no such file'):
        read_rosbag(tmp_path / 'nowhere', ABC)
    (tmp_path / 'notes.txt').write_text('hello')
    with pytest.raises(MeasurementError, match=r'ends in \.db3 or \.mcap'):
        read_rosbag(tmp_path / 'notes.txt', ABC)
    with pytest.raises(MeasurementError, match='is not a rosbag'):
        read_rosbag(tmp_path, ABC)


@pytest.mark.slow
def test_memory_is_that_of_the_numbers(rng, tmp_path):
    """Messages do not pile up: 200 bytes each, of which 96 are the numbers and the stamps."""
    bag, _, _ = three_joints(rng, 20_000)
    path = bag.write(tmp_path / 'bag', 'mcap')
    bag.messages.clear()
    tracemalloc.start()
    recording = read_rosbag(path, ABC)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    numbers = 20_000 * 10 * 8
    assert len(recording) == 20_000
    assert peak < 5 * numbers + 6_000_000  # one chunk and one block of messages


def test_what_a_loop_recorded_is_joint_torque(rng, tmp_path):
    """Beside what the driver says of the same joints in its own way."""
    bag, stamp, numbers = three_joints(rng, 20)
    bag.messages = [('/cell/joint_states', *each[1:]) for each in bag.messages]
    mode = bytes(
        STORE.serialize_cdr(STORE.types['std_msgs/msg/String']('x'), 'std_msgs/msg/String')
    )
    for topic in ('/recorded/parameters', '/cell/plan_in_force'):
        bag.messages.append((topic, 'std_msgs/msg/String', int(stamp[-1]), mode))
    for at, effort in zip(stamp, numbers[2], strict=True):
        bag.add(at, ABC, *np.zeros((2, 3)), -effort)
    path = bag.write(tmp_path / 'bag', 'mcap')
    loop, driver = (read_rosbag(path, ABC, t) for t in ('/cell/joint_states', '/joint_states'))
    assert (loop.is_torque, driver.is_torque) == (True, False)
    unit = np.array([-1.0, 0.5, 2.0])
    assert np.array_equal(driver.as_driver(unit).effort, driver.effort)
    as_driver = loop.as_driver(unit)
    np.testing.assert_allclose(as_driver.log(np.sign(unit), np.abs(unit)).torque, numbers[2])
    assert as_driver.remarks[-1].startswith('recorded by a loop')


def test_samples_of_a_driver_that_had_no_clock_yet_are_left_out(rng, tmp_path):
    """Beside them all others would be half a century later."""
    bag, stamp, numbers = three_joints(rng, 30)
    topic, kind, received, _ = bag.messages[0]
    data = joint_state(0, ABC, *(x[0] for x in numbers))
    bag.messages[0] = topic, kind, received, data
    recording = read_rosbag(bag.write(tmp_path / 'bag', 'mcap'), ABC)
    assert_equal(recording, stamp[1:], [x[1:] for x in numbers])
    assert '1 messages skipped without a stamp' in recording.remarks


def test_a_clock_that_begins_at_0_has_a_first_sample(rng, tmp_path):
    bag, stamp, numbers = three_joints(rng, 30)
    begun = stamp - stamp[0]
    for i, (topic, kind, received, _) in enumerate(bag.messages):
        data = joint_state(begun[i], ABC, *(x[i] for x in numbers))
        bag.messages[i] = topic, kind, received, data
    assert_equal(read_rosbag(bag.write(tmp_path / 'bag', 'mcap'), ABC), begun, numbers)
