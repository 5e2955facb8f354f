"""What is assumed of a simulated arm: only where its file says nothing, and said in words."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.config import from_mapping
from safe_sysid.errors import ConfigError
from safe_sysid.model.assumed_arm import AssumedArm
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.uncertainty import Uncertainty, Width

EVERYTHING = {
    'armature': {'figure': 0.2, 'ratio': 0.25},
    'drives': {'ratio': 0.03, 'of_limit': 0.01},
    'torque': {'ratio': 0.04, 'of_limit': 0.02},
    'uncertainty': {'coulomb': {'absolute': [0.3]}, 'mass': {'ratio': [0.05]}},
}


def assumed(**kinds):
    return from_mapping(AssumedArm, kinds, 'test')


def test_everything_is_assumed_of_an_arm_of_which_nothing_is_known():
    model = RobotModel.named('ur5e')
    arm = assumed(**EVERYTHING).of(model)
    limit, armature = model.limits.torque, model.layout.joint_entries('Ia')
    assert np.all(arm.model.theta[armature] == 0.2)
    others = np.setdiff1d(np.arange(model.layout.size), np.arange(model.layout.size)[armature])
    assert np.array_equal(arm.model.theta[others], model.theta[others])
    np.testing.assert_allclose(arm.model.actuation.ratio, 0.03)
    np.testing.assert_allclose(arm.model.actuation.absolute, 0.01 * limit)
    read = arm.model.sensors.sensing.torque
    np.testing.assert_allclose(read.ratio, 0.04)
    np.testing.assert_allclose(read.absolute, 0.02 * limit)
    widths = arm.model.uncertainty
    assert widths.armature == Width((0.25,)) and widths.coulomb == Width(absolute=(0.3,))
    (said,) = arm.sentences
    for words in (
        'the simulated ur5e',
        'armature of every joint is 0.15 to 0.25 kg m^2',
        '3 % of its command and 1 % of its limit',
        '4 % of what acts and 2 % of its limit',
        'coulomb is within 0.3 N m of its figure',
        'mass is within 5 % of the size of its body of its figure',
        'nothing of this is assumed of a real arm',
    ):
        assert words in said


@pytest.mark.parametrize('robot', ['two_link', 'fr3'])
def test_what_the_file_of_an_arm_states_counts(robot):
    model = RobotModel.named(robot)
    arm = assumed(**EVERYTHING).of(model).model
    stated = model.uncertainty.stated()
    assert np.array_equal(arm.theta, model.theta)
    assert np.array_equal(arm.actuation.ratio, model.actuation.ratio)
    assert arm.sensors.sensing == model.sensors.sensing
    assert stated and arm.uncertainty.stated().items() >= stated.items()


def test_an_armature_that_is_certainly_none_stays_none():
    model = RobotModel.named('ur5e')
    none = Uncertainty(armature=Width(absolute=(0.0,)))
    stated = type(model)(**{**vars(model), 'uncertainty': none})
    arm = assumed(armature=EVERYTHING['armature']).of(stated)
    assert np.array_equal(arm.model.theta, model.theta) and arm.sentences == ()


SIGNALS = {
    'bandwidth': 1e-4,
    'jitter': 2e-5,
    'stamp_error': 3e-5,
    'zero_error': 5e-4,
    'gravity_tilt': 1e-3,
}


def test_times_and_readings_are_assumed_where_nobody_states_them():
    model = RobotModel.named('kinova_gen3')
    arm = assumed(signals=SIGNALS).of(model)
    drives, sensing = arm.model.actuation, arm.model.sensors.sensing
    assert np.all(drives.bandwidth == 1e-4) and drives.jitter == 2e-5
    assert drives.delay_periods == model.actuation.delay_periods
    assert sensing.stamp_error == 3e-5 and sensing.zero_error == (5e-4,)
    assert arm.model.gravity_tilt == 1e-3
    assert drives.assumed == ()
    (said,) = arm.sentences
    for words in ('0.1 ms; delays', '0.02 ms of a constant', '0.03 ms', '0.0005 rad', '0.001 rad'):
        assert words in said
    again = assumed(signals=dict.fromkeys(SIGNALS, 0.01)).of(arm.model)
    assert again.model.actuation is drives and again.model.sensors is arm.model.sensors
    assert again.model.gravity_tilt == 1e-3 and again.sentences == ()


def test_joints_of_which_nobody_states_a_bandwidth_are_named_and_others_stay():
    model = RobotModel.named('kinova_gen3')
    slow, silent = np.full(7, 0.004), {'joint_2': 0.004, 'joint_5': 0.004}
    drives = replace(model.actuation, bandwidth=slow, silent=silent)
    assert 'the drives of joint_2, joint_5 follow' in drives.sentences[0]
    arm = assumed(signals={'bandwidth': 1e-4}).of(replace(model, actuation=drives)).model
    np.testing.assert_array_equal(arm.actuation.bandwidth[[1, 4]], 1e-4)
    np.testing.assert_array_equal(arm.actuation.bandwidth[[0, 2, 3, 5, 6]], 0.004)


def test_nothing_is_assumed_where_nobody_asks_for_it():
    model = RobotModel.named('ur5e')
    arm = AssumedArm().of(model)
    assert np.array_equal(arm.model.theta, model.theta) and arm.sentences == ()
    assert arm.model.actuation is model.actuation and arm.model.sensors is model.sensors


def test_half_of_what_is_assumed_is_refused():
    with pytest.raises(ConfigError, match="'ratio' is missing"):
        assumed(armature={'figure': 0.1})
    with pytest.raises(ConfigError, match='figure'):
        assumed(armature={'figure': 0.0, 'ratio': 0.5})


def test_an_encoder_step_is_assumed_where_nobody_states_one():
    model = RobotModel.named('ur5e')
    arm = assumed(signals={'encoder_step': 6e-6}).of(model)
    assert np.all(arm.model.sensors.encoder_resolution == 6e-6)
    assert 'every joint is read in steps of 6e-06 rad' in arm.sentences[0]
    stated = RobotModel.named('kinova_gen3')
    assert assumed(signals={'encoder_step': 6e-6}).of(stated).sentences == ()
    sensing = replace(model.sensors.sensing, position_error=(1e-4,))
    read = replace(model, sensors=replace(model.sensors, sensing=sensing))
    assert assumed(signals={'encoder_step': 6e-6}).of(read).sentences == ()


def test_armatures_may_be_assumed_joint_by_joint():
    model = RobotModel.named('ur5e')
    figures = [1.0, 1.0, 1.0, 0.3, 0.3, 0.2]
    arm = assumed(armature={'figures': figures, 'ratio': 0.5}).of(model)
    assert arm.model.theta[model.layout.joint_entries('Ia')].tolist() == figures
    assert '0.5 to 1.5, 0.15 to 0.45, 0.1 to 0.3 kg m^2' in arm.sentences[0]
    with pytest.raises(ConfigError, match='figures has 5 entries, the arm has 6 joints'):
        assumed(armature={'figures': figures[:5], 'ratio': 0.5}).of(model)
    for both_or_none in ({}, {'figure': 0.1, 'figures': figures}):
        with pytest.raises(ConfigError, match='either `figure`'):
            assumed(armature={**both_or_none, 'ratio': 0.5})


def test_armatures_in_an_order_that_is_open_are_refused():
    arm = assumed(armature={'figures': [0.1, 0.2], 'ratio': 0.5})
    arm.refuse_unordered(('a', 'b'), ('a', 'b'))
    with pytest.raises(ConfigError, match=r'names them b, a, along the arm they are a, b'):
        arm.refuse_unordered(('b', 'a'), ('a', 'b'))


def test_a_delay_is_assumed_where_nobody_states_one():
    model = RobotModel.named('xarm7')
    assert not model.actuation.is_delay_stated
    drives = assumed(signals={'delay': [0.0, 0.001]}).of(model).model.actuation
    assert drives.delays(0.002) == (0.0, 0.001) and drives.is_delay_stated
    stated = RobotModel.named('ur5e')
    assert assumed(signals={'delay': [0.0, 0.001]}).of(stated).sentences == ()
    with pytest.raises(ConfigError, match=r'delay is \[0.002, 0.001\], it has to be \[least'):
        assumed(signals={'delay': [0.002, 0.001]})
