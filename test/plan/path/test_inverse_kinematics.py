"""Configurations with a link at a pose: all that are returned are there, the rest is said."""

import numpy as np
import pytest

from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.placement import Placement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.path.inverse_kinematics import LinkPose, UnreachedError, configurations

LINK = 'gen3_end_effector_link'
NEAR = 1e-4


@pytest.fixture(scope='module')
def model():
    return RobotModel.named('kinova_gen3')


def placed(model, q):
    R, p = joint_frames(model, q)
    frame = model.frames[LINK]
    return Placement(R[frame.joint], p[frame.joint]).of_frame(Placement(frame.R, frame.p))


def some_configuration(model, rng):
    lower = np.maximum(model.limits.position_lower, -np.pi)
    upper = np.minimum(model.limits.position_upper, np.pi)
    return rng.uniform(0.9 * lower, 0.9 * upper)


def test_every_solution_is_at_the_pose_and_within_limits(model, rng):
    for _ in range(2):
        target = placed(model, some_configuration(model, rng))
        found = configurations(model, LinkPose(LINK, target, False), np.zeros(7))
        assert found
        for q in found:
            reached = placed(model, q)
            assert np.abs(reached.p - target.p).max() < NEAR
            assert np.abs(reached.R - target.R).max() < NEAR / 0.3
            assert np.all(q >= model.limits.position_lower)
            assert np.all(q <= model.limits.position_upper)


def test_the_nearest_comes_first_and_is_the_start_where_that_is_one(model, rng):
    start = some_configuration(model, rng)
    found = configurations(model, LinkPose(LINK, placed(model, start), False), start)
    np.testing.assert_allclose(found[0], start, atol=1e-3)
    ways = [np.abs(q - start).max() for q in found]
    assert ways == sorted(ways)


def test_any_orientation_leaves_more_room(model, rng):
    target = placed(model, some_configuration(model, rng))
    free = LinkPose(LINK, Placement(np.eye(3), target.p), True)
    for q in configurations(model, free, np.zeros(7)):
        assert np.abs(placed(model, q).p - target.p).max() < NEAR


def test_what_is_out_of_reach_is_said_with_how_far_it_is(model):
    far = Placement(np.eye(3), np.array([3.0, 0.0, 0.5]))
    with pytest.raises(UnreachedError, match='the nearest of 16 is .* mm away'):
        configurations(model, LinkPose(LINK, far, True), np.zeros(7))
    with pytest.raises(UnreachedError, match="'world' is no link that kinova_gen3 moves"):
        configurations(model, LinkPose('world', far, True), np.zeros(7))


@pytest.mark.parametrize('x', [1e150, 1e308])
def test_a_pose_whose_distance_is_no_float_is_out_of_reach(model, x):
    far = Placement(np.eye(3), np.array([x, 0.0, -x]))
    with pytest.raises(UnreachedError, match='is out of reach of any arm'):
        configurations(model, LinkPose(LINK, far, True), np.zeros(7))
