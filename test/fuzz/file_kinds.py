"""The files that come from outside: a valid one of each kind, and what reads it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
import hashlib
from pathlib import Path
import struct
import tempfile

from measure.bag.bags import three_joints
from model.collision.test_collada import TWO, collada_text
import numpy as np

from safe_sysid import load_arm
from safe_sysid.api.loop_file import read_loop
from safe_sysid.calibrate.pose_table import read_poses
from safe_sysid.calibrate.settings import calibration_settings
from safe_sysid.config import yaml_text
from safe_sysid.excite.settings import read_settings
from safe_sysid.identifiability.urdf_kinematics import urdf_kinematics
from safe_sysid.identify.difference.arm_promise import read_promise, sha256_of
from safe_sysid.identify.difference.gains_file import KnownGains, read_gains
from safe_sysid.measure.bag.messages import bag_topics
from safe_sysid.measure.recording_choice import RecordingChoice, recording_of_choice
from safe_sysid.model.arm import Arm
from safe_sysid.model.collision.mesh_points import mesh_points
from safe_sysid.model.collision.mesh_triangles import mesh_triangles
from safe_sysid.model.collision.world import read_world
from safe_sysid.model.description.chain import (
    chosen_chain,
    described_joints,
    with_soft_limits,
)
from safe_sysid.model.description.disabled_pairs import _pairs as pairs_of_srdf
from safe_sysid.model.description.doubtful_figures import joint_figures
from safe_sysid.model.description.surfaces import SurfaceChoice, body_surfaces
from safe_sysid.model.description.xacro_process import expansion
from safe_sysid.model.payload import read_payload
from safe_sysid.model.urdf_tree import read_urdf
from safe_sysid.share import share_directory

JOINTS = ('a', 'b', 'c')
XACRO = b"""<?xml version="1.0"?>
<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="length" default="0.4"/>
  <xacro:property name="mass" value="${2.0 * 1.5}"/>
  <xacro:macro name="link" params="name m">
    <link name="${name}"><inertial><mass value="${m}"/></inertial></link>
  </xacro:macro>
  <xacro:link name="base" m="1.0"/>
  <xacro:if value="${$(arg length) > 0.3}"><xacro:link name="arm" m="${mass}"/></xacro:if>
</robot>
"""
HAND = b"""<?xml version="1.0"?>
<robot name="arm">
  <link name="base"><collision><geometry><box size="0.1 0.1 0.2"/></geometry></collision></link>
  <link name="palm"><inertial><mass value="1"/><origin xyz="0 0 0.1"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.1" rpy="0 0 1"/><geometry><cylinder radius="0.05" length="0.2"/>
    </geometry></visual></link>
  <link name="left"><collision><geometry><sphere radius="0.02"/></geometry></collision></link>
  <link name="right"><collision><geometry><sphere radius="0.02"/></geometry></collision></link>
  <joint name="pan" type="revolute"><parent link="base"/><child link="palm"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2.5" effort="30" velocity="2"/><dynamics damping="0.3" friction="1"/>
    <safety_controller k_velocity="0" soft_lower_limit="-1.9" soft_upper_limit="2.4"/></joint>
  <joint name="grip" type="prismatic"><parent link="palm"/><child link="left"/>
    <origin xyz="0 0.02 0.2"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.04" effort="20" velocity="1"/></joint>
  <joint name="other" type="prismatic"><parent link="palm"/><child link="right"/>
    <origin xyz="0 -0.02 0.2"/><axis xyz="0 -1 0"/><mimic joint="grip" multiplier="1" offset="0"/>
    <limit lower="0" upper="0.04" effort="20" velocity="1"/></joint>
</robot>
"""
OBJ = b"""# a corner
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
vn 0 0 1
f 1//1 2//1 3//1
f 1 3 4
f -1 -2 -3
"""
SRDF = b"""<?xml version="1.0"?>
<robot name="arm">
  <disable_collisions link1="base" link2="link_1" reason="Adjacent"/>
  <disable_collisions link1="base" link2="link_2" reason="Never"/>
