"""Capsules of grippers contain published meshes, open to closed: their outermost points [m].

Read from robotiq_description of ros2_robotiq_gripper (fingers at 0, 0.4 and 0.8 rad) and
panda_description of example-robot-data 6.0 (fingers at 0 and 40 mm), and rounded to millimetres.
"""

import numpy as np
import pytest

from safe_sysid.model.collision.pair_separation import segment_distances
from safe_sysid.model.payload import read_tool

POINTS = {
    'robotiq_2f85': (
        (-0.037, 0, 0.015), (-0.035, 0, 0), (-0.027, -0.026, 0.003), (-0.027, 0.026, 0.003),
        (-0.014, 0.076, 0.099), (-0.013, -0.076, 0.099), (-0.01, -0.048, 0.148),
        (-0.01, 0.004, 0.162), (0, -0.032, -0.003), (0, 0.035, 0), (0.006, 0.004, 0.163),
        (0.006, 0.048, 0.149), (0.009, -0.048, 0.148), (0.01, -0.004, 0.162),
        (0.013, -0.076, 0.099), (0.027, -0.026, 0.003), (0.035, 0, 0), (0.037, 0, 0.007),
    ),
    'franka_hand': (
        (-0.032, -0.001, 0.006), (-0.028, 0.042, -0.006), (-0.023, 0.087, -0.002),
        (-0.018, 0.1, 0.044), (-0.016, -0.1, 0.049), (-0.016, 0.093, 0.064),
        (-0.005, -0.054, 0.112), (-0.004, -0.101, -0.013), (0, -0.104, 0.006),
        (0, -0.099, -0.017), (-0.001, -0.088, -0.025), (0, -0.046, -0.026), (0, 0.101, 0.057),
        (0.005, 0.054, 0.112), (0.008, -0.014, 0.111), (0.015, 0.093, 0.065),
        (0.016, -0.1, 0.052), (0.022, 0.088, -0.002), (0.032, -0.002, 0.001),
    ),
}  # fmt: skip


@pytest.mark.parametrize('name', POINTS)
def test_capsules_of_a_gripper_contain_its_meshes(name):
    points, nearest = np.array(POINTS[name]), np.inf
    for shape in read_tool(name).shapes.values():
        a, b = (np.broadcast_to(np.array(end), points.shape) for end in (shape.a, shape.b))
        nearest = np.minimum(nearest, segment_distances(points, points, a, b) - shape.radius)
    assert nearest.max() <= 0.0
