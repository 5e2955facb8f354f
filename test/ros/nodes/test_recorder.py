"""The recorder as a process: nothing lost, killed or not, and all that a run needs is inside."""

import errno
import os
import signal
import sqlite3
import subprocess
import time
from xml.etree import ElementTree

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
import pytest
import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros.running_node import greet_on_all, running_node, wait_until
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, String
from tiers import slow_after
import yaml

from safe_sysid.audit.bag_settings import _DEFAULTS, recorded_settings
from safe_sysid.bringup.processes import Choices, processes_of, write_choices
from safe_sysid.bringup.run import command_line
from safe_sysid.config import from_mapping
from safe_sysid.loop_settings import LoopPriorSettings
from safe_sysid.measure.bag import mcap_writer
from safe_sysid.measure.bag.reader import read_rosbag
from safe_sysid.measure.bag.sqlite_writer import SqliteWriter
from safe_sysid.model.facts import facts_path, read_facts, urdf_path
from safe_sysid.plan.receding_horizon import PlannerSettings
from safe_sysid.ros.messages.definitions import definition
from safe_sysid.ros.nodes import recorder_node
from safe_sysid.ros.nodes.recorder_node import FETCH, RecorderNode
from safe_sysid.ros.process.distributions import single_threaded_executor
from safe_sysid.ros.process.parameter_survey import parameter_file
from safe_sysid.ros.process.parameters import leaves
from safe_sysid.ros.process.planner_settings import PlannerNodeSettings
from safe_sysid.ros.watch.health import heard_from
from safe_sysid.share import share_directory
from safe_sysid.track.supervisor import Cause

LOOP = share_directory() / 'config' / 'loop' / 'kinova_gen3.yaml'
COMMIT = 0.2  # [s]
PERIOD = 1e-3  # [s]
QUEUE = 5000  # messages: all that a test sends, however late the recorder takes them
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def node():
    rclpy.init()
    node = rclpy.create_node('measured_arm', namespace='left')
    yield node
    node.destroy_node()
    rclpy.shutdown()


def messages_in(folder):
    """Topic, and message as its definition in the bag says, of everything in a bag."""
    with Reader(folder) as reader:
        store = get_typestore(Stores.EMPTY)
        for conn in reader.connections:
            store.register(get_types_from_msg(conn.msgdef.data, conn.msgtype))
        return [
            (conn.topic, store.deserialize_cdr(data, conn.msgtype), stamp)
            for conn, stamp, data in reader.messages()
        ]


class Arm:
    """Three topics at 1 kHz each, and one message that comes only once."""

    def __init__(self, node):
        publish = node.create_publisher
        self._once = publish(String, 'once', LATCHED)
        self._once.publish(String(data='said before anybody listened'))
        self._states = [publish(JointState, f'joint_states_{i}', QUEUE) for i in range(2)]
        self._torques = publish(Float64MultiArray, 'torque_command', QUEUE)
        self.sent = 0  # messages in each stream

    def is_heard(self):
        return all(p.get_subscription_count() for p in (*self._states, self._torques, self._once))

    def greet(self):
        """Publish the first message of each stream, which alone may be lost."""
        greet_on_all(list(self._messages()))
        self.sent += 1

    def _messages(self):
        for publisher in self._states:
            yield publisher, state_of(float(self.sent))
        yield self._torques, Float64MultiArray(data=[float(self.sent)])

    def publish(self, count):
        """Publish so many messages in each stream, in no less than `PERIOD` each."""
        begin, first = time.monotonic(), self.sent
        while (i := self.sent) < first + count:
            if time.monotonic() - begin < (i - first) * PERIOD:
                time.sleep(PERIOD / 4)
                continue
            for publisher, msg in self._messages():
                publisher.publish(msg)
            self.sent += 1

    def is_received(self):
        """Whether the recorder's middleware has all of it."""
        return all(p.wait_for_all_acked() for p in (*self._states, self._torques))


