"""Gradients of distances, derived by hand, against AD."""

import casadi as cs
from gradients_by_ad.ad import gradient_at, near, value_of
from gradients_by_ad.distances import of_segments, of_shape
import numpy as np

from safe_sysid.model.collision.arm_distances import contacts_of, near_slopes_into
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.symbolic.frames import frame_pose
from safe_sysid.model.symbolic.recursions import SymbolicTree
from safe_sysid.model.urdf_tree import Frame
from safe_sysid.sets.box import Box
from safe_sysid.sets.zonotope import Zonotope
from safe_sysid.simulate.random_arm import random_rotation


def check(shape, points):
    x = cs.SX.sym('x', 3)
    for point, value, gradient in zip(points, *shape.distance(points), strict=True):
        expected = of_shape(shape, x, value)
        near(value, value_of(expected, [x], point)[0, 0], 1e-9)
        near(gradient, gradient_at(expected, x, point))


def test_distance_of_a_point_to_a_box(rng):
    box = Box(rng.normal(size=3), rng.uniform(0.1, 0.5, 3), random_rotation(rng), 0.05)
    check(box, box.center + rng.normal(size=(40, 3)))


def test_distance_of_a_point_to_a_zonotope(rng):
    check(
        Zonotope(rng.normal(size=3), rng.normal(scale=0.2, size=(4, 3))), rng.normal(size=(20, 3))
    )


def test_distances_of_an_arm_s_capsules_and_of_the_floor(rng):
    """At random poses, which almost surely are none where the nearest points jump."""
    arm, floor = RobotModel.named('kinova_gen3'), -0.3
    poses = rng.uniform(-2.0, 2.0, (20, arm.n))
    bodies = contacts_of(arm, arm, floor, poses).bodies
    q = cs.SX.sym('q', arm.n)
    tree = SymbolicTree(arm.tree, q)
    ends = [
        [frame_pose(tree, Frame(int(joint), np.eye(3), end))[1] for end in both]
        for joint, both in zip(bodies.joint, bodies.ends, strict=True)
    ]
    radius = bodies.radius
    distances = [of_segments(*ends[i], *ends[j]) - radius[i] - radius[j] for i, j in bodies.pairs]
    distances += [cs.fmin(*(e[2] for e in ends[i])) - radius[i] - floor for i in bodies.over_floor]
    assert len(distances) > 20
    expected = cs.vertcat(*distances)
    both = cs.Function('both', [q], [expected, cs.densify(cs.jacobian(expected, q))])
    gaps = np.empty((len(poses), len(distances)))
    slopes = np.empty((*gaps.shape, arm.n))
    near_slopes_into(bodies, poses, np.inf, gaps, slopes)
    for pose, gap, slope in zip(poses, gaps, slopes, strict=True):
        value, gradient = both(pose)
        near(gap, value.full()[:, 0])
        near(slope, gradient.full())
