"""Files for Gazebo say what the settings say; that Gazebo runs with them is shown nowhere."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
import yaml

from safe_sysid.cli.main import main
from safe_sysid.errors import ConfigError
from safe_sysid.export.gazebo import write_gazebo
from safe_sysid.model.arm import arm_of
from safe_sysid.model.effort_contract import CommandSignal, EffortContract
from safe_sysid.model.facts import facts_path
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import torque_errors
from safe_sysid.ros.bridges.ros2_control_bridge import Ros2ControlSettings

ARMS = ['kinova_gen3', 'two_link', 'fr3', 'lbr_med7']  # fr3 with sensors behind its gears


def written(tmp_path, robot='kinova_gen3', distribution='jazzy'):
    name = Path(robot).stem
    line = ['export-gazebo', robot, '--distribution', distribution, '--period', '0.002']
    assert main([*line, '--out', str(tmp_path)]) == 0
    endings = ('gazebo.urdf', 'controllers.yaml', 'gazebo.yaml')
    return [tmp_path / f'{name}.{ending}' for ending in endings]


@pytest.mark.parametrize('robot', ARMS)
def test_the_arm_is_the_same_but_for_its_armature(tmp_path, robot):
    _, _, settings = written(tmp_path, robot)
    arm, there = RobotModel.named(robot), RobotModel.from_config(settings)
    expected = arm.theta.copy()
    for kind in ('Ia', 'beta'):
        expected[arm.layout.joint_entries(kind)] = 0.0
    np.testing.assert_allclose(there.theta, expected, rtol=1e-9, atol=1e-9)
    uncertainty = yaml.safe_load(settings.read_text())['uncertainty']
    for kind in ('armature', 'offset'):
        assert uncertainty[kind] == {'ratio': [0.0], 'absolute': [0.0]}


@pytest.mark.parametrize('robot', ARMS)
def test_the_urdf_has_friction_limits_and_a_base_that_stands(tmp_path, robot):
    urdf, _, _ = written(tmp_path, robot)
    arm, root = RobotModel.named(robot), ElementTree.parse(urdf).getroot()
    friction = arm.layout.friction(arm.theta)
    for j, name in enumerate(arm.layout.joint_names):
        (joint,) = [x for x in root.findall('joint') if x.get('name') == name]
        dynamics = joint.find('dynamics')
        assert float(dynamics.get('friction')) == pytest.approx(friction[0, j])
        assert float(dynamics.get('damping')) == pytest.approx(friction[1, j])
        assert float(joint.find('limit').get('effort')) == pytest.approx(arm.limits.torque[j])
    children = {joint.find('child').get('link') for joint in root.findall('joint')}
    assert {x.get('name') for x in root.findall('link')} - children == {'world'}


@pytest.mark.parametrize(
    ('distribution', 'hardware', 'system', 'file'),
    [
        (
            'humble',
            'ign_ros2_control/IgnitionSystem',
            'ign_ros2_control::IgnitionROS2ControlPlugin',
            'ign_ros2_control-system',
        ),
        (
            'jazzy',
            'gz_ros2_control/GazeboSimSystem',
            'gz_ros2_control::GazeboSimROS2ControlPlugin',
            'libgz_ros2_control-system.so',
        ),
    ],
)
def test_plugins_are_called_as_the_release_calls_them(
    tmp_path, distribution, hardware, system, file
):
    urdf, controllers, _ = written(tmp_path, distribution=distribution)
    root = ElementTree.parse(urdf).getroot()
    assert root.findtext('ros2_control/hardware/plugin') == hardware
    plugin = root.find('gazebo/plugin')
    assert (plugin.get('name'), plugin.get('filename')) == (system, file)
    assert plugin.findtext('parameters') == str(controllers.resolve())


def test_every_joint_takes_effort_and_tells_all_that_the_bridge_needs(tmp_path):
    urdf, controllers, _ = written(tmp_path)
    names = list(RobotModel.named('kinova_gen3').layout.joint_names)
    joints = ElementTree.parse(urdf).getroot().findall('ros2_control/joint')
    assert [joint.get('name') for joint in joints] == names
    for joint in joints:
        assert [x.get('name') for x in joint.findall('command_interface')] == ['effort']
        told = [x.get('name') for x in joint.findall('state_interface')]
        assert told == ['position', 'velocity', 'effort']
    said = yaml.safe_load(controllers.read_text())
    controller = Ros2ControlSettings.__dataclass_fields__['commands'].default.split('/')[1]
    assert controller in said['controller_manager']['ros__parameters']
    assert said['controller_manager']['ros__parameters']['update_rate'] == 500
    assert said[controller]['ros__parameters'] == {'joints': names, 'interface_name': 'effort'}


MOUNTED = {  # gravity in the base frame
    'wall': [9.81, 0.0, 0.0],
    'ceiling': [0.0, 0.0, 9.81],
    'slope': [2.0, -5.0, -7.0],
    'overhang': [-4.0, 3.0, 6.0],
}


def mounted(tmp_path, gravity, urdf):
    """Settings of the two-link arm under another gravity, and the files for Gazebo of them."""
    settings = yaml.safe_load(facts_path('two_link').read_text(encoding='utf-8'))
    path = tmp_path / 'mounted.yaml'
    path.write_text(yaml.safe_dump({**settings, 'gravity': gravity, 'urdf': str(urdf)}))
    return path


@pytest.mark.parametrize('gravity', MOUNTED.values(), ids=MOUNTED)
def test_the_base_is_turned_as_the_arm_is_mounted(tmp_path, rng, gravity):
    source = arm_of('two_link', None).urdf
    settings = mounted(tmp_path, gravity, source)
    urdf, _, there = written(tmp_path, str(settings))
    arm = RobotModel.from_config(settings)
    expected = arm.pinocchio()  # gravity of the settings, base as it is
    built = pin.buildModelFromUrdf(str(urdf))
    size = np.linalg.norm(gravity)
    built.gravity.linear = np.array([0.0, 0.0, -size])  # that of Gazebo
    read = RobotModel.from_config(there).pinocchio()  # what the loop knows
    for q in rng.normal(size=(20, arm.n)):
        torque = pin.computeGeneralizedGravity(expected, expected.createData(), q)
        for model in (built, read):
            found = pin.computeGeneralizedGravity(model, model.createData(), q)
            np.testing.assert_allclose(found, torque, atol=1e-9)
    assert f'gravity has to be {size:g} m/s^2 downwards' in there.read_text(encoding='utf-8')


def test_a_base_called_world_stands_as_gazebo_has_it(tmp_path):
    """There is nothing above it that could be turned."""
    text = arm_of('two_link', None).urdf.read_text(encoding='utf-8')
    urdf = tmp_path / 'standing.urdf'
    urdf.write_text(text.replace('"base_link"', '"world"'), encoding='utf-8')
    settings = mounted(tmp_path, MOUNTED['wall'], urdf)
    settings.write_text(settings.read_text().replace('link: base_link', 'link: world'))
    arm = arm_of(str(settings), None)
    with pytest.raises(
        ConfigError, match=r'the root link is world.*gravity \[9\.81, 0\.0, 0\.0\]'
    ):
        write_gazebo(arm, 'jazzy', 0.001, tmp_path / 'out')


def test_effort_is_what_gazebo_tells_whatever_the_driver_of_the_arm_does(tmp_path, rng):
    said = yaml.safe_load(facts_path('two_link').read_text(encoding='utf-8'))
    for joint in said['joints'].values():
        joint |= {'effort_sign': -1, 'effort_scale': 2.5, 'offset': 0.7}
    said |= {
        'urdf': str(arm_of('two_link', None).urdf),
        'effort': {'kind': 'current', 'gravity_included': False},
        'sensing': {
            'backlash': [0.004],
            'velocity': {'source': 'driver', 'filter': 0.02, 'lag': 0.01},
            'torque': {'sensor': 'motor', 'filter': [0.01, 0.04]},
        },
    }
    settings = tmp_path / 'driven.yaml'
    settings.write_text(yaml.safe_dump(said), encoding='utf-8')
    _, _, there = written(tmp_path, str(settings))
    model = RobotModel.from_config(there)
    contract = EffortContract(model, CommandSignal())
    q, torque = rng.normal(size=(2, 2))
    np.testing.assert_array_equal(contract.torque(torque, q), torque)
    assert not model.layout.friction(model.theta)[3].any()
    errors = torque_errors(model)
    assert errors.filter == (0.0, 0.0) and model.sensors.sensing.backlash is None
    velocity = model.sensors.sensing.velocity
    assert (velocity.source, velocity.filter, velocity.lag) == ('driver', 0.0, 0.0)


@pytest.mark.parametrize('robot', ['digit_left_leg', 'four_bar'])
def test_a_closed_chain_is_no_tree_and_is_refused(tmp_path, robot):
    arm, out = arm_of(robot, None), tmp_path / 'out'
    with pytest.raises(ConfigError, match=rf'{robot} has a closed chain.*only open chains'):
        write_gazebo(arm, 'jazzy', 0.001, out)
    assert not out.exists()


def test_the_arm_there_holds_what_the_loop_of_the_real_one_holds(tmp_path):
    _, _, there = written(tmp_path)
    payload, arm = read_payload('dumbbell_8lb'), RobotModel.named('kinova_gen3')
    model = RobotModel.from_config(there)
    assert model.name == 'kinova_gen3.gazebo'
    held, expected = (x.with_payload(payload).payload for x in (model, arm))
    np.testing.assert_allclose(held, expected, atol=1e-12)
    elsewhere = replace(payload.placements['kinova_gen3'], xyz=(0.0, 0.0, 0.5))
    own = replace(payload, placements={**payload.placements, 'kinova_gen3.gazebo': elsewhere})
    assert not np.allclose(model.with_payload(own).payload, expected)
    with pytest.raises(ConfigError, match="does not say how 'no_arm' holds it"):
        payload.placed_on('no_arm.gazebo')
