"""What acts for a command: stated once, by joint; where nobody states it, wide."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.config import from_mapping, parsed_yaml
from safe_sysid.errors import ConfigError
from safe_sysid.loop_settings import GainSettings, LoopSettings
from safe_sysid.model.actuation import actuation_of
from safe_sysid.model.dry_friction import DryFriction
from safe_sysid.model.facts import ActuationFacts, facts_path, read_facts
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import torque_errors
from safe_sysid.model.signal_facts import CommandFacts, DryFrictionFacts
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
    assert 'torque_ratio' not in blocks['/**/identifier']['ros__parameters']['identifier']
    assert np.all(gains.torque_ratio >= torque_errors(settings.described()).ratio)
    assert np.all(gains.torque_error > 0.0)


def test_friction_under_load_is_an_error_of_the_drives():
    """A drive gives (1 + ratio) |u| + absolute at most, of which friction may take a share."""
    model = RobotModel.named('two_link')
    told, drives = GainSettings().gains(model), model.actuation
    np.testing.assert_array_equal(told.torque_ratio, drives.ratio)
    rubbing = replace(model, friction=DryFriction(DryFrictionFacts(load=(0.1, 0.0))))
    told = GainSettings().gains(rubbing)
    more = np.array([0.1 * (1.0 + drives.ratio[0]), 0.0])
    np.testing.assert_allclose(told.torque_ratio, drives.ratio + more)
    np.testing.assert_allclose(told.torque_error, drives.absolute * [1.1, 1.0])


def test_where_nothing_is_stated_figures_are_wide_and_said():
    facts = replace(read_facts(facts_path('two_link')), actuation=None)
    assumed = actuation_of(facts, list(facts.joints))
    np.testing.assert_array_equal(assumed.ratio, [0.05, 0.05])
    np.testing.assert_allclose(assumed.absolute, [1.2, 0.6])
    assert str(assumed) == (
        'within 5 % and 0.6 to 1.2 N m of the command (assumed, as no figure is stated)'
    )


def test_a_joint_left_out_and_a_share_of_all_are_refused():
    facts = read_facts(facts_path('two_link'))
    with pytest.raises(ConfigError, match='actuation names'):
        replace(facts, actuation={'joint_1': ActuationFacts(0.0, 0.0)})
    with pytest.raises(
        ConfigError, match=r'delay is \[0.2, 0.1\]: the least is above the largest'
    ):
        from_mapping(CommandFacts, {'delay': [0.2, 0.1]}, 'arm.yaml: command')
    with pytest.raises(ConfigError, match=r'slew is 0.0, it has to be above 0'):
        ActuationFacts(0.0, 0.0, slew=0.0)
    with pytest.raises(ConfigError, match='ratio is 1.0, it has to be at least 0 and less than 1'):
        ActuationFacts(1.0, 0.0)
    with pytest.raises(ConfigError, match='absolute is inf, it has to be at least 0'):
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
    with pytest.raises(ConfigError, match='one of exact, erring'):
        ArmSettings(actuators='wrong')


def commanded(rng, timing, h, seconds):
    """Torque that acts on a fine grid, and the sample that each command answers.

    A driver from scratch: samples every h, each answered after a delay of its own, held until the
    next answer arrives.
    """
    count, fine = round(seconds / h), 2e-5
    samples = h * np.arange(count)
    arrival = samples + rng.uniform(*timing.delays(h), size=count)
    arrival = np.maximum.accumulate(arrival)
    t = np.arange(arrival[5], samples[-1], fine)
    return t, samples[np.searchsorted(arrival, t, side='right') - 1], fine


def test_no_torque_is_older_than_is_said(rng):
    facts, closest = read_facts(facts_path('two_link')), 0.0
    for _ in range(20):
        h = rng.choice([0.001, 0.005])
        delay, periods = np.sort(rng.uniform(0.0, 0.004, 2)), np.sort(rng.uniform(0.0, 2.0, 2))
        command = CommandFacts(None, tuple(delay), tuple(periods))
        timing = actuation_of(replace(facts, command=command), list(facts.joints))
        t, answered, _ = commanded(rng, timing, h, 2.0)
        share = (t - answered) / timing.oldest_sample(h)[0]
        assert share.max() <= 1.0 + 1e-9
        closest = max(closest, share.max())
        stamped = timing.oldest_sample(h, stamp_error=0.0005)
        np.testing.assert_allclose(stamped, timing.oldest_sample(h) + 0.0005)
    assert closest > 0.9


@pytest.mark.parametrize('share', [0.05, 0.3])
def test_a_slow_drive_keeps_a_share_of_older_commands(rng, share):
    """Integrate the drive with the part that is younger than the age, and the whole of it."""
    facts = read_facts(facts_path('two_link'))
    slow = {name: replace(each, bandwidth=0.004) for name, each in facts.actuation.items()}
    command = CommandFacts(None, (0.0, 0.002), None)
    timing = actuation_of(replace(facts, actuation=slow, command=command), list(facts.joints))
    t, answered, fine = commanded(rng, timing, 0.001, 1.0)
    age = timing.oldest_sample(0.001, share=share)[0]
    value = {sample: rng.uniform(-1.0, 1.0) for sample in np.unique(answered)}
    torque = np.array([value[sample] for sample in answered])
    weight = fine / 0.004 * np.exp(-np.arange(len(t)) * fine / 0.004)
    older = []
    for now in range(2000, len(t), 997):
        back = weight[: now + 1][::-1]
        old = answered[: now + 1] < t[now] - age
        older.append(np.sum(back[old]))
        left = abs(np.sum((back * torque[: now + 1])[old]))
        assert left <= timing.error_of_older(np.ones(2), share)[0] * 1.01
    assert np.max(older) <= share * 1.01
    assert np.max(older) > 0.3 * share


def test_when_commands_act_is_wide_where_nothing_is_stated():
    facts = replace(read_facts(facts_path('two_link')), command=CommandFacts(), actuation=None)
    timing = actuation_of(facts, list(facts.joints))
    assert timing.delays(0.001) == pytest.approx((0.0, 0.003))
    assert (timing.bandwidth > 0.0).all()
    assert len(timing.sentences) == 2
    assert 'held for 1 ms, 0 to 3 ms after its sample' in timing.timing(0.001)
