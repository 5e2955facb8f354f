"""Rows hold for the true parameters, whatever the errors are within their promise."""

from dataclasses import replace
from fractions import Fraction

from identify.known_recordings import (
    exact,
    held_recording,
    jittered,
    near_bounds,
    share_of_promise,
    sliding_joint,
    smooth_arm,
    smooth_recording,
)
import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.bench.experiments.identification import ERRORS, random_trial
from safe_sysid.identify.momentum_observation import (
    observe,
)
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.dynamics.regressors import momentum_regressors
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.excited_motion import fourier_motion, recorded, true_torque
from safe_sysid.simulate.random_arm import random_tree


def shares(model, settings, log):
    """Shares of the promised error that the true parameters use up, row by row."""
    rows = observe(model, near_bounds(model), settings, log)
    return share_of_promise(rows, model.theta, model.layout)


# errors of the torque


@pytest.mark.parametrize('trials', [15, pytest.param(40, marks=pytest.mark.nightly)])
def test_rows_hold_for_every_kind_of_torque_error(trials, rng):
    for _ in range(trials):
        trial = random_trial(rng, seconds=1.0)
        used = share_of_promise(trial.observation(), trial.model.theta, trial.model.layout)
        assert used.max() <= 1.0
    assert set(ERRORS) == {'random', 'gain', 'pattern'}


@pytest.mark.parametrize('quadrature', ['trapezoid', 'euler'])
@pytest.mark.parametrize('gain', [0.975, 1.025])
def test_a_gain_error_uses_up_nearly_all_of_the_promise_and_a_larger_one_more(
    rng, quadrature, gain
):
    model = smooth_arm(rng, 4)
    log = smooth_recording(rng, model, 2.0, 0.001)
    share = abs(1.0 / gain - 1.0) * (1.0 + 1e-12)  # |true - measured| <= share |measured|
    settings = exact(window=50, quadrature=quadrature, torque_ratio=(share,))
    used = shares(model, settings, replace(log, torque=gain * log.torque))
    assert used.max() <= 1.0
    assert used.max() > (0.99 if quadrature == 'trapezoid' else 0.5)
    for tighter in (0.9, 1.1):
        wrong = replace(log, torque=(1.0 + tighter * (gain - 1.0)) * log.torque)
        assert (shares(model, settings, wrong).max() > 1.0) == (tighter > 1.0)


def test_absolute_torque_errors_of_each_joint_are_its_own(rng):
    model = smooth_arm(rng, 3)
    log = smooth_recording(rng, model, 1.0, 0.001)
    errors = np.array([0.5, 0.0, 2.0])
    measured = replace(log, torque=log.torque + errors)
    used = shares(model, exact(window=50, torque_error=tuple(errors)), measured)
    assert used.max() <= 1.0
    for joint in (0, 2):
        assert used[joint::3].min() > 0.9  # a constant offset at its limit
    swapped = shares(model, exact(window=50, torque_error=(2.0, 0.5, 0.0)), measured)
    assert swapped.max() > 1.0


@pytest.mark.parametrize('quadrature', ['trapezoid', 'euler'])
def test_rows_hold_when_joints_with_dry_friction_reverse(rng, quadrature):
    for _ in range(10):
        model = random_tree(rng, 3, serial=True, armature=0.3)
        motion = fourier_motion(rng, 3, 2.0, 0.005)
        assert (np.diff(np.sign(motion.qd), axis=0) != 0).any()
        settings = exact(window=int(rng.integers(2, 30)), quadrature=quadrature)
        used = shares(model, settings, recorded(motion, true_torque(model, motion)))
        assert used.max() <= 1.0
        theta = model.theta.copy()  # as if there were no dry friction
        theta[model.layout.joint_entries('Fc')] = 0.0
        rows = observe(
            model, near_bounds(model), settings, recorded(motion, true_torque(model, motion))
        )
        assert share_of_promise(rows, theta, model.layout).max() > 1.0


def test_dry_friction_alone_by_hand_when_it_reverses(rng):
    # nothing is smooth here, so that no remainder of a quadrature hides the sign
    model = sliding_joint(rng, Fc=2.0)
    t = 0.001 * np.arange(11)
    for sign in (-1.0, 1.0):
        for reversal in [0.0, 0.004, 0.01, *rng.uniform(0.0, 0.01, size=30)]:
            velocity = sign * (t - reversal)[:, None]
            log = JointLog(
                1_000_000 * np.arange(11), np.zeros((11, 1)), velocity, 2.0 * np.sign(velocity)
            )
            assert shares(model, exact(window=10, curvature=(0.0,)), log).max() <= 1.0
    crossing = replace(log, velocity=np.abs(velocity) + 1e-3)  # a sign that is not the torque's
    assert shares(model, exact(window=10, curvature=(0.0,)), crossing).max() > 1.0


def test_a_wrong_parameter_does_not_satisfy_the_rows(rng):
    model = smooth_arm(rng, 3)
    log = smooth_recording(rng, model, 1.0, 0.001)
    rows = observe(model, near_bounds(model), exact(window=50), log)
    for entry in range(model.layout.end_effector.start, model.layout.end_effector.stop):
        theta = model.theta.copy()
        theta[entry] += 0.05
        assert share_of_promise(rows, theta, model.layout).max() > 1.0, model.layout.labels[entry]