</robot>
"""


@dataclass(frozen=True)
class FileKind:
    """Bytes of a valid file, the name it has, and what a command does with its path."""

    name: str
    data: bytes
    read: Callable[[Path], object]
    beside: dict[str, bytes] | None = None  # other files of the same folder


def _shipped(place: str) -> bytes:
    return (share_directory() / place).read_bytes()


def _table() -> bytes:
    rng = np.random.default_rng(1)
    names = [f'{word}_{joint}' for word in ('position', 'velocity', 'effort') for joint in JOINTS]
    rows = np.column_stack([np.arange(60) * 0.01, rng.normal(size=(60, 9))])
    lines = [','.join(['time', *names]), *(','.join(map(repr, row)) for row in rows.tolist())]
    return '\n'.join(lines).encode()


def _poses() -> bytes:
    rng = np.random.default_rng(2)
    names = ['x', 'y', 'z', 'qx', 'qy', 'qz', 'qw', *JOINTS]
    rows = np.hstack([rng.normal(size=(8, 3)), np.tile([0.0, 0.0, 0.0, 1.0], (8, 1))])
    rows = np.hstack([rows, rng.normal(size=(8, 3))])
    lines = [','.join(names), *(','.join(map(repr, row)) for row in rows.tolist())]
    return '\n'.join(lines).encode()


def _gains() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'gains.yaml'
        KnownGains(('joint_1', 'joint_2'), np.array([10.5, -11.0]), 0.01 * np.eye(2)).write(
            path, {'mass': 2.8}
        )
        return path.read_bytes()


def _promise(arm: Arm) -> FileKind:
    """The text of a promise; its arrays are beside it, and their digest is in the text."""
    rng = np.random.default_rng(4)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'arm.npz'
        numbers = {name: rng.normal(size=(200, 2)) for name in ('q', 'tau')}
        arrays = {f'recording_0_0_{name}': value for name, value in numbers.items()}
        np.savez(path, recording_0_0_rate_begin=np.array([100.0, 0.0]), **arrays)
        digest, data = sha256_of(path), path.read_bytes()
    sensors = arm.model.sensors
    content = {
        'version': 1,
        'arm': {
            'urdf_sha256': sha256_of(arm.urdf),
            'joints': list(arm.model.layout.joint_names),
            'effort_sign': sensors.effort_sign.tolist(),
            'effort_scale': sensors.effort_scale.tolist(),
        },
        'recordings': [{'name': 'empty', 'sha256': '0', 'pieces': 1}],
        'friction': {'columns': {}, 'held_out_error': 0.1, 'tried': {'viscous': 0.2}},
        'arrays_sha256': digest,
    }
    text = yaml_text(content).encode()
    return FileKind(
        'arm.yaml',
        text,
        lambda path: read_promise(path.with_suffix('.npz'), arm),
        {'arm.npz': data},
    )


def _promised_arrays(arm: Arm) -> FileKind:
    """The arrays of a promise; whoever changes them changes their digest in the text as well."""
    promise = _promise(arm)
    arrays = promise.beside['arm.npz']
    digest = hashlib.sha256(arrays).hexdigest().encode()

    def read(path: Path) -> object:
        told = promise.data.replace(digest, hashlib.sha256(path.read_bytes()).hexdigest().encode())
        path.with_suffix('.yaml').write_bytes(told)
        return read_promise(path, arm)

    return FileKind('arm.npz', arrays, read)


def _stl() -> bytes:
    corners = np.random.default_rng(5).normal(size=(6, 3, 3)).astype('<f4')
    facets = [bytes(12) + corners[i].tobytes() + bytes(2) for i in range(len(corners))]
    return b'part'.ljust(80) + struct.pack('<I', len(facets)) + b''.join(facets)


def _mesh_of(path: Path) -> object:
    return mesh_points(path.name, path.read_bytes()), mesh_triangles(path)


def _recording(path: Path) -> object:
    return recording_of_choice(RecordingChoice(path), JOINTS)


def _bag(storage: str) -> dict[str, bytes]:
    """Files of a recorded folder."""
    bag, *_ = three_joints(np.random.default_rng(3), 40)
    with tempfile.TemporaryDirectory() as folder:
        written = bag.write(Path(folder) / 'bag', storage)
        return {file.name: file.read_bytes() for file in written.iterdir()}


def _of_bag(storage: str, suffix: str) -> FileKind:
    files = _bag(storage)
    (name,) = (name for name in files if name.endswith(suffix))
    beside = {other: data for other, data in files.items() if other != name}

    def read(path: Path) -> object:
        return _recording(path.parent), bag_topics(path.parent)

    return FileKind(name, files[name], read, beside)


def _robot(path: Path) -> object:
    return load_arm(path).model.layout


def _hand(path: Path) -> object:
    """Read what `new-arm` reads before it covers anything."""
    root = read_urdf(path)
    with_soft_limits(root, path)
    chain = chosen_chain(root, path, 'palm', None, {})
    joint_figures(root, chain.joints)
    return body_surfaces(root, path, chain, described_joints(root, path), SurfaceChoice())


@cache
def file_kinds() -> dict[str, FileKind]:
    """Every kind by its name."""
    arm = load_arm('two_link')
    urdf = _shipped('urdf/two_link.urdf')
    return {
        'URDF': FileKind('arm.urdf', urdf, _robot),
        'URDF of a hand': FileKind('hand.urdf', HAND, _hand),
        'URDF of a loop': FileKind('legs.urdf', _shipped('urdf/four_bar.urdf'), urdf_kinematics),
        'xacro': FileKind('arm.xacro', XACRO, lambda path: expansion(path, {}, [])),
        'SRDF': FileKind('arm.srdf', SRDF, pairs_of_srdf),
        'arm': FileKind(
            'arm.yaml', _shipped('config/robots/two_link.yaml'), _robot, {'two_link.urdf': urdf}
        ),
        'arm with loops': FileKind(
            'arm.yaml',
            _shipped('config/robots/four_bar.yaml'),
            _robot,
            {'four_bar.urdf': _shipped('urdf/four_bar.urdf')},
        ),
        'loop': FileKind(
            'loop.yaml', _shipped('config/loop/two_link.yaml'), lambda path: read_loop(arm, path)
        ),
        'payload': FileKind(
            'held.yaml',
            _shipped('config/payloads/dumbbell_5lb.yaml'),
            lambda path: arm.model.with_payload(read_payload(path)),
        ),
        'world': FileKind(
            'cell.yaml',
            next((share_directory() / 'config' / 'worlds').glob('*.yaml')).read_bytes(),
            lambda path: read_world(str(path)),
        ),
        'excitation': FileKind('e.yaml', _shipped('config/excitation.yaml'), read_settings),
        'calibration': FileKind(
            'c.yaml', _shipped('config/calibration.yaml'), calibration_settings
        ),
        'gains': FileKind(
            'g.yaml', _gains(), lambda path: read_gains(path, arm.model.layout.joint_names)
        ),
        'promise': _promise(arm),
        'promised arrays': _promised_arrays(arm),
        'table': FileKind('log.csv', _table(), _recording),
        'poses': FileKind('poses.csv', _poses(), lambda path: read_poses(path, JOINTS)),
        'mcap': _of_bag('mcap', '.mcap'),
        'sqlite3': _of_bag('sqlite3', '.db3'),
        'metadata': _of_bag('mcap', '.yaml'),
        'STL': FileKind('link.stl', _stl(), _mesh_of),
        'OBJ': FileKind('link.obj', OBJ, _mesh_of),
        'COLLADA': FileKind('link.dae', collada_text(TWO).encode(), _mesh_of),
    }