def state_of(number):
    msg = JointState(name=['a', 'b'], position=[number, 0.0])
    msg.velocity = msg.effort = [0.0, 0.0]
    msg.header.stamp = Time(sec=int(number) // 1000, nanosec=int(number) % 1000 * 1_000_000)
    return msg


def numbers_of(found, topic):
    values = [msg for name, msg, _ in found if name == topic]
    return [int(getattr(msg, 'position', getattr(msg, 'data', None))[0]) for msg in values]


def whole(last):
    """Numbers of a stream without a gap; a greeting may be missing."""
    return (list(range(last)), list(range(1, last)))


STREAMS = ('/left/joint_states_0', '/left/joint_states_1', '/left/torque_command')


def arguments(folder, storage='mcap', **more):
    parameters = {'folder': folder, 'storage': storage, 'commit_interval': COMMIT, **more}
    words = [word for name, value in parameters.items() for word in ('-p', f'{name}:={value}')]
    return ['--params-file', str(LOOP), *words]


@pytest.mark.parametrize('storage', slow_after(1, ['mcap', 'sqlite3']))
def test_a_run_is_in_the_bag_without_a_gap(tmp_path, node, storage):
    arm = Arm(node)
    with running_node('recorder_node', *arguments(tmp_path / 'bag', storage)) as process:
        arm.greet()
        arm.publish(700)
        assert arm.is_received()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    found = messages_in(tmp_path / 'bag')
    for topic in STREAMS:
        assert numbers_of(found, topic) in whole(arm.sent)
    assert [m.data for t, m, _ in found if t == '/left/once'] == ['said before anybody listened']
    stamps = np.array([stamp for _, _, stamp in found])
    assert np.all(np.diff(stamps) >= 0)


@pytest.mark.slow
def test_who_opens_a_bag_sees_the_arm_move(tmp_path, node):
    """Though nobody has published its description or transforms."""
    states = node.create_publisher(JointState, 'joint_states', QUEUE)
    folder = tmp_path / 'bag'

    def drawn():
        is_there = (folder / 'metadata.yaml').exists()
        return [topic for topic, _, _ in (messages_in(folder) if is_there else ())]

    def go_on():
        now = node.get_clock().now().to_msg()
        states.publish(JointState(header=Header(stamp=now), name=['joint_1'], position=[0.3]))
        time.sleep(0.02)

    with running_node('recorder_node', *arguments(folder), '-r', '__ns:=/left'):
        wait_until(lambda: drawn().count('/left/tf') > 2, 'transforms', go_on)
    assert {'/left/robot_description', '/left/tf_static'} <= set(drawn())


@pytest.mark.slow
def test_a_killed_recorder_leaves_everything_it_said_it_kept(tmp_path, node):
    arm, said = Arm(node), []
    node.create_subscription(DiagnosticArray, '/diagnostics', said.append, 10)

    def kept():
        return int(heard_from(said[-1].status[0]).figures['messages kept']) if said else 0

    def go_on():
        arm.publish(50)
        rclpy.spin_once(node, timeout_sec=0.0)

    with running_node('recorder_node', *arguments(tmp_path / 'bag', file_size=0.2)) as process:
        arm.greet()
        wait_until(lambda: kept() > 5000, 'messages in the bag', go_on)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    found = messages_in(tmp_path / 'bag')
    assert len(found) >= kept()
    for topic in STREAMS:
        numbers = numbers_of(found, topic)
        assert numbers in whole(numbers[-1] + 1)
        assert len(numbers) > 1000
    assert len(list((tmp_path / 'bag').glob('*.mcap'))) > 2
    recording = read_rosbag(tmp_path / 'bag', ('b', 'a'), STREAMS[0])
    np.testing.assert_array_equal(recording.position[:, 1], numbers_of(found, STREAMS[0]))


@pytest.fixture
def recording(tmp_path, request):
    """A recorder in this process, everybody who publishes, and what the recorder says."""
    storage, required = request.param
    given = arguments(tmp_path / 'bag', storage, required=str(required).lower())
    rclpy.init(args=['--ros-args', *given])
    node, recorder = rclpy.create_node('measured_arm', namespace='left'), RecorderNode()
    said = []
    node.create_subscription(DiagnosticArray, '/diagnostics', said.append, 10)
    executor = single_threaded_executor()
    for each in (node, recorder):
        executor.add_node(each)

    def spin_until(condition, what):
        wait_until(condition, what, lambda: executor.spin_once(timeout_sec=0.1))

    yield Arm(node), recorder, lambda: heard_from(said[-1].status[0]) if said else None, spin_until
    rclpy.shutdown()


@pytest.mark.parametrize('recording', [('mcap', False)], indirect=True)
def test_what_comes_is_kept_within_a_commit_interval(recording, monkeypatch):
    """By the recorder's own clock, so that a slow machine is only slow."""
    arm, recorder, _, spin_until = recording
    spin_until(arm.is_heard, 'the recorder')
    now, commits = [time.monotonic()], []
    monkeypatch.setattr(recorder_node.time, 'monotonic', lambda: now[0])
    monkeypatch.setattr(recorder._bag, 'commit', lambda: commits.append(now[0]))
    for _ in range(100):
        now[0] += FETCH
        recorder._fetch()
    assert np.diff(commits).max() <= COMMIT + FETCH + 1e-9


@pytest.mark.parametrize(
    'recording',
    [('mcap', False), ('sqlite3', False), ('mcap', True)],
    indirect=True,
    ids=['mcap', 'sqlite3', 'required'],
)
def test_a_full_disk_ends_the_recording_and_neither_the_recorder_nor_its_bag(
    tmp_path, recording, request, monkeypatch
):
    """The node goes on and says what is the matter; what was committed before can be read."""
    arm, recorder, said, spin_until = recording
    spin_until(arm.is_heard, 'the recorder')
    arm.greet()
    arm.publish(200)
    kept = lambda: int(said().figures['messages kept']) if said() else 0  # noqa: E731
    spin_until(lambda: kept() > 300, 'messages in the bag')
    fill_the_disk(monkeypatch)
    arm.publish(200)
    spin_until(lambda: said().trouble, 'the reason')
    assert f'recording stopped, {kept()} messages are kept: ' in said().trouble
    assert os.strerror(errno.ENOSPC) in said().trouble or 'disk is full' in said().trouble
    is_required = 'required' in request.node.name
    assert said().faults == ({Cause.NOT_RECORDED} if is_required else set())
    recorder.close()
    found = messages_in(tmp_path / 'bag')
    assert len(found) >= kept()
    for topic in STREAMS:
        numbers = numbers_of(found, topic)
        assert len(numbers) > 50
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert numbers[0] in (0, 1)  # a greeting may be missing


def fill_the_disk(monkeypatch):
    """Nothing more fits; sqlite is told so, as its writes cannot be reached."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full_database(*_):
        raise sqlite3.OperationalError('database or disk is full')

    monkeypatch.setattr(mcap_writer, '_write', full)
    monkeypatch.setattr(SqliteWriter, 'commit', full_database)


@pytest.mark.slow
def test_a_run_can_be_repeated_from_its_bag(tmp_path, node):
    """Parameters, URDF and settings come out as they went in; a node takes the parameters."""
    first = arguments(tmp_path / 'first', topics='/left/.*')
    with running_node('recorder_node', *first):
        wait_until(lambda: (tmp_path / 'first' / 'metadata.yaml').exists(), 'the bag')

        def known():
            said = ''.join(texts(tmp_path / 'first', 'parameters'))
            return '/recorder:' in said and '/left/measured_arm:' in said

        wait_until(
            known, 'parameters of all nodes', lambda: rclpy.spin_once(node, timeout_sec=0.05)
        )
    config = facts_path('kinova_gen3')
    assert texts(tmp_path / 'first', 'robot_settings') == [config.read_text()]
    urdf = urdf_path(config, read_facts(config)).read_text()
    assert texts(tmp_path / 'first', 'robot_description') == [urdf]
    parameters = texts(tmp_path / 'first', 'parameters')
    (own,) = (text for text in parameters if text.startswith('/recorder:'))
    file = tmp_path / 'parameters.yaml'
    file.write_text(own)
    with running_node(
        'recorder_node', '--params-file', str(file), '-p', f'folder:={tmp_path / "second"}'
    ):
        wait_until(lambda: texts(tmp_path / 'second', 'robot_settings'), 'the second bag')


@pytest.mark.slow
def test_a_urdf_in_another_encoding_is_in_the_bag_as_text(tmp_path):
    source = facts_path('two_link')
    urdf = urdf_path(source, read_facts(source)).read_text(encoding='utf-8')
    body = urdf[urdf.index('<robot') :].replace('name="two_link"', 'name="Gerät"')
    head = '<?xml version="1.0" encoding="ISO-8859-1"?>\n'
    (tmp_path / 'two_link.urdf').write_bytes((head + body).encode('latin-1'))
    (tmp_path / 'two_link.yaml').write_bytes(source.read_bytes())
    folder = tmp_path / 'bag'
    with running_node('recorder_node', *arguments(folder, robot=tmp_path / 'two_link.yaml')):
        wait_until(lambda: texts(folder, 'robot_description'), 'the URDF')
    (text,) = texts(folder, 'robot_description')
    root = ElementTree.fromstring(text)
    assert root.get('name') == 'Gerät' and len(root.findall('joint')) == 2


@pytest.mark.slow
def test_parameters_are_handed_over_before_any_node_could_be_asked(tmp_path):
    """A run whose other nodes never came up, with a recorder that was killed."""
    folder = tmp_path / 'bag'
    chosen = Choices(
        robot='two_link', record=str(folder), lockstep=True, extra=('gains.alpha:=31.0',)
    )
    processes = processes_of('builtin_sim', chosen)
    choices = write_choices(processes, tmp_path / 'choices.yaml')
    (line,) = (command_line(p, choices) for p in processes if p.node == 'recorder')
    with subprocess.Popen(line, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: len(texts(folder, 'parameters')) >= len(processes), 'the bag')
        finally:
            process.kill()
    found = recorded_settings(texts(folder, 'parameters'))
    assert found.nodes.keys() >= {process.node for process in processes}
    assert found.gains.alpha == 31.0
    assert found.model.name == 'two_link'
    assert found.intervals == PlannerSettings().intervals
    assert found.nodes['builtin_sim_bridge']['recorded'] is True
    assert found.nodes['identifier']['timing'] == 'lockstep'


def test_defaults_of_the_audit_are_those_of_the_planner():
    """Who was never asked had these where its arguments say nothing."""
    loop = yaml.safe_load(LOOP.read_text())['/**']['ros__parameters']
    settings = PlannerNodeSettings(
        robot='two_link', prior=from_mapping(LoopPriorSettings, loop['prior'], 'prior')
    )
    said = {leaf.name: leaf.value for leaf in leaves(settings)}
    known = _DEFAULTS['planner']
    assert {name: said[name] for name in known if name != 'robot'} == {
        name: value for name, value in known.items() if name != 'robot'
    }
    needed = {f'gains.{name}' for name in ('K_r', 'V_M', 'alpha', 'coulomb_speed', 'sign_speed')}
    needed |= {'payload', 'world', 'goal', 'period', 'sampling', 'timing', 'planner.intervals'}
    assert needed <= known.keys()


def texts(folder, name):
    """Texts that are only in the bag."""
    if not (folder / 'metadata.yaml').exists():
        return []
    found = messages_in(folder)
    return [msg.data for topic, msg, _ in found if topic == f'/recorded/{name}']


def test_parameters_of_every_type_survive_as_a_file(tmp_path):
    values = {
        'text': 'quote " back\\slash',
        'whole': 3,
        'real': 2.0,
        'small': 5e-08,
        'yes': True,
        'reals': [1.0, -0.5],
        'names': ['a', 'true', '1'],
        'nested.value': 1.5,
        'unlimited': float('inf'),
    }
    file = tmp_path / 'file.yaml'
    file.write_text(parameter_file('/sometimes/reader', values))
    rclpy.init(args=['--ros-args', '--params-file', str(file)])
    try:
        node = rclpy.create_node(
            'reader',
            namespace='sometimes',
            automatically_declare_parameters_from_overrides=True,
        )
        for name, value in values.items():
            found = node.get_parameter(name).value
            assert (list(found) if isinstance(value, list) else found) == value
            assert isinstance(found, type(value)) or isinstance(value, list)
    finally:
        rclpy.shutdown()


@pytest.mark.parametrize(
    'name',
    [
        'sensor_msgs/msg/JointState',
        'visualization_msgs/msg/MarkerArray',
        'diagnostic_msgs/msg/DiagnosticArray',
        'trajectory_msgs/msg/JointTrajectory',
        'rcl_interfaces/msg/ParameterDescriptor',
    ],
)
def test_definitions_have_the_hash_of_the_published_ones(name):
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(definition(name), name))
    assert store.hash_rihs01(name) == get_typestore(Stores.ROS2_KILTED).hash_rihs01(name)
