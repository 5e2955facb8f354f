"""URDFs as they are found: rounded, with joints of several freedoms, with mistakes."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.errors import ModelError
from safe_sysid.identifiability.base_parameters import base_parameters
from safe_sysid.identifiability.kinematic_tree import FREE, PLANAR, SPHERICAL, helical
from safe_sysid.identifiability.parameter_nullspace import exact_nullspace
from safe_sysid.identifiability.urdf_kinematics import (
    DOWN,
    robot_kinematics,
    tree_of,
    urdf_kinematics,
)
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.share import share_directory

KINOVA = share_directory() / 'urdf' / 'kinova_gen3.urdf'


def rank(model, rng):
    """Rank of stacked regressors of a Pinocchio model."""
    data = model.createData()
    rows = [
        pin.computeJointTorqueRegressor(model, data, *rng.normal(size=(3, model.nv)))
        for _ in range(80)
    ]
    return base_parameters(np.vstack(rows), 1e-9).count


def urdf(path: Path, *joints):
    """A URDF with a link between all joints, each given as its inner XML."""
    links = ''.join(f'<link name="link_{k}"/>' for k in range(len(joints) + 1))
    body = ''.join(
        f'<joint name="joint_{k + 1}" {kind}><parent link="link_{k}"/>'
        f'<child link="link_{k + 1}"/>{inner}</joint>'
        for k, (kind, inner) in enumerate(joints)
    )
    path.write_text(f'<robot name="test">{links}{body}</robot>')
    return path


LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


@pytest.mark.parametrize('robot', ['kinova_gen3', 'lbr_med7', 'two_link'])
def test_arms_of_the_package_have_the_rank_of_their_regressor(robot, rng):
    model = RobotModel.named(robot)
    kinematics = robot_kinematics(model)
    assert kinematics.snapped == ()
    assert exact_nullspace(kinematics.tree).base_count == rank(model.pinocchio(), rng)


def test_a_rounded_urdf_is_analysed_as_meant(tmp_path, rng):
    """As written it is another mechanism, with two more combinations that only rounding shows."""
    text = KINOVA.read_text()
    rounded = tmp_path / 'rounded.urdf'
    rounded.write_text(
        text.replace('3.141592653589793', '3.1416').replace('1.5707963267948966', '1.5708')
    )
    written = rounded.read_text().replace('"continuous"', '"revolute"')  # coordinates are angles
    written = written.replace('<limit effort', '<limit lower="-9" upper="9" effort')
    assert rank(pin.buildModelFromXML(written), rng) == 45
    kinematics = urdf_kinematics(rounded)
    assert exact_nullspace(kinematics.tree).base_count == 43
    told = [str(snap) for snap in kinematics.snapped]
    assert told[:2] == [
        "joint 'joint_1', roll: 3.1416 is read as 3.14159265359",
        "joint 'joint_2', roll: 1.5708 is read as 1.57079632679",
    ]


def test_an_exact_urdf_is_not_changed():
    assert urdf_kinematics(KINOVA).snapped == ()


def test_what_is_snapped_is_told_where_it_is(tmp_path):
    path = urdf(
        tmp_path / 'arm.urdf',
        ('type="revolute"', f'<axis xyz="0 0.00005 0.99999"/><origin xyz="0 0 0.3"/>{LIMIT}'),
        ('type="revolute"', f'<axis xyz="0 0.7071 0.7071"/><origin xyz="1e-7 0 0.3"/>{LIMIT}'),
    )
    kinematics = urdf_kinematics(path, np.array([1e-5, 0, -1.0]))
    places = [snap.place for snap in kinematics.snapped]
    assert "joint 'joint_1', axis y" in places
    assert "joint 'joint_2', offset x" in places
    assert 'gravity, direction x' in places
    assert not any('joint_2' in place and 'axis' in place for place in places)


def test_planar_and_free_joints_of_a_urdf(tmp_path):
    path = urdf(
        tmp_path / 'arm.urdf',
        ('type="floating"', ''),
        ('type="planar"', '<axis xyz="0 0 1"/>'),
        ('type="continuous"', '<axis xyz="0 1 0"/>'),
    )
    tree = urdf_kinematics(path).tree
    assert [joint.screws for joint in tree.joints[:2]] == [FREE, PLANAR]
    assert [joint.link for joint in tree.joints] == ['link_1', 'link_2', 'link_3']
    assert [joint.parent for joint in tree.joints] == [-1, 0, 1]


def test_pinocchio_joints_of_several_freedoms():
    model = pin.Model()
    first = model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), 'ball')
    axis = np.array([0.6, 0.0, 0.8])
    model.addJoint(first, pin.JointModelHelicalUnaligned(axis, 0.05), pin.SE3.Identity(), 'screw')
    tree, _ = tree_of(model, DOWN)
    assert tree.joints[0].screws == SPHERICAL
    (screw,) = tree.joints[1].screws
    assert screw[:2] == helical(screw.linear)[0][:2]
    assert float(screw.linear) == pytest.approx(0.05)


def test_axes_that_depend_on_the_position_are_refused():
    model = pin.Model()
    model.addJoint(0, pin.JointModelSphericalZYX(), pin.SE3.Identity(), 'wrist')
    with pytest.raises(ModelError, match="joint 'wrist' .* replace it by joints of one freedom"):
        tree_of(model, DOWN)


@pytest.mark.parametrize(
    ('joint', 'message'),
    [
        (
            ('type="revolute"', f'<axis xyz="0 0 0"/>{LIMIT}'),
            "'joint_1' is '0 0 0', it has to be three",
        ),
        (
            ('type="revolute"', f'<axis xyz="0 1"/>{LIMIT}'),
            "'joint_1' is '0 1', it has to be three",
        ),
        (('type="fixed"', ''), 'no joint moves'),
        (('type="spring"', ''), "'joint_1' is spring; known are"),
        (
            ('type="revolute"', f'<axis xyz="0 0 1"/>{LIMIT}<mimic joint="joint_1"/>'),
            'a closed chain',
        ),
    ],
)
def test_urdfs_that_make_no_sense_are_refused(tmp_path, joint, message):
    with pytest.raises(ModelError, match=message):
        urdf_kinematics(urdf(tmp_path / 'arm.urdf', joint))
