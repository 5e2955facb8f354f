"""Regions contain an arm wherever it is said to be: by points of its capsules, at random."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.errors import BoundError, ConfigError
from safe_sysid.model.collision.region import Region, base_of, reach_of
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.robot_model import RobotModel

CENTER, SIZE = np.array([0.1, 0.0, 0.4]), np.array([0.9, 0.6, 1.1])


def surface(model, q, rng):
    """Points of the capsules that move, in the frame of the base."""
    R, p = joint_frames(model, q)
    capsules, points = model.capsules, []
    for c in np.flatnonzero(capsules.joint >= 0):
        out = rng.normal(size=(20, 3))
        out *= capsules.radius[c] / np.linalg.norm(out, axis=1, keepdims=True)
        share = rng.uniform(size=(20, 1))
        local = (1.0 - share) * capsules.a[c] + share * capsules.b[c] + out
        j = capsules.joint[c]
        points.append(local @ R[j].T + p[j])
    return np.concatenate(points)


@pytest.mark.parametrize('name', ['two_link', pytest.param('ur10e', marks=pytest.mark.slow)])
def test_an_arm_that_is_inside_has_no_point_outside_and_never_one_out_of_reach(name, rng):
    model = RobotModel.named(name)
    region, anywhere = Region.within(model, CENTER, SIZE), Region.anywhere(model)
    inside = 0
    for q in rng.uniform(-1.5, 1.5, size=(100, model.n)):
        points = surface(model, q, rng)
        assert anywhere.inside.distance(points)[0].max() <= 0.0
        assert np.linalg.norm(points, axis=1).max() <= reach_of(model)
        if region.contains(q):
            inside += 1
            assert region.inside.distance(points)[0].max() <= 0.0
    assert anywhere.contains(q)
    assert inside >= (5 if name == 'two_link' else 0)


def test_walls_leave_no_gap_as_far_as_the_arm_reaches(rng):
    model = RobotModel.named('two_link')
    region = Region.within(model, CENTER, SIZE)
    points = rng.uniform(-1.0, 1.0, size=(2000, 3)) * reach_of(model)
    nearest = np.min([wall.distance(points)[0] for wall in region.walls.values()], axis=0)
    within = region.inside.distance(points)[0] < 0.0
    assert 0 < within.sum() < len(points)
    assert np.all(nearest[~within] <= 0.0)
    assert np.all(nearest[within] >= -1e-8)


def test_the_base_is_told_as_well():
    model = RobotModel.named('two_link')
    assert set(Region.within(model, CENTER, SIZE).boxes) == {'reach', 'mount'}
    (mount,) = base_of(model.capsules).values()
    assert mount.distance([[0.0, 0.079, 0.0], [0.0, 0.0, 0.059]])[0].max() < 0.0


def test_what_is_no_region_is_refused():
    model = RobotModel.named('two_link')
    with pytest.raises(ConfigError, match='has to be above 0'):
        Region.within(model, CENTER, np.array([1.0, 0.0, 1.0]))
    with pytest.raises(BoundError, match='slides without end'):
        reach_of(sliding(model))


def sliding(model):
    """The same arm, whose first joint slides and has no limit."""
    tree = model.tree._replace(is_prismatic=np.array([True, False]))
    far = np.array([np.inf, 3.0])
    limits = replace(model.limits, position_lower=-far, position_upper=far)
    return replace(model, tree=tree, limits=limits)
