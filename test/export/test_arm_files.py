"""A calibrated arm, read back from its files by other readers, is the one that was written."""

from dataclasses import replace

import numpy as np
import pydrake.all as drake
import pytest

from safe_sysid.bench.calibrate import misbuilt
from safe_sysid.bench.experiments.calibration import altered
from safe_sysid.errors import BoundError
from safe_sysid.export.arm_mjcf import quaternion, write_mjcf
from safe_sysid.export.arm_settings import write_settings
from safe_sysid.export.arm_urdf import write_dynamics, write_geometry
from safe_sysid.model.arm import arm_of
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.dynamics.inverse_dynamics import inverse_dynamics
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.rotation import roll_pitch_yaw

ROBOTS = ('two_link', 'lbr_med7', 'kinova_gen3', 'iiwa14', 'fr3', 'ur5e', 'ur10e')


@pytest.mark.parametrize('robot', ROBOTS)
def test_settings_and_urdf_give_the_same_parameters(robot, tmp_path, rng):
    arm = arm_of(robot, None)
    truth = altered(arm.model, rng)
    write_dynamics(truth, {}, arm.urdf, tmp_path / f'{robot}.urdf')
    write_settings(truth, arm.facts, f'{robot}.urdf', tmp_path / f'{robot}.yaml', ('A remark.',))
    read = RobotModel.from_config(tmp_path / f'{robot}.yaml')
    expected = truth.theta.copy()
    if truth.sensors.sensing.torque.sensor == 'link':  # a fit tells nothing of drives
        for kind in ('Fc', 'Fv', 'Ia'):
            entries = truth.layout.joint_entries(kind)
            expected[entries] = arm.model.theta[entries]
    assert read.theta == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert read.tree.R_parent_joint == pytest.approx(truth.tree.R_parent_joint)
    assert read.capsules.names == truth.capsules.names
    assert np.array_equal(read.sensors.effort_sign, truth.sensors.effort_sign)
    assert '# A remark.' in (tmp_path / f'{robot}.yaml').read_text(encoding='utf-8')


@pytest.mark.parametrize('robot', ROBOTS)
def test_mjcf_moves_in_drake_as_the_model_does(robot, tmp_path, rng):
    truth = altered(RobotModel.named(robot), rng)
    write_mjcf(truth, tmp_path / 'arm.xml')
    plant = drake.MultibodyPlant(0.0)
    drake.Parser(plant).AddModels(str(tmp_path / 'arm.xml'))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    q, qd, qdd = rng.normal(size=(3, truth.n))
    plant.SetPositions(context, q)
    plant.SetVelocities(context, qd)
    forces = drake.MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    torque = plant.CalcInverseDynamics(context, qdd, forces)
    theta = truth.theta.copy()
    for kind in ('Fc', 'Fv', 'beta'):  # Drake's parser knows no dry friction
        theta[truth.layout.joint_entries(kind)] = 0.0
    oracle = inverse_dynamics(truth.with_parameters(theta), q[None], qd[None], qdd[None])[0]
    damping = truth.layout.friction(truth.theta)[1] * qd
    assert torque == pytest.approx(oracle + damping, abs=1e-8)


@pytest.mark.parametrize('robot', ROBOTS)
def test_geometry_read_back_puts_every_joint_where_it_was(robot, tmp_path, rng):
    arm = arm_of(robot, None)
    truth, _ = misbuilt(arm.model, rng)
    write_geometry(truth, arm.urdf, tmp_path / 'arm.urdf')
    read = RobotModel.from_files(tmp_path / 'arm.urdf', arm.facts, robot)
    for q in rng.normal(size=(5, truth.n)):
        for found, expected in zip(joint_frames(read, q), joint_frames(truth, q), strict=True):
            assert found == pytest.approx(expected, abs=1e-9)


def test_angles_and_quaternions_are_those_of_the_matrix(rng):
    for _ in range(100):
        angles = rng.uniform(-np.pi, np.pi, 3)
        angles[1] = rng.choice([0.5 * angles[1], np.pi / 2, -np.pi / 2])
        R = drake.RotationMatrix(drake.RollPitchYaw(angles)).matrix()
        again = drake.RotationMatrix(drake.RollPitchYaw(roll_pitch_yaw(R))).matrix()
        assert again == pytest.approx(R, abs=1e-7)
        w = drake.RotationMatrix(drake.Quaternion(quaternion(R))).matrix()
        assert w == pytest.approx(R, abs=1e-12)


def test_a_body_that_cannot_exist_is_not_written(tmp_path):
    arm = arm_of('two_link', None)
    theta = arm.model.theta.copy()
    theta[0] = -1.0
    broken = replace(arm.model, theta=theta)
    with pytest.raises(BoundError, match='the body that joint_1 moves can not exist'):
        write_dynamics(broken, {}, arm.urdf, tmp_path / 'arm.urdf')
    with pytest.raises(BoundError, match='the body that joint_1 moves can not exist'):
        write_mjcf(broken, tmp_path / 'arm.xml')


BENT = """<robot name="bent">
  <link name="base"/>
  <joint name="j1" type="revolute">
    <parent link="base"/><child link="lower"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="9" velocity="2"/>
  </joint>
  <link name="lower"><inertial><mass value="2"/><origin xyz="0.1 0 0"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="elbow" type="fixed">
    <parent link="lower"/><child link="bracket"/><origin xyz="0.3 0.1 0" rpy="0.4 0.2 -0.7"/>
  </joint>
  <link name="bracket"><inertial><mass value="1"/><origin xyz="0 0 0.05"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j2" type="revolute">
    <parent link="bracket"/><child link="upper"/><origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="9" velocity="2"/>
  </joint>
  <link name="upper"><inertial><mass value="1"/><origin xyz="0 0 0.1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""


def test_links_between_joints_keep_their_place_and_give_up_their_mass(tmp_path, rng):
    urdf = tmp_path / 'bent.urdf'
    urdf.write_text(BENT, encoding='utf-8')
    arm = arm_of(str(urdf), None)
    theta = altered(arm.model, rng).theta
    truth = misbuilt(arm.model, rng)[0].with_parameters(theta)
    write_geometry(truth, arm.urdf, tmp_path / 'moved.urdf')
    write_dynamics(truth, {}, tmp_path / 'moved.urdf', tmp_path / 'both.urdf')
    read = arm_of(str(tmp_path / 'both.urdf'), None).model
    q, qd, qdd = rng.normal(size=(3, 5, 2))
    theta[arm.model.layout.joint_entries('Ia')] = 0.0  # a URDF has no place for these two
    theta[arm.model.layout.joint_entries('beta')] = 0.0
    expected = inverse_dynamics(truth.with_parameters(theta), q, qd, qdd)
    assert inverse_dynamics(read, q, qd, qdd) == pytest.approx(expected, abs=1e-9)
    assert (tmp_path / 'both.urdf').read_text(encoding='utf-8').count('<inertial>') == 2