# errors of position and velocity


def test_rounded_positions_and_velocities_are_covered_if_declared(rng):
    position, velocity = 1e-4, 1e-3  # half of what the sensors resolve
    declared = {'position_error': (1.0001 * position,), 'velocity_error': (1.0001 * velocity,)}
    unaware = 0.0
    for n in (1, 2, 3, 5):
        model = smooth_arm(rng, n)
        log = smooth_recording(rng, model, 1.0, 0.001)
        rounded = replace(
            log,
            position=2 * position * np.round(log.position / (2 * position)),
            velocity=2 * velocity * np.round(log.velocity / (2 * velocity)),
        )
        assert shares(model, exact(window=50, **declared), rounded).max() <= 1.0
        unaware = max(unaware, shares(model, exact(window=50), rounded).max())
    assert unaware > 1.0


@pytest.mark.parametrize('name', slow_after(1, ['position', 'velocity']))
def test_constant_sensor_offsets_are_covered_if_declared(rng, name):
    model = smooth_arm(rng, 3)
    log = smooth_recording(rng, model, 1.0, 0.001)
    unaware = 0.0
    for sign in rng.choice([-1.0, 1.0], size=(10, 3)):
        error = 1e-4 * sign
        off = replace(log, **{name: getattr(log, name) + error})
        settings = exact(window=50, **{f'{name}_error': (1.0001e-4,)})
        assert shares(model, settings, off).max() <= 1.0
        unaware = max(unaware, shares(model, exact(window=50), off).max())
    if name == 'position':  # constant velocity errors bend every step, which shows
        assert unaware > 1.0


def pushed_mass(torque):
    """A mass of 2 kg that starts at rest; positions play no part."""
    stamp = 1_000_000 * np.arange(len(torque))
    velocity = np.concatenate([[0.0], np.cumsum(torque[:-1]) * 0.001 / 2.0])
    return JointLog(stamp, np.zeros((len(torque), 1)), velocity[:, None], torque[:, None])


@pytest.mark.parametrize('name', ['m', 'Ia'])
def test_velocity_errors_at_both_ends_of_a_window_add_up(rng, name):
    # by hand: 2 kg, as mass or as inertia of the motor, change their momentum by 2 errors
    model = sliding_joint(rng, **{name: 2.0})
    log = pushed_mass(np.ones(21))
    velocity = log.velocity.copy()
    velocity[0] += 1e-3
    velocity[-1] -= 1e-3
    settings = exact(window=20, velocity_error=(1.0001e-3,), torque_signal='held')
    used = shares(model, settings, replace(log, velocity=velocity))
    assert 0.95 < used.max() <= 1.0


def test_viscous_friction_works_on_positions_whatever_the_velocities_are(rng):
    # by hand: nothing but a damper at constant velocity; both ends off by the promise
    model = sliding_joint(rng, Fv=5.0)
    way = 0.3 * 0.001 * np.arange(21.0)[:, None]
    way[0] -= 1e-4
    way[-1] += 1e-4
    log = JointLog(1_000_000 * np.arange(21), way, 0.0 * way + 7.0, 0.0 * way + 5.0 * 0.3)
    used = shares(model, exact(window=20, position_error=(1.0001e-4,)), log)
    assert 0.95 < used.max() <= 1.0


def test_a_velocity_whose_sign_is_not_certain_leaves_dry_friction_open(rng):
    # a joint that rests, or creeps, with a velocity reading of a tenth of its error
    model = random_tree(rng, 1, serial=True, armature=0.3)
    Fc = model.layout.friction(model.theta)[0, 0]
    N = 31
    stamp, rest = np.arange(N) * 1_000_000, np.zeros((N, 1))
    still = true_torque(
        model, fourier_motion(rng, 1, 0.03, 0.001)._replace(q=rest, qd=rest, qdd=rest)
    )
    for friction in np.linspace(-Fc, Fc, 7):
        log = JointLog(stamp, rest, rest + 1e-4, still + friction)
        assert shares(model, exact(window=30, velocity_error=(1e-3,)), log).max() <= 1.0
    assert shares(model, exact(window=30), JointLog(stamp, rest, rest + 1e-4, still)).max() > 1.0


# quadrature


@pytest.mark.parametrize('quadrature', ['trapezoid', 'euler'])
@pytest.mark.parametrize('window', [2, 3, 10])
def test_coarse_samples_are_covered_by_the_remainder(rng, quadrature, window):
    for n in (1, 2, 4):
        model = smooth_arm(rng, n)
        log = smooth_recording(rng, model, 2.0, 0.02)
        used = shares(model, exact(window=window, quadrature=quadrature), log)
        assert used.max() <= 1.0


def test_without_a_remainder_coarse_samples_are_not_covered(rng):
    model = smooth_arm(rng, 3)
    log = smooth_recording(rng, model, 2.0, 0.02)
    assert shares(model, exact(window=10, curvature=(0.0,)), log).max() > 1e3


