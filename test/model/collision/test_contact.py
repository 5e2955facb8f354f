"""Clearances are what geometry says, by hand and by brute force, and never hide a contact."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import minimize

from safe_sysid.errors import MeasurementError, ModelError
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.model.collision.contact import ContactClearance, ContactGauge
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.box import Box
from safe_sysid.sets.zonotope import Zonotope
from safe_sysid.simulate.random_arm import random_rotation, random_tree

SHARES = np.linspace(0.0, 1.0, 20001)


def with_capsules(model, a, b, radius, joints, pairs=()):
    names = tuple(f'c{i}' for i in range(len(joints)))
    return replace(
        model,
        capsules=Capsules(
            names,
            np.array(joints),
            np.array(a, dtype=float),
            np.array(b, dtype=float),
            np.array(radius, dtype=float),
            np.array(pairs, dtype=np.int64).reshape(-1, 2),
        ),
    )


def fixed_capsule(rng, a, b, radius):
    """An arm with one capsule, on its base."""
    return with_capsules(random_tree(rng, 1, serial=True), [a], [b], [radius], [-1])


def box_at(center, half_sizes, rotation=None):
    rotation = np.eye(3) if rotation is None else rotation
    return Box(np.array(center, dtype=float), np.array(half_sizes, dtype=float), rotation)


def test_capsules_move_with_their_joints(rng):
    for _ in range(10):
        model = random_tree(rng, 5, serial=False)
        joints = [-1, 0, 2, 4]
        a, b = rng.normal(size=(2, 4, 3))
        model = with_capsules(model, a, b, np.ones(4), joints, [(0, 3)])
        q = rng.normal(size=5)
        rigid = model.pinocchio()
        data = rigid.createData()
        pin.forwardKinematics(rigid, data, q)
        axes = ContactGauge(model).axes(q)
        for i, joint in enumerate(joints):
            np.testing.assert_allclose(axes[i, 0], data.oMi[joint + 1].act(a[i]), atol=1e-13)
            np.testing.assert_allclose(axes[i, 1], data.oMi[joint + 1].act(b[i]), atol=1e-13)


@pytest.mark.parametrize(
    ('a', 'b', 'expected'),
    [
        ([0, 0, 2], [0, 0, 5], 0.7),  # above the face
        ([-9, 0, 1.5], [9, 0, 1.5], 0.2),  # along the face
        ([3, 3, 0], [3, 3, 0], 2 * np.sqrt(2) - 0.3),  # a sphere beside an edge
        ([1 + 3, 0, 1], [1, 0, 1 + 3], 3 / np.sqrt(2) - 0.3),  # across an edge
        ([0, 0, 0.6], [0, 0, 5], -0.4 - 0.3),  # one end inside
        ([-9, 0, 0.9], [9, 0, 0.9], -0.1 - 0.3),  # through the box
    ],
)
def test_a_capsule_and_a_cube_by_hand(rng, a, b, expected):
    gauge = ContactGauge(fixed_capsule(rng, a, b, 0.3), {'cube': box_at([0, 0, 0], [1, 1, 1])})
    found = gauge.clearance(np.zeros(1))
    assert found.distance == pytest.approx(expected, abs=1e-12)
    assert found[1:] == ('c0', 'cube')


def test_a_capsule_is_as_far_from_a_box_as_the_nearest_of_its_points(rng):
    for _ in range(50):
        a, b = 1.5 * rng.normal(size=(2, 3))
        box = box_at(rng.normal(size=3), rng.uniform(0.1, 1.0, size=3), random_rotation(rng))
        gauge = ContactGauge(fixed_capsule(rng, a, b, 0.1), {'box': box})
        distance = gauge.clearance(np.zeros(1)).distance
        sampled, _ = box.distance(a + SHARES[:, None] * (b - a))
        assert distance <= sampled.min() - 0.1 + 1e-12
        # between samples the distance can be lower by half their spacing
        assert distance >= sampled.min() - 0.1 - 0.5 * np.linalg.norm(b - a) / (len(SHARES) - 1)


def test_two_capsules_are_as_far_apart_as_an_optimiser_finds(rng):
    model = random_tree(rng, 2, serial=True)
    for _ in range(50):
        a, b = rng.normal(size=(2, 2, 3))
        gauge = ContactGauge(with_capsules(model, a, b, [0.1, 0.2], [-1, -1], [(0, 1)]))

        def gap(x, a=a, b=b):
            p, q = a + np.array(x)[:, None] * (b - a)
            return np.sum((p - q) ** 2)

        best = min(
            minimize(gap, x0, bounds=[(0, 1)] * 2, method='L-BFGS-B', tol=1e-15).fun
            for x0 in [(0.5, 0.5), (0.0, 1.0), (1.0, 0.0)]
        )
        found = gauge.clearance(np.zeros(2))
        assert found.distance == pytest.approx(np.sqrt(best) - 0.3, abs=1e-6)
        assert found.distance <= np.sqrt(best) - 0.3 + 1e-12


def test_capsules_that_are_spheres_cross_or_are_parallel_by_hand(rng):
    model = random_tree(rng, 1, serial=True)
    a = [[0, 0, 0], [0, 0, 3], [-1, 1, 0], [0, 2, 0], [5, 0, 0]]
    b = [[4, 0, 0], [0, 0, 3], [-1, -1, 0], [4, 2, 0], [9, 0, 0]]
    pairs = [(0, 1), (1, 0), (0, 2), (0, 3), (0, 4), (1, 1)]
    gauge = ContactGauge(with_capsules(model, a, b, [0.25] * 5, [-1] * 5, pairs))
    np.testing.assert_allclose(
        gauge.distances(np.zeros(1)), np.array([3, 3, 1, 2, 1, 0]) - 0.5, atol=1e-14
    )


def test_a_zonotope_is_never_closer_than_reported_and_as_close_before_a_face(rng):
    for _ in range(30):
        a, b = 2.0 * rng.normal(size=(2, 3))
        box = box_at(rng.normal(size=3), rng.uniform(0.1, 1.0, size=3), random_rotation(rng))
        model = fixed_capsule(rng, a, b, 0.1)
        true = ContactGauge(model, {'box': box}).clearance(np.zeros(1)).distance
        same = ContactGauge(model, {'box': Zonotope.of_box(box)}).clearance(np.zeros(1)).distance
        assert same <= true + 1e-12
        assert (same > -0.1) == (true > -0.1)  # the axis is outside, or not
    cube = Zonotope.of_box(box_at([0, 0, 0], [1, 1, 1]))
    above = ContactGauge(fixed_capsule(rng, [0.5, 0, 2], [0, 0.5, 3], 0.3), {'cube': cube})
    assert above.clearance(np.zeros(1)).distance == pytest.approx(0.7, abs=1e-12)


def test_the_least_of_all_clearances_is_named():
    model = RobotModel.named('kinova_gen3').with_payload(read_payload('dumbbell_8lb'))
    obstacles = {
        'far': box_at([9, 9, 9], [1, 1, 1]),
        'roof': Zonotope.of_box(box_at([0, 0, 2], [1, 1, 0.1])),
        'table': box_at([0, 0, -0.1], [1, 1, 0.05]),
    }
    gauge = ContactGauge(model, obstacles)
    names, pairs = model.capsules.names, model.capsules.pairs
    assert len(gauge.pairs) == len(pairs) + 3 * len(names)
    assert gauge.pairs[: len(pairs)] == [(names[i], names[j]) for i, j in pairs]
    assert set(gauge.pairs[len(pairs) :]) == {(x, y) for x in names for y in obstacles}
    q = np.zeros(7)
    distances = gauge.distances(q)
    least = gauge.clearance(q)
    assert least == ContactClearance(distances.min(), *gauge.pairs[int(distances.argmin())])
    by_name = dict(zip(gauge.pairs, distances, strict=True))
    base = names.index('base')
    bottom = model.capsules.a[base, 2] - model.capsules.radius[base]
    assert by_name['base', 'table'] == pytest.approx(bottom + 0.05, abs=1e-12)
    for other in obstacles:
        alone = ContactGauge(model, {other: obstacles[other]})
        for pair, distance in zip(alone.pairs, alone.distances(q), strict=True):
            assert by_name[pair] == distance


def test_a_folded_arm_touches_itself_and_a_stretched_one_does_not():
    gauge = ContactGauge(RobotModel.named('kinova_gen3'))
    assert gauge.clearance(np.zeros(7)).distance > 0.0
    folded = gauge.clearance(np.array([0.0, 2.2, 0.0, 2.5, 0.0, 0.0, 0.0]))
    assert folded.distance < 0.0


def test_nothing_to_measure_is_refused(rng):
    model = random_tree(rng, 2, serial=True)
    with pytest.raises(ModelError, match='random has nothing to touch: it has 0 capsules'):
        ContactGauge(model)
    with pytest.raises(ModelError, match='nothing to touch'):
        ContactGauge(model, {'box': box_at([0, 0, 0], [1, 1, 1])})
    with pytest.raises(ModelError, match="obstacle 'ball' is a str; it has to be a Box or"):
        ContactGauge(RobotModel.named('kinova_gen3'), {'ball': 'round'})
    with pytest.raises(MeasurementError, match='q of joint 1 is nan'):
        ContactGauge(RobotModel.named('two_link')).clearance(np.array([0.0, np.nan]))
