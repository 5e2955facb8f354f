"""What a bag has for who opens it in Foxglove: each link where Pinocchio has it, meshes inside."""

from base64 import b64decode
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tiers import slow_after

from safe_sysid.ros.messages.recorded_arm import RecordedArm
from safe_sysid.share import share_directory

URDFS = share_directory() / 'urdf'
CUBE = b'solid cube\nendsolid cube\n'
# What shipped arms do not have: a rail, a finger that follows, an axis that is none of x, y, z
ODD = """<robot name="odd">
<link name="rail"/><link name="cart"/><link name="arm"/><link name="follower"/><link name="tool">
 <visual><geometry><mesh filename="meshes/cube.stl"/></geometry></visual>
 <visual><geometry><mesh filename="package://nowhere/lost.stl"/></geometry></visual></link>
<joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/>
 <origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><axis xyz="1 2 3"/>
 <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="turn" type="continuous"><parent link="cart"/><child link="arm"/>
 <origin xyz="0 0 0.3" rpy="-1.1 0.2 3"/><axis xyz="0 1 1"/></joint>
<joint name="fast" type="fixed"><parent link="arm"/><child link="tool"/>
 <origin xyz="0.1 0 0" rpy="0 1.5 0"/></joint>
<joint name="echo" type="revolute"><parent link="tool"/><child link="follower"/><axis xyz="0 0 1"/>
 <mimic joint="turn" multiplier="-2" offset="0.1"/>
 <limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
</robot>"""


class Written:
    """What an arm writes, as a reader of the bag has it."""

    def __init__(self, urdf: Path, folder='/'):
        self.found, self.kinds = [], {}
        self.arm = RecordedArm(urdf, folder, self._write)
        self.arm.begin(7)

    def _write(self, topic, data):
        store = get_typestore(Stores.EMPTY)
        store.register(get_types_from_msg(topic.definition, topic.type))
        if topic.type == 'std_msgs/msg/String':
            message = deserialize_message(data, String)
        else:
            message = store.deserialize_cdr(data, topic.type)
        self.found.append((topic.name, message))

    def last(self, topic):
        return [message for name, message in self.found if name == topic][-1]

    def poses(self):
        """Rotation and place of each link in the base."""
        transforms = [*self.last('/tf').transforms, *self.last('/tf_static').transforms]
        above = {each.child_frame_id: each for each in transforms}

        def pose(link):
            if link not in above:
                return pin.SE3.Identity()
            told = above[link].transform
            r, p = told.rotation, told.translation
            here = pin.SE3(pin.Quaternion(r.w, r.x, r.y, r.z), np.array([p.x, p.y, p.z]))
            return pose(above[link].header.frame_id) * here

        return {link: pose(link) for link in above}


def state(stamp, positions):
    msg = JointState(name=list(positions), position=[float(x) for x in positions.values()])
    msg.header.stamp.sec, msg.header.stamp.nanosec = divmod(stamp, 10**9)
    return serialize_message(msg)


@pytest.mark.parametrize('name', slow_after(2, ['odd', 'fr3', 'kinova_gen3', 'z1']))
def test_every_link_is_where_pinocchio_has_it(name, rng, tmp_path):
    urdf = URDFS / f'{name}.urdf'
    if name == 'odd':
        urdf = tmp_path / 'odd.urdf'
        urdf.write_text(ODD)
    model = pin.buildModelFromUrdf(str(urdf))
    data = model.createData()
    written = Written(urdf)
    for i in range(1, 4):
        positions = {n: rng.uniform(-0.9, 0.9) for n in model.names[1:]}
        if name == 'odd':
            positions['echo'] = -2.0 * positions['turn'] + 0.1  # nobody has to say so
        written.arm.hear(state(i * 10**9 + 5, {k: v for k, v in positions.items() if k != 'echo'}))
        q = pin.neutral(model)
        for joint, place in positions.items():
            index = model.getJointId(joint)
            if model.joints[index].nq == 2:
                q[model.joints[index].idx_q :][:2] = np.cos(place), np.sin(place)
            elif model.joints[index].nq == 1:
                q[model.joints[index].idx_q] = place
        pin.framesForwardKinematics(model, data, q)
        told = written.last('/tf').transforms[0].header.stamp
        assert (told.sec, told.nanosec) == (i, 5)
        poses = written.poses()
        assert len(poses) == sum(frame.type == pin.BODY for frame in model.frames) - 1
        for link, pose in poses.items():
            expected = data.oMf[model.getFrameId(link, pin.BODY)]
            assert pose.isApprox(expected, 1e-9), link


@pytest.mark.slow
def test_time_that_jumps_back_and_samples_at_1_khz_are_as_many_transforms_as_a_film_needs():
    written = Written(URDFS / 'two_link.urdf', '/left/')
    for stamp in [*range(10**9, 2 * 10**9, 10**6), 10**6]:
        written.arm.hear(state(stamp, {'joint_1': 0.1}))
    stamps = [m.transforms[0].header.stamp for name, m in written.found if name == '/left/tf']
    assert len(stamps) == 50 + 1
    assert stamps[-1].sec == 0
    count = len(written.found)
    written.arm.is_told = True  # by robot_state_publisher
    written.arm.hear(state(9 * 10**9, {'joint_1': 0.1}))
    assert len(written.found) == count


def test_meshes_are_inside_and_what_is_not_found_is_said(tmp_path):
    (tmp_path / 'meshes').mkdir()
    (tmp_path / 'meshes' / 'cube.stl').write_bytes(CUBE)
    urdf = tmp_path / 'odd.urdf'
    urdf.write_text(ODD)
    written = Written(urdf)
    root = ElementTree.fromstring(written.last('/robot_description').data)
    inside, lost = (mesh.get('filename') for mesh in root.iter('mesh'))
    media, _, content = inside.partition(';base64,')
    assert (media, b64decode(content)) == ('data:model/stl', CUBE)
    assert lost == 'package://nowhere/lost.stl'
    assert [sentence.startswith(lost) for sentence in written.arm.outside] == [True]
