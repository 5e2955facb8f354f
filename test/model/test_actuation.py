"""What acts for a command: stated once, by joint; where nobody states it, wide."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.config import from_mapping, parsed_yaml
from safe_sysid.errors import ConfigError
from safe_sysid.loop_settings import LoopSettings
from safe_sysid.model.actuation import actuation_of
from safe_sysid.model.facts import ActuationFacts, facts_path, read_facts
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.share import share_directory
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm

ROBOTS = ('kinova_gen3', 'lbr_med7', 'two_link')


@pytest.mark.parametrize('robot', ROBOTS)
def test_shipped_loops_make_room_for_what_their_arm_states(robot):
    """And it is not less than what the same loop promises the identifier of measured torques."""
    blocks = parsed_yaml((share_directory() / f'config/loop/{robot}.yaml').read_text(), robot)
    common = blocks['/**']['ros__parameters']
    common = {key: common[key] for key in ('robot', 'prior', 'gains')}
    settings = from_mapping(LoopSettings, common, robot)
    gains, facts = settings.arm().gains, read_facts(facts_path(robot))
    stated = [facts.actuation[name] for name in facts.joints]
    np.testing.assert_array_equal(gains.torque_ratio, [each.ratio for each in stated])
    np.testing.assert_array_equal(gains.torque_error, [each.absolute for each in stated])
    promised = blocks['/**/identifier']['ros__parameters']['identifier']['observation']
    assert np.all(gains.torque_ratio >= promised['torque_ratio'])
    assert np.all(gains.torque_error > 0.0)


def test_where_nothing_is_stated_figures_are_wide_and_said():
    facts = replace(read_facts(facts_path('two_link')), actuation=None)
    assumed = actuation_of(facts, list(facts.joints))
    np.testing.assert_array_equal(assumed.ratio, [0.05, 0.05])
    np.testing.assert_allclose(assumed.absolute, [1.2, 0.6])
    assert str(assumed) == (
        'within 5 % and 0.6 to 1.2 N m of the command (assumed, as the settings of the arm say '
        'nothing)'
    )


def test_a_joint_left_out_and_a_share_of_all_are_refused():
    facts = read_facts(facts_path('two_link'))
    with pytest.raises(ConfigError, match='actuation names'):
        replace(facts, actuation={'joint_1': ActuationFacts(0.0, 0.0)})
    with pytest.raises(ConfigError, match='ratio is 1.0, it has to be at least 0 and less than 1'):
        ActuationFacts(1.0, 0.0)
    with pytest.raises(ConfigError, match='absolute is inf N m, it has to be 0 or more'):
        ActuationFacts(0.0, np.inf)


def test_simulated_actuators_err_as_much_as_is_stated_and_no_more(rng):
    model = RobotModel.named('two_link')
    arm = SimulatedArm(model, np.zeros(2), rng, ArmSettings(actuators='erring'))
    exact = SimulatedArm(model, np.zeros(2), rng, ArmSettings())
    shares = []
    for torque in rng.uniform(-20.0, 20.0, (200, 2)):
        arm.apply(torque)
        exact.apply(torque)
        np.testing.assert_array_equal(exact.truth.torque, torque)
        shares.append((arm.truth.torque - torque) / model.actuation.error(torque))
    assert np.abs(shares).max() <= 1.0
    assert np.max(shares) > 0.9
    assert np.min(shares) < -0.9
    with pytest.raises(ConfigError, match='allowed are'):
        ArmSettings(actuators='wrong')
