"""Rows hold for torques as sensors give them: behind a low-pass, a gear, on a tilted base."""

from dataclasses import replace
from itertools import pairwise

from identify.known_recordings import (
    exact,
    near_bounds,
    share_of_promise,
    smooth_arm,
    smooth_recording,
)
import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.identify.momentum_observation import observe
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.signal_facts import SensingFacts, TorqueReadingFacts
from safe_sysid.model.tilt import tilt_torque
from safe_sysid.simulate.excited_motion import SimulatedMotion, true_torque

FINER = 50  # steps of the analogue filter in a period
PROMISE = {'torque_ratio': None, 'torque_error': None}  # what the arm states


def stating(model, tilt=0.0, stamp=0.0, zero=0.0, **torque):
    """Return an arm whose settings state everything; torques are exact but for what is given."""
    facts = TorqueReadingFacts(
        **{'ratio': (0.0,), 'absolute': (0.0,), 'filter': (0.0, 0.0)} | torque
    )
    sensing = SensingFacts(
        position_error=(0.0,),
        velocity_error=(0.0,),
        zero_error=(zero,),
        stamp_error=stamp,
        torque=facts,
    )
    sensors = replace(model.sensors, sensing=sensing)
    return replace(model, sensors=sensors, gravity_tilt=tilt)


def shares(model, log, **settings):
    rows = observe(model, near_bounds(model), exact(**PROMISE | settings), log)
    return share_of_promise(rows, model.theta, model.layout)


def within(model, most):
    """Return an arm whose joints turn, or slide, by at most so much."""
    ends = np.full(model.n, most)
    return replace(model, limits=replace(model.limits, position_lower=-ends, position_upper=ends))


def low_passed(fine, step, constant):
    """Follow an analogue filter of first order between samples: exact for straight pieces."""
    out, decay = [fine[0]], np.exp(-step / constant)
    for before, now in pairwise(fine):
        slope = (now - before) / step
        start = out[-1] - (before - slope * constant)
        out.append(start * decay + now - slope * constant)
    return np.array(out)


@pytest.mark.slow
@pytest.mark.parametrize('constant', [0.003, 0.02])
def test_a_low_pass_is_undone(rng, constant):
    for _ in range(5):
        arm = smooth_arm(rng, 3)
        fine = smooth_recording(rng, arm, 1.0, 0.001 / FINER)
        kept = slice(None, None, FINER)
        log = JointLog(
            fine.stamp[kept],
            fine.position[kept],
            fine.velocity[kept],
            low_passed(fine.torque, 0.001 / FINER, constant)[kept],
        )
        known = stating(arm, filter=(constant, constant))
        used = shares(known, log, window=50)
        assert used.max() <= 1.0
        assert shares(stating(arm, filter=(0.0, 2 * constant)), log, window=50).max() <= 1.0
        for wrong in (0.0, 0.9 * constant, 1.1 * constant):  # lag left out, or another one
            assert shares(stating(arm, filter=(wrong, wrong)), log, window=50).max() > 1.0


def test_a_filter_that_is_computed_from_sample_to_sample(rng):
    """y = y + a (x - y) at every sample, and a torque that was held until then."""
    arm = smooth_arm(rng, 2)
    log = smooth_recording(rng, arm, 1.0, 0.001)
    share, read = 0.268, [log.torque[0]]
    for torque in log.torque[1:]:
        read.append(read[-1] + share * (torque - read[-1]))
    log = replace(log, torque=np.array(read))
    lag = 0.001 * (1.0 - share) / share
    # half a period between a held torque and the trapezoid that stands for it
    assert shares(stating(arm, filter=(lag - 0.0005, lag + 0.0005)), log).max() <= 1.0
    assert shares(stating(arm, filter=(0.0, 0.0)), log).max() > 1.0


