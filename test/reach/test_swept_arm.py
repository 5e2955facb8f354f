"""What changed is compared with a certified plan as a new certificate would; apart means apart."""

from dataclasses import replace

import coal
import numpy as np
import pinocchio as pin
from plan.kinova_problem import START, kinova_problem
import pytest

from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.reach import reachable_set
from safe_sysid.reach.margin import OBSTACLE
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.reach.swept_arm import SweptArm
from safe_sysid.sets.box import Box
from safe_sysid.sets.zonotope import Zonotope
from safe_sysid.simulate.random_arm import random_rotation

K = np.array([0.6, -0.2, 0.3, 0.2, -0.4, 0.3, 0.5])


@pytest.fixture(scope='module')
def certificate():
    problem = kinova_problem(START, intervals=48)
    moving = replace(problem, horizon=replace(problem.horizon, k_center=K))
    return ReachableSet.certify_center(moving)


@pytest.fixture(scope='module')
def swept(certificate):
    return SweptArm.of(certificate)


def random_scene(rng, count, away):
    """Boxes with sharp and rounded edges, some far, some near."""
    shapes = {}
    for i in range(count):
        center, half = away * rng.normal(size=3), rng.uniform(0.01, 0.1, 3)
        shapes[f'b{i}'] = Box(center, half, random_rotation(rng), 0.03 * (i % 2))
    return Obstacles.of(shapes)


@pytest.mark.parametrize(('count', 'away'), [(1, 0.5), (7, 0.5), (40, 0.8), (40, 3.0)])
def test_the_margin_is_that_of_a_new_certificate(
    rng, certificate, swept, count, away, monkeypatch
):
    obstacles = random_scene(rng, count, away)
    among = replace(certificate.problem, obstacles=obstacles)
    pruned = ReachableSet.certify_center(among)
    monkeypatch.setattr(reachable_set, 'MANY', 10**9)  # every clearance is computed
    whole = ReachableSet.certify_center(among)
    assert pruned.problem.obstacles is obstacles
    assert pruned.margins.keys() == whole.margins.keys()
    for kind, expected in whole.margins.items():
        assert pruned.margins[kind].margin == pytest.approx(expected.margin, abs=1e-13)
        assert str(pruned.margins[kind]) == str(expected)
    found, expected = swept.nearest(obstacles, 0.0), whole.margins[OBSTACLE]
    assert found.margin == pytest.approx(expected.margin, abs=1e-13)
    assert found.where == expected.where
    assert found.time == pytest.approx(expected.time)


def test_a_zonotope_is_nowhere_nearer_than_a_certificate_says(rng, certificate, swept):
    """Its distance from a point is a lower bound, which the boxes about both can be above."""
    for _ in range(5):
        generators = 0.05 * rng.normal(size=(4, 3))
        obstacles = Obstacles.of({'z': Zonotope(0.5 * rng.normal(size=3), generators, 0.01)})
        whole = ReachableSet.certify_center(replace(certificate.problem, obstacles=obstacles))
        found = swept.nearest(obstacles, 0.0).margin
        assert found >= whole.margins[OBSTACLE].margin - 1e-12
        corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 4)).reshape(4, -1).T @ generators
        arm = swept.pieces[0].arm
        center, moving = arm.points.center, np.unique(arm.shapes.sphere_capsule)
        ends = np.concatenate([moving, moving + center.shape[1] // 2])
        points = center[:, ends].reshape(-1, 3)
        away = np.linalg.norm(points[:, None] - obstacles.shapes[0].center - corners, axis=2)
        assert found <= away.min()


def test_only_what_lies_ahead_counts(certificate, swept):
    beside = Obstacles.of({'post': Box(start_of_hand(certificate), np.full(3, 0.02), np.eye(3))})
    margins = [swept.nearest(beside, since).margin for since in (0.0, 1.4, 1.7, 2.0, 2.9)]
    assert margins[0] < 0.0  # where the hand begins
    assert sorted(margins) == margins
    assert margins[-1] > 0.01
    assert swept.nearest(beside, 3.1) is None
    assert swept.nearest(NO_OBSTACLES, 0.0) is None


def test_pieces_follow_each_other(certificate, swept):
    both = SweptArm.of(replace(certificate, then=(certificate,)))
    post = Obstacles.of({'post': Box(start_of_hand(certificate), np.full(3, 0.02), np.eye(3))})
    assert both.nearest(post, 2.9).time[0] >= 3.0  # the second piece begins where the first did
    assert both.nearest(post, 2.9).margin == swept.nearest(post, 0.0).margin


def test_a_set_that_is_not_a_number_is_a_hit(swept):
    piece = swept.pieces[0]
    points = piece.arm.points
    points = points._replace(rho=np.full_like(points.rho, np.nan))
    broken = replace(swept, pieces=(piece._replace(arm=replace(piece.arm, points=points)),))
    far = Obstacles.of({'far': Box(np.full(3, 0.3), np.full(3, 0.3), np.eye(3))})
    assert broken.nearest(far, 0.0).margin == -np.inf


def start_of_hand(certificate):
    model = certificate.problem.model
    rigid = model.pinocchio()
    data = rigid.createData()
    pin.forwardKinematics(rigid, data, START)
    last = int(np.argmax(model.capsules.joint))
    return data.oMi[int(model.capsules.joint[last]) + 1].act(model.capsules.b[last])


def coal_distance(rigid, data, capsules, q, shape, place):
    """Smallest distance of the capsules that move to one shape."""
    pin.forwardKinematics(rigid, data, q)
    smallest = np.inf
    for i in np.flatnonzero(capsules.joint >= 0):
        joint = data.oMi[int(capsules.joint[i]) + 1]
        a, b = joint.act(capsules.a[i]), joint.act(capsules.b[i])
        length = float(np.linalg.norm(b - a))
        along = (b - a) / length if length > 0.0 else np.array([0.0, 0, 1])
        turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0, 1]), along).matrix()
        capsule = coal.Capsule(float(capsules.radius[i]), length)
        result = coal.DistanceResult()
        at = coal.Transform3s(turn, 0.5 * (a + b))
        smallest = min(
            smallest, coal.distance(capsule, at, shape, place, coal.DistanceRequest(), result)
        )
    return smallest


def test_certified_means_apart(rng, certificate, swept):
    """Boxes at all distances; those called apart are never met, with any tracking error."""
    problem, capsules = certificate.problem, certificate.problem.model.capsules
    rigid = problem.model.pinocchio()
    data = rigid.createData()
    apart = near = 0
    for _ in range(60):
        half = rng.uniform(0.02, 0.12, 3)
        center = np.array([0.2, 0.0, 0.5]) + rng.normal(scale=0.45, size=3)
        box = Box(center, half, random_rotation(rng))
        since = float(rng.uniform(0.0, 2.5))
        margin = swept.nearest(Obstacles.of({'box': box}), since)
        if margin.margin <= 0.0:
            continue
        apart += 1
        near += margin.margin < 0.05
        shape, place = coal.Box(*(2.0 * half)), coal.Transform3s(box.rotation, box.center)
        for t in rng.uniform(since, 3.0, 25):
            q = problem.horizon.curve.position(t, K)
            error = certificate.error.position * rng.uniform(-1.0, 1.0, 7)
            distance = coal_distance(rigid, data, capsules, q - 0.3 * error, shape, place)
            assert distance >= margin.margin - 1e-6
    assert apart > 10
    assert near > 2
