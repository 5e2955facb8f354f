"""Rosbags written with the library that other tools read them with."""

from dataclasses import dataclass, field

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_KILTED)
JOINT_STATE = STORE.types['sensor_msgs/msg/JointState']
HEADER = STORE.types['std_msgs/msg/Header']
TIME = STORE.types['builtin_interfaces/msg/Time']
VECTOR = STORE.types['geometry_msgs/msg/Vector3']
WRENCH = STORE.types['geometry_msgs/msg/Wrench']
PLUGINS = {'sqlite3': StoragePlugin.SQLITE3, 'mcap': StoragePlugin.MCAP}
BEGIN = 1_700_000_000_000_000_000  # [ns]


def joint_state(stamp, names, position, velocity, effort, frame='base'):
    """One message as bytes."""
    header = HEADER(TIME(*divmod(int(stamp), 10**9)), frame)
    numbers = [np.asarray(x, dtype=float) for x in (position, velocity, effort)]
    message = JOINT_STATE(header, list(names), *numbers)
    return bytes(STORE.serialize_cdr(message, 'sensor_msgs/msg/JointState'))


def wrench_stamped(stamp, wrench, frame='tool0'):
    """One message about a force and a moment as bytes."""
    header = HEADER(TIME(*divmod(int(stamp), 10**9)), frame)
    force, torque = (VECTOR(*map(float, x)) for x in (wrench[:3], wrench[3:]))
    kind = 'geometry_msgs/msg/WrenchStamped'
    return bytes(STORE.serialize_cdr(STORE.types[kind](header, WRENCH(force, torque)), kind))


@dataclass
class Bag:
    """Messages of a bag to be written."""

    messages: list = field(default_factory=list)  # (topic, type, received, bytes)

    def add(self, stamp, names, position, velocity, effort, topic='/joint_states'):
        """One more JointState."""
        data = joint_state(stamp, names, position, velocity, effort)
        self.messages.append((topic, 'sensor_msgs/msg/JointState', int(stamp) + 1000, data))

    def write(self, path, storage):
        """The bag as a folder."""
        with Writer(path, version=9, storage_plugin=PLUGINS[storage]) as writer:
            connections = {}
            for topic, kind, received, data in self.messages:
                if topic not in connections:
                    connections[topic] = writer.add_connection(topic, kind, typestore=STORE)
                writer.write(connections[topic], received, data)
        return path


def three_joints(rng, samples, period=0.002):
    """A bag about joints b, c, a in this order, and the numbers in the order a, b, c."""
    bag = Bag()
    stamp = BEGIN + np.round(np.arange(samples) * period * 1e9).astype(np.int64)
    numbers = rng.normal(size=(3, samples, 3))
    for i in range(samples):
        bag.add(stamp[i], ('b', 'c', 'a'), *(x[i, [1, 2, 0]] for x in numbers))
    return bag, stamp, numbers
