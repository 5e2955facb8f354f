"""Clearance of the arm, against capsules placed by Pinocchio and sampled along their axes."""

import numpy as np
import pinocchio as pin
import pytest
from tiers import slow_after

from safe_sysid.errors import BoundError
from safe_sysid.model.collision.arm_clearance import arm_clearance, edge_is_free, scene_of
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.collision.sphere_cover import EXCESS
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.box import Box
from safe_sysid.simulate.random_arm import random_tree

ARM = RobotModel.named('kinova_gen3').with_payload(read_payload('dumbbell_8lb'))
SHARES = np.linspace(0, 1, 201)[:, None]
SAMPLING = 5e-3  # [m] by which samples of two axes can miss the nearest points


def axes(model, q):
    """Sampled points on the axis of every capsule in the base frame, (m, 201, 3)."""
    arm = model.pinocchio()
    data = arm.createData()
    pin.forwardKinematics(arm, data, q)
    points = []
    for joint, a, b in zip(model.capsules.joint, model.capsules.a, model.capsules.b, strict=True):
        pose = data.oMi[int(joint) + 1]
        local = (1 - SHARES) * a + SHARES * b
        points.append(local @ pose.rotation.T + pose.translation)
    return np.array(points)


def sampled_clearance(model, boxes, q):
    """Nearly the true one, never less."""
    points, radius = axes(model, q), model.capsules.radius
    found = [np.inf]
    for a, b in model.capsules.pairs:
        gaps = np.linalg.norm(points[a][:, None] - points[b][None], axis=2)
        found.append(gaps.min() - radius[a] - radius[b])
    for c in np.flatnonzero(model.capsules.joint >= 0):
        for box in boxes:
            outside = np.abs((points[c] - box.center) @ box.rotation) - box.half_sizes
            gap = np.linalg.norm(np.maximum(outside, 0), axis=1) + np.minimum(outside.max(1), 0)
            found.append(gap.min() - radius[c])
    return min(found)


def random_boxes(rng, count):
    return [
        Box(rng.uniform(-0.8, 0.8, 3), rng.uniform(0.02, 0.1, 3), np.eye(3)) for _ in range(count)
    ]


@pytest.mark.parametrize('count', slow_after(1, [3, 0]))
def test_clearance_is_that_of_the_capsules(count, rng):
    for _ in range(12):
        boxes, q = random_boxes(rng, count), rng.uniform(-2, 2, 7)
        obstacles = Obstacles.of({f'box_{i}': box for i, box in enumerate(boxes)})
        found, true = arm_clearance(ARM, obstacles, q).distance, sampled_clearance(ARM, boxes, q)
        assert true - EXCESS - SAMPLING <= found <= true + 1e-9


def test_names_the_two_shapes():
    gripper = axes(ARM, np.zeros(7))[ARM.capsules.names.index('gripper')].mean(axis=0)
    obstacles = Obstacles.of({'wall': Box(gripper, np.full(3, 0.2), np.eye(3))})
    nearest = arm_clearance(ARM, obstacles, np.zeros(7))
    assert nearest.distance < 0.0
    assert nearest.second == 'wall'
    assert str(nearest).startswith(f'{nearest.first} and wall: -')


def test_an_edge_is_free_when_all_its_samples_are(rng):
    boxes = random_boxes(rng, 4)
    obstacles = Obstacles.of({f'box_{i}': box for i, box in enumerate(boxes)})
    scene, verdicts = scene_of(ARM, obstacles), []
    for _ in range(60):
        start, way = rng.uniform(-2, 2, 7), rng.uniform(-0.3, 0.3, 7)
        count = int(np.ceil(np.abs(way).max() / 0.05))
        samples = start + np.arange(1, count + 1)[:, None] / count * way
        least = min(arm_clearance(ARM, obstacles, q).distance for q in samples)
        verdicts.append(edge_is_free(scene, start, way, 0.05, 0.0))
        assert verdicts[-1] == (least >= 0.0)
    assert 0 < sum(verdicts) < 60


def test_an_arm_without_shapes_is_refused(rng):
    with pytest.raises(BoundError, match='no collision shapes'):
        arm_clearance(random_tree(rng, 3, serial=True), NO_OBSTACLES, np.zeros(3))
