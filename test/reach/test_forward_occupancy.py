"""End points of every capsule stay in their sets, for any plan, time and tracking error."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.bench.experiments.reach import (
    KINOVA_RANGE,
    DrawnErrors,
    box_errors,
    kinova_with_dumbbell,
    placed_points,
    random_arm,
    random_curve,
    random_horizon,
    sample_motion,
)
from safe_sysid.errors import BoundError
from safe_sysid.reach import forward_occupancy as module
from safe_sysid.reach.error_balls import ErrorSet
from safe_sysid.reach.forward_occupancy import forward_occupancy, without_error
from safe_sysid.reach.joint_reach import Horizon, joint_reach
from safe_sysid.reach.tracking_error import TrackingError

FLOAT_ERROR = 1e-12  # [m] of the sampled positions themselves


def tracking_error(n, position):
    K_r = np.linspace(4.0, 6.0, n)
    position = np.full(n, position)
    return TrackingError(K_r, K_r * position, position, 2.0 * K_r * position)


def box(error):
    return ErrorSet(error.position, np.full(len(error.position), np.inf))


def desired(model, horizon):
    return joint_reach(model, horizon, without_error(model.n))


def end_points(capsules):
    return np.concatenate([capsules.joint] * 2), np.concatenate([capsules.a, capsules.b])


def largest_escape(model, occupancy, samples):
    """Largest distance by which a sampled end point is outside its set [m]."""
    points = placed_points(model.tree, samples.q, *end_points(model.capsules))
    rows = occupancy.rows[samples.interval]
    monomials = occupancy.monomials
    x = samples.x[:, : monomials.variables]
    center = np.einsum('npcm,nm->npc', rows[..., :-1], monomials.values(x))
    outside_box = np.maximum(np.abs(points - center) - rows[..., -1], 0.0)
    outside = np.linalg.norm(outside_box, axis=-1) - occupancy.tracking[samples.interval]
    return float(outside.max())


def test_sampled_kinematics_are_those_of_pinocchio(rng):
    for n in (1, 4, 7):
        model = random_arm(rng, n)
        q = rng.normal(size=(5, n))
        joint, points = end_points(model.capsules)
        placed = placed_points(model.tree, q, joint, points)
        other = model.pinocchio()
        data = other.createData()
        for i in range(len(q)):
            pin.forwardKinematics(other, data, q[i])
            expected = [
                data.oMi[j + 1].act(x) for j, x in zip(joint.tolist(), points, strict=True)
            ]
            assert np.allclose(placed[i], expected, atol=1e-12)


@pytest.mark.parametrize('degree', [1, 2, 3])
def test_end_points_of_random_arms_stay_in_their_sets(rng, degree):
    for _ in range(10):
        n = int(rng.integers(1, 8))
        model = random_arm(rng, n)
        horizon = random_horizon(rng, n, 0.3, degree, intervals=int(rng.integers(1, 65)))
        error = tracking_error(n, rng.choice([0.0, 0.02]))
        occupancy = forward_occupancy(model, desired(model, horizon), box(error))
        samples = sample_motion(rng, horizon, error.K_r, box_errors(rng, error, 700))
        assert largest_escape(model, occupancy, samples) < FLOAT_ERROR


def test_end_points_of_the_kinova_stay_in_their_sets(rng):
    model, error = kinova_with_dumbbell(), tracking_error(7, 0.015)
    for _ in range(10):
        horizon = Horizon(random_curve(rng, 7), rng.uniform(-1, 1, 7), KINOVA_RANGE)
        occupancy = forward_occupancy(model, desired(model, horizon), box(error))
        samples = sample_motion(rng, horizon, error.K_r, box_errors(rng, error, 2000))
        assert largest_escape(model, occupancy, samples) < FLOAT_ERROR


def test_end_points_of_one_plan_stay_in_their_sets(rng):
    """No variables: what a certificate is made from."""
    model, error = kinova_with_dumbbell(), tracking_error(7, 0.015)
    horizon = Horizon(random_curve(rng, 7), rng.uniform(-1, 1, 7), np.zeros(7))
    occupancy = forward_occupancy(model, desired(model, horizon), box(error))
    samples = sample_motion(rng, horizon, error.K_r, box_errors(rng, error, 5000))
    assert occupancy.monomials.variables == 0
    assert largest_escape(model, occupancy, samples) < FLOAT_ERROR


@pytest.mark.parametrize('forgotten', ['remainder', 'tracking error', 'rotation remainder'])
def test_samples_find_what_is_forgotten(rng, forgotten):
    model, error = kinova_with_dumbbell(), tracking_error(7, 0.01)
    horizon = Horizon(random_curve(rng, 7), rng.uniform(-1, 1, 7), 2.0 * KINOVA_RANGE)
    joints = desired(model, horizon)
    if forgotten == 'rotation remainder':
        rows = np.array(joints.rows)
        rows[:2, ..., -1] = 0.0
        joints = replace(joints, rows=rows)
    occupancy = forward_occupancy(model, joints, box(tracking_error(7, 0.0)))
    if forgotten == 'tracking error':
        errors = box_errors(rng, error, 5000)
    else:
        errors = DrawnErrors(*np.zeros((2, 5000, 7)))
    if forgotten == 'remainder':
        occupancy.rows[..., -1] = 0.0
    samples = sample_motion(rng, horizon, error.K_r, errors)
    assert largest_escape(model, occupancy, samples) > 1e-4


@pytest.mark.parametrize('count', [1, 9, 20])
def test_end_points_are_what_they_are_without_other_time_steps(rng, count):
    model = random_arm(rng, 4)
    horizon = Horizon(random_curve(rng, 4), rng.uniform(-1, 1, 4), np.full(4, 0.1), count)
    joints, ends = desired(model, horizon), end_points(model.capsules)
    every = module.placed_rows(model.tree, *ends, joints)
    for t in range(count):
        alone = replace(joints, rows=joints.rows[:, t : t + 1])
        same = module.placed_rows(model.tree, *ends, alone)
        np.testing.assert_array_equal(every[t : t + 1], same)


def test_rotation_matrices_of_the_tree_may_be_rounded(rng):
    """Those of an arm with axes and rotations moved by rounding are in the same intervals."""
    tree = random_arm(rng, 6).tree
    moved = tree._replace(
        axis=tree.axis + rng.uniform(-1, 1, (6, 3)) * 2.0**-51,
        R_parent_joint=tree.R_parent_joint + rng.uniform(-1, 1, (6, 3, 3)) * 2.0**-51,
    )
    (turns, shifts), (other_turns, other_shifts) = (module.joint_maps(x) for x in (tree, moved))
    assert np.any(other_turns != turns)
    assert np.all(np.abs(other_turns - turns)[:, :, 0] <= turns[:, :, 1])
    assert np.all(np.abs(other_shifts - shifts)[:, 1] <= shifts[:, 2])


def test_sets_without_a_bound_are_refused(rng):
    model = random_arm(rng, 12)
    horizon = Horizon(random_curve(rng, 12), np.zeros(12), np.full(12, 0.1), intervals=2)
    joints = joint_reach(model, horizon, tracking_error(12, 0.0))
    joints = replace(joints, rows=joints.rows * 1e60)
    joint, points = end_points(model.capsules)
    with pytest.raises(BoundError, match='has no bound'):
        module.placed_rows(model.tree, joint, points, joints)
