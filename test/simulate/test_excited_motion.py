"""Motions are exact derivatives of each other, torque is the one of Newton and Euler."""

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.simulate.excited_motion import fourier_motion, recorded, true_torque
from safe_sysid.simulate.random_arm import random_tree


def slope(values, period):
    """Derivative at all but three samples at each end, central difference of sixth order."""
    weights = {1: 45, 2: -9, 3: 1}
    inner = slice(3, len(values) - 3)
    total = sum(
        w * (np.roll(values, -k, axis=0) - np.roll(values, k, axis=0)) for k, w in weights.items()
    )
    return total[inner] / (60 * period)


def test_velocity_and_acceleration_are_the_derivatives(rng):
    motion = fourier_motion(rng, 4, 10.0, 0.01)
    np.testing.assert_allclose(slope(motion.q, 0.01), motion.qd[3:-3], atol=1e-8)
    np.testing.assert_allclose(slope(motion.qd, 0.01), motion.qdd[3:-3], atol=1e-7)


def test_a_motion_repeats_after_the_period_of_its_slowest_harmonic(rng):
    motion = fourier_motion(rng, 3, 20.0, 0.01)
    for array in (motion.q, motion.qd, motion.qdd):
        np.testing.assert_allclose(array[:1001], array[1000:], atol=1e-9)


def test_every_joint_moves_in_its_own_way(rng):
    motion = fourier_motion(rng, 7, 10.0, 0.01)
    assert np.linalg.matrix_rank(np.hstack([motion.qd, motion.qdd])) == 10  # 5 sines, 5 cosines
    assert (np.ptp(motion.q, axis=0) > 0.1).all()


@pytest.mark.parametrize('period', [0.001, 0.002, 0.005])
def test_samples_are_as_far_apart_as_asked(rng, period):
    motion = fourier_motion(rng, 2, 3.0, period)
    stamp = motion.stamp
    assert stamp.dtype == np.int64
    assert len(stamp) == round(3.0 / period) + 1
    assert stamp[-1] == 3_000_000_000
    assert set(np.diff(stamp)) == {round(period * 1e9)}


@pytest.mark.parametrize('serial', [True, False])
def test_torque_is_that_of_newton_and_euler_with_friction(rng, serial):
    model = random_tree(rng, 5, serial, armature=0.3)
    motion = fourier_motion(rng, 5, 1.0, 0.05)
    rigid = model.pinocchio()
    rigid.armature = np.zeros(5)
    data = rigid.createData()
    Fc, Fv, Ia, beta = model.layout.friction(model.theta)
    torque = true_torque(model, motion)
    for i in range(len(motion.t)):
        q, qd, qdd = motion.q[i], motion.qd[i], motion.qdd[i]
        friction = Fc * np.sign(qd) + Fv * qd + Ia * qdd + beta
        expected = pin.rnea(rigid, data, q, qd, qdd) + friction
        np.testing.assert_allclose(torque[i], expected, atol=1e-9)


def test_a_recording_holds_the_motion_and_the_torque(rng):
    motion = fourier_motion(rng, 2, 1.0, 0.05)
    torque = rng.normal(size=motion.q.shape)
    log = recorded(motion, torque)
    np.testing.assert_array_equal(log.stamp, motion.stamp)
    np.testing.assert_array_equal(log.position, motion.q)
    np.testing.assert_array_equal(log.velocity, motion.qd)
    np.testing.assert_array_equal(log.torque, torque)