def test_a_true_bound_on_the_curvature_is_enough_and_a_wrong_one_is_not(rng):
    for n in (1, 2, 4):
        model = smooth_arm(rng, n)
        motion = fourier_motion(rng, n, 2.0, 0.002)
        torque = true_torque(model, motion)
        rate = momentum_regressors(model, motion.q, motion.qd)[1] @ model.theta + torque
        rate += model.layout.friction(model.theta)[1] * motion.qd  # integrated exactly
        curvature = np.abs(np.diff(rate, 2, axis=0)).max(axis=0) / 0.002**2
        part = slice(None, None, 10)
        log = JointLog(motion.stamp[part], motion.q[part], motion.qd[part], torque[part])
        used = shares(model, exact(window=5, curvature=tuple(1.01 * curvature)), log)
        assert 0.8 < used.max() <= 1.0
        assert shares(model, exact(window=5, curvature=tuple(0.5 * curvature)), log).max() > 1.0


def test_uneven_samples_are_covered(rng):
    for n in (1, 2, 4):
        model = smooth_arm(rng, n)
        log = jittered(rng, model, 2.0, 0.01)
        assert len(set(np.diff(log.stamp))) > 3
        for window in (2, 3, 10):
            for quadrature in ('trapezoid', 'euler'):
                settings = exact(window=window, quadrature=quadrature)
                assert shares(model, settings, log).max() <= 1.0
        assert shares(model, exact(window=10, curvature=(0.0,)), log).max() > 1.0


def test_a_torque_held_between_samples_is_integrated_exactly(rng):
    for n in (2, 3):
        model = smooth_arm(rng, n)
        walk = 0.3 * np.cumsum(rng.normal(size=(301, n)), axis=0)
        log = held_recording(rng, model, walk, 0.001)
        settings = exact(window=20, torque_signal='held')
        used = shares(model, settings, log)
        assert used.max() <= 1.0
        wrong = replace(log, torque=np.roll(walk, 1, axis=0))  # the command before, one too late
        assert shares(model, settings, wrong).max() > 1.0


def test_a_held_torque_that_keeps_rising_is_not_a_sampled_one(rng):
    # every step of the stairs is half a sample late, which no bend shows
    model = smooth_arm(rng, 2)
    stairs = np.outer(np.arange(201), [0.05, -0.03])
    log = held_recording(rng, model, stairs, 0.001)
    assert shares(model, exact(window=20, torque_signal='held'), log).max() <= 1.0
    assert shares(model, exact(window=20, torque_signal='sampled'), log).max() > 1.0


@pytest.mark.parametrize('sample', range(1, 11))
def test_one_jump_of_a_held_torque_is_covered_as_a_sampled_one(rng, sample):
    model = smooth_arm(rng, 2)
    torque = np.where(np.arange(21)[:, None] < sample, [1.0, -2.0], [3.0, 2.0])
    log = held_recording(rng, model, torque, 0.001)
    assert shares(model, exact(window=10), log).max() <= 1.0
    assert shares(model, exact(window=10, safety_factor=1.0), log).max() > 0.2


def test_one_jump_of_the_torque_is_covered_wherever_it_falls(rng):
    # by hand: the velocity of a mass is the integral of the force, which jumps once
    model = sliding_joint(rng, m=2.0)
    largest = 0.0
    for _ in range(500):
        cells = int(rng.integers(2, 6))
        stamp = np.concatenate([[0], np.cumsum(rng.integers(1, 9, size=cells))]) * 1_000_000
        t = stamp * 1e-9
        jump = rng.uniform(0.0, t[-1])
        before, after = rng.normal(size=2)
        force = np.where(t < jump, before, after)
        velocity = (before * np.minimum(t, jump) + after * np.maximum(t - jump, 0.0)) / 2.0
        position = np.zeros((cells + 1, 1))
        log = JointLog(stamp, position, velocity[:, None], force[:, None])
        used = shares(model, exact(window=cells), log)
        assert used.max() <= 1.0
        largest = max(largest, float(used.max()))
    assert largest > 0.8


@pytest.mark.parametrize('trials', [10, pytest.param(30, marks=pytest.mark.nightly)])
def test_the_error_bound_is_not_below_the_sum_of_the_errors_of_many_samples(trials, rng):
    # in exact arithmetic: rounding of a long sum is on the safe side
    model = random_tree(rng, 1, serial=True)
    nothing = Interval(np.zeros(14), np.zeros(14))
    for _ in range(trials):
        samples, step = 2000, int(rng.integers(100_000, 2_000_000))
        error, rest = float(rng.uniform(0.1, 1.0)), np.zeros((samples + 1, 1))
        settings = exact(window=samples, torque_error=(error,), torque_signal='held')
        log = JointLog(np.arange(samples + 1) * step, rest, rest, rest)
        (delta,) = observe(model, nothing, settings, log).delta
        true = Fraction(error) * Fraction(samples * step, 10**9)
        assert true <= Fraction(float(delta)) <= true * Fraction(1000001, 1000000)
