"""Rows of a held torque hold for arms from a textbook, stiff friction and stick-slip included."""

from dataclasses import replace

from identify.known_recordings import (
    exact,
    near_bounds,
    share_of_promise,
    sliding_joint,
)
from identify.textbook_arms import (
    random_links,
    slide,
    sliding_log,
    swing,
    swinging_log,
    two_links,
)
import numpy as np
import pytest

from safe_sysid.identify.momentum_observation import observe
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.sets.interval import Interval


def known(model):
    """[theta] of an arm that is known to 1e-9, so that nothing hides behind it."""
    radius = 1e-9 * np.abs(model.theta)
    return Interval(model.theta - radius, model.theta + radius)


def shares(model, log, **settings):
    """Shares of the promised error that the truth uses up."""
    rows = observe(model, known(model), exact(torque_signal='held', **settings), log)
    return share_of_promise(rows, model.theta, model.layout)


def wavy(rng, samples, n, period, size):
    t = period * np.arange(samples)[:, None]
    waves = [np.sin(rng.uniform(1.0, 30.0) * t + rng.uniform(0.0, 6.0, size=n)) for _ in range(3)]
    return size * sum(rng.normal(size=n) * wave for wave in waves)


@pytest.mark.parametrize('period', [0.001, 0.008])
def test_a_damped_mass_by_the_formula(rng, period):
    # 2 kg and 5 N s/m: the velocity bends inside every step, which samples cannot show
    for _ in range(20):
        force = wavy(rng, 300, 1, period, 3.0)[:, 0]
        log = sliding_log(slide(2.0, 5.0, 0.0, force, period), force, period)
        model = sliding_joint(rng, m=2.0, Fv=5.0)
        assert shares(model, log, window=20).max() <= 1.0
        lighter = model.theta.copy()
        lighter[0] -= 1e-9
        rows = observe(model, known(model), exact(torque_signal='held', window=20), log)
        assert share_of_promise(rows, lighter, model.layout).max() > 1.0


@pytest.mark.parametrize('period', [0.001, 0.002, 0.005, 0.008])
def test_two_links_that_swing(rng, period):
    for _ in range(6):
        arm, viscous = random_links(rng)
        torques = wavy(rng, 150, 2, period, rng.choice([0.5, 3.0]))
        if rng.random() < 0.5:
            torques += rng.normal(size=(150, 2))  # jumps at every sample
        start = np.concatenate([rng.normal(size=2), rng.normal(size=2)])
        states = swing(
            start, torques, period, max(20, round(period / 5e-5)), arm, viscous, np.zeros(2)
        )
        model = two_links(rng, arm, viscous, np.zeros(2))
        window = int(rng.choice([2, 5, 20, 50]))
        assert shares(model, swinging_log(states, torques, period), window=window).max() <= 1.0


@pytest.mark.parametrize('period', [0.001, 0.005])
def test_links_that_stick_and_slip(rng, period):
    stops = 0
    for _ in range(15):
        arm, viscous = random_links(rng)
        dry = rng.choice([0.02, 0.2, 2.0], size=2)
        torques = wavy(rng, 150, 2, period, rng.choice([0.5, 3.0]))
        torques *= np.sign(np.sin(rng.uniform(5.0, 200.0) * period * np.arange(150)))[:, None]
        start = np.array([-np.pi / 2, 0.0, 0.0, 0.0])
        states = swing(start, torques, period, max(20, round(period / 5e-5)), arm, viscous, dry)
        stops += int(((states[1:, 2:] == 0.0) != (states[:-1, 2:] == 0.0)).sum())
        model = two_links(rng, arm, viscous, dry)
        window = int(rng.choice([2, 5, 20, 50]))
        assert shares(model, swinging_log(states, torques, period), window=window).max() <= 1.0
    assert stops > 20


def test_a_mass_that_sticks_and_slips_by_the_formula(rng):
    for _ in range(60):
        dry, period = rng.uniform(0.1, 3.0), rng.choice([0.001, 0.008])
        force = wavy(rng, 200, 1, period, 3.0 * dry)[:, 0] + dry * rng.normal(size=200)
        viscous = rng.choice([0.0, 5.0])
        log = sliding_log(slide(1.5, viscous, dry, force, period), force, period)
        model = sliding_joint(rng, m=1.5, Fv=viscous, Fc=dry)
        assert shares(model, log, window=int(rng.choice([2, 5, 20]))).max() <= 1.0


def test_positions_that_wrap_are_unwrapped(rng):
    arm, viscous = random_links(rng)
    torques = np.zeros((400, 2))
    states = swing(np.array([3.0, 0.1, 5.0, -3.0]), torques, 0.005, 100, arm, viscous, np.zeros(2))
    model = two_links(rng, arm, viscous + 1.0, np.zeros(2))
    states = swing(
        np.array([3.0, 0.1, 9.0, -9.0]), torques, 0.002, 40, arm, viscous + 1.0, np.zeros(2)
    )
    log = swinging_log(states, torques, 0.002)
    wrapped = replace(log, position=(log.position + np.pi) % (2.0 * np.pi) - np.pi)
    assert np.abs(np.diff(wrapped.position, axis=0)).max() > 6.0
    assert shares(model, wrapped, window=50).max() <= 1.0


# lost samples


@pytest.mark.parametrize('left', [294, 210])  # of 300; of 210, every other step is a double one
def test_a_window_ends_where_a_sample_of_a_held_torque_is_lost(rng, left):
    arm, viscous = random_links(rng)
    model = two_links(rng, arm, viscous, np.zeros(2))
    for _ in range(10):
        torques = 2.0 * rng.normal(size=(300, 2))
        states = swing(rng.normal(size=4), torques, 0.001, 20, arm, viscous, np.zeros(2))
        log = swinging_log(states, torques, 0.001)
        kept = np.sort(rng.permutation(300)[:left])
        kept = kept[kept != 1] if rng.random() < 0.5 else kept  # the very first step is long
        lossy = JointLog(
            *(array[kept] for array in (log.stamp, log.position, log.velocity, log.torque))
        )
        # where most steps are double ones from the start, only the settings know the sample time
        longest = 0.0025 if left == 294 else 0.0015
        assert shares(model, lossy, window=20, longest_step=longest).max() <= 1.0
        sampled_windows = observe(
            model, near_bounds(model), exact(window=20, longest_step=0.0025), lossy
        )
        if left == 294:
            assert np.diff(np.unique(sampled_windows.start)).max() < 0.03  # a measured one goes on
