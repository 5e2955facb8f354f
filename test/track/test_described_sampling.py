"""How an arm is sampled follows from its settings alone: silence is wide, what is open is said."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.model.actuation import Actuation
from safe_sysid.model.dry_friction import DryFriction
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.signal_facts import DryFrictionFacts, SensingFacts
from safe_sysid.track.described_sampling import described_sampling
from safe_sysid.track.seen_law import LONGER

PERIOD = 0.002
RUBS = DryFriction(DryFrictionFacts(static=(0.0,), load=(0.0,)))


def stated(drives=None, **facts):
    model = RobotModel.named('kinova_gen3')
    sensors = replace(model.sensors, sensing=SensingFacts(**facts))
    drives = replace(Actuation.exact(model.n), **(drives or {}))
    tilt = facts.get('tilt')
    return replace(model, sensors=sensors, actuation=drives, gravity_tilt=tilt, friction=RUBS)


def test_what_is_stated_counts():
    said = {'stamp_error': 1e-5, 'zero_error': (1e-3,), 'position_error': (2e-4,)}
    model = replace(stated({'delay_periods': (0.0, 1.0)}, **said), gravity_tilt=0.01)
    found = described_sampling(model, PERIOD)
    s = found.sampling
    assert (s.period, s.delay, s.jitter) == (PERIOD, PERIOD, 0.5 * PERIOD)
    assert (s.stamp, s.tilt) == (1e-5, 0.01)
    np.testing.assert_allclose(s.step, 4e-4)
    np.testing.assert_allclose(s.zero, 1e-3)
    assert s.age == pytest.approx((1.0 + LONGER) * PERIOD + 1e-5, rel=1e-12)
    assert found.sentences == ()


def test_a_delay_that_is_constant_but_for_a_jitter_is_a_bias():
    drives = {'delay_periods': (0.0, 1.0), 'delay': (0.001, 0.001)}
    for jitter, bias in ((2e-4, 8e-4), (0.0, 1e-3), (2e-3, 0.0), (np.inf, 0.0)):
        model = stated({**drives, 'jitter': jitter}, stamp_error=0.0)
        s = described_sampling(model, PERIOD).sampling
        assert s.delay == 0.003 and s.bias == pytest.approx(bias, abs=1e-12)
        assert s.jitter + s.bias == pytest.approx(1e-3)
        assert s.begins == pytest.approx(0.002)


def test_what_nobody_stated_is_wide_and_said():
    model = replace(stated({'is_stated': False}), friction=DryFriction())
    bare = replace(model.sensors, encoder_resolution=np.zeros(model.n), sensing=SensingFacts())
    found = described_sampling(replace(model, sensors=bare), PERIOD)
    s = found.sampling
    assert (s.step >= 5e-4).all() and (s.zero >= 1e-3).all()
    assert s.stamp >= 5e-5 and s.tilt >= 1e-3
    said = ' '.join(found.sentences)
    for word in (
        'encoders of all joints',
        'zero_error',
        'stamps',
        'gravity_tilt',
        'ratio, absolute',
        'load',
    ):
        assert word in said


@pytest.mark.parametrize('period', [0.25e-3, 1e-3, 8e-3, 0.04])
def test_windows_hold_two_readings_and_no_more_than_are_kept(period):
    s = described_sampling(stated(), period).sampling
    assert 2.0 * period <= s.window <= 125 * period


@pytest.mark.parametrize(
    ('drives', 'facts', 'words'),
    [
        (
            {'bandwidth': np.arange(7) * 1e-3},
            {},
            'joint_7 follows .* time constant of 6 ms, joint_1 with 0 ms',
        ),
        ({'slew': np.full(7, 500.0)}, {}, r'changes its torque by 500 N m/s at most'),
        ({'hold': 0.004}, {}, 'held for 4 ms and samples come every 2 ms'),
        ({}, {'backlash': (1e-3,)}, 'has a play of 0.001 rad'),
    ],
)
def test_what_no_certificate_contains_is_refused(drives, facts, words):
    with pytest.raises(ConfigError, match=f'kinova_gen3: .*{words}.* so there is no plan'):
        described_sampling(stated(drives, **facts), PERIOD)


def test_a_time_constant_makes_torques_older_and_is_said():
    """All but 0.2 % of a command after 6.2 time constants; of that, twice the torque limit."""
    plain = described_sampling(stated(), PERIOD).sampling
    found = described_sampling(stated({'bandwidth': np.full(7, 0.002)}), PERIOD)
    s, limit = found.sampling, RobotModel.named('kinova_gen3').limits.torque
    assert s.lag == pytest.approx(0.0124, rel=0.01)
    np.testing.assert_allclose(s.older, 0.004 * limit)
    assert s.age == pytest.approx(plain.age + s.lag)
    assert s.middle == pytest.approx(plain.middle + 0.5 * s.lag)
    assert any('same time constant' in sentence for sentence in found.sentences)
    assert (plain.lag, np.max(plain.older)) == (0.0, 0.0)


def test_a_time_constant_that_is_assumed_counts_and_is_said():
    found = described_sampling(RobotModel.named('kinova_gen3'), PERIOD)
    assert found.sampling.lag > 0.01
    assert any('nobody stated it' in s and 'bandwidth' in s for s in found.sentences)


def test_an_arm_that_is_exact_in_everything_is_not_seen_late():
    exact = {'stamp_error': 0.0, 'zero_error': (0.0,), 'position_error': (0.0,)}
    model = replace(stated({'hold': 0.0}, **exact), gravity_tilt=0.0)
    assert described_sampling(model, PERIOD).sampling is None
    held = replace(stated(**exact), gravity_tilt=0.0)
    assert described_sampling(held, PERIOD).sampling.age == LONGER * PERIOD