def test_a_sensor_behind_the_gear_feels_neither_friction_nor_rotor(rng):
    arm = smooth_arm(rng, 3)
    log = smooth_recording(rng, arm, 1.0, 0.001)
    friction = arm.layout.friction(arm.theta)
    step = 0.001
    acceleration = np.gradient(log.velocity, step, axis=0, edge_order=2)
    behind = log.torque - friction[1] * log.velocity - friction[2] * acceleration
    behind -= friction[0] * np.sign(log.velocity)
    inner = slice(2, -2)  # where differences are central
    cut = JointLog(*(x[inner] for x in (log.stamp, log.position, log.velocity, behind)))
    room = {'absolute': (2e-3,)}  # of the acceleration by differences
    assert friction[1:3].min() > 0.1
    assert shares(stating(arm, sensor='link', **room), cut).max() <= 1.0
    assert shares(stating(arm, sensor='motor', **room), cut).max() > 1.0


@pytest.mark.parametrize('angle', slow_after(1, [0.02, 0.002]))
def test_a_tilted_base_is_within_its_promise(rng, angle):
    worst = 0.0
    for _ in range(10):
        arm = within(smooth_arm(rng, 3), 20.0)
        axis = np.cross(arm.tree.gravity, rng.normal(size=3))
        axis /= np.linalg.norm(axis)
        g = arm.tree.gravity
        turned = g * np.cos(angle) + np.cross(axis, g) * np.sin(angle)
        tilted = replace(arm, tree=arm.tree._replace(gravity=turned))
        log = smooth_recording(rng, tilted, 0.5, 0.001)
        assert np.abs(log.position).max() < 20.0
        assert shares(stating(arm, tilt=angle), log).max() <= 1.0
        worst = max(worst, shares(stating(arm, tilt=0.05 * angle), log).max())
    assert worst > 1.0  # twenty times less is not enough


def test_what_a_tilt_does_is_bounded_in_every_pose(rng):
    for _ in range(20):
        arm = within(smooth_arm(rng, 4), 3.0)
        angle = rng.uniform(0.001, 0.3)
        bound = tilt_torque(arm, np.abs(arm.theta), angle)
        g, rest = arm.tree.gravity, np.zeros((50, 4))
        axis = np.cross(g, rng.normal(size=3))
        axis /= np.linalg.norm(axis)
        turned = g * np.cos(angle) + np.cross(axis, g) * np.sin(angle)
        poses = SimulatedMotion(np.arange(50.0), rng.uniform(-3, 3, (50, 4)), rest, rest)
        other = replace(arm, tree=arm.tree._replace(gravity=turned))
        change = np.abs(true_torque(other, poses) - true_torque(arm, poses))
        assert (change.max(axis=0) <= bound).all()
        assert change.max() > 0.0


def test_joints_that_read_zero_elsewhere(rng):
    worst = 0.0
    for _ in range(10):
        arm = smooth_arm(rng, 3)
        log = smooth_recording(rng, arm, 0.5, 0.001)
        off = rng.choice([-1.0, 1.0], size=3) * 2e-3
        read = replace(log, position=log.position + off)
        settings = {'position_error': None, 'velocity_error': None, 'window': 50}
        assert shares(stating(arm, zero=2.0001e-3), read, **settings).max() <= 1.0
        worst = max(worst, shares(stating(arm, zero=1e-4), read, **settings).max())
    assert worst > 1.0


def test_stamps_that_are_off(rng):
    worst = 0.0
    for _ in range(10):
        arm = smooth_arm(rng, 3)
        log = smooth_recording(rng, arm, 0.5, 0.001)
        jitter = np.round(rng.uniform(-1.0, 1.0, len(log)) * 1e5).astype(np.int64)
        read = replace(log, stamp=log.stamp + jitter)
        speed, rate = (
            np.abs(log.velocity).max(axis=0),
            np.abs(np.gradient(log.velocity, 1e-3, axis=0)).max(axis=0),
        )
        settings = {
            'position_error': tuple(1.01e-4 * speed),
            'velocity_error': tuple(1.1e-4 * rate),
            'window': 50,
        }
        assert shares(stating(arm, stamp=1.0001e-4), read, **settings).max() <= 1.0
        less = {**settings, 'position_error': (0.0,), 'velocity_error': (0.0,)}
        worst = max(worst, shares(stating(arm, stamp=0.0), read, **less).max())
    assert worst > 1.0
