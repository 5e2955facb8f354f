"""Capsules contain the bodies they stand for; housings of pairs left out stay apart."""

import itertools
from pathlib import Path
from xml.etree import ElementTree

from model import arm_figures, kinova_figures, mesh_figures
import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import minimize
from tiers import slow_after

from safe_sysid.model.collision import hull_separation
from safe_sysid.model.collision.hull_separation import HullPair
from safe_sysid.model.collision.pair_separation import (
    Verdict,
    chain_between,
    gaps,
    segment_distances,
)
from safe_sysid.model.robot_model import RobotModel

URDF = Path(__file__).parents[3] / 'urdf'
ROBOTS = ('kinova_gen3', 'lbr_med7', 'two_link', 'iiwa14', 'fr3', 'ur5e', 'ur10e')
MADE = ('panda', 'xarm7', 'z1', 'so101')  # by new-arm, whose pairs its own tests look at
# Capsules wider than the housings, which is why these pairs are not listed: the links, and how far
# from the axis the nearer one reaches, for each of the two joints between them [m].
ALWAYS_OVERLAP = {
    ('kinova_gen3', 'forearm', 'wrist_2'): (
        ('gen3_forearm_link', 'gen3_spherical_wrist_2_link'),
        (0.061, 0.113),
    ),
    ('kinova_gen3', 'wrist_1', 'gripper'): (
        ('gen3_spherical_wrist_1_link', 'gen3_bracelet_link'),
        (0.113, 0.08),
    ),
    ('lbr_med7', 'link_5', 'link_7'): (('link_5', 'link_7'), (0.135, 0.041)),
    ('fr3', 'link5', 'link7'): (('link5', 'link7'), (0.15, 0.08)),
    ('iiwa14', 'link_5', 'link_7'): (('link_5', 'link_7'), (0.13, 0.041)),
}
# Capsules that overlap in many poses only.
HULLS_APART = {
    'kinova_gen3': {
        ('base', 'half_arm_1'),
        ('base', 'forearm'),
        ('shoulder', 'wrist_1'),
        ('half_arm_1', 'forearm'),
        ('half_arm_1', 'wrist_1'),
        ('half_arm_2', 'wrist_1'),
        ('half_arm_2', 'wrist_2'),
        ('forearm', 'gripper'),
    }
}
GRID = 49
CORNERS = np.array(list(itertools.product((-1, 1), repeat=3)))
RIM = 64  # sides of the prism around a cylinder


def pieces(shape):
    """Corners of convex bodies that together contain a box or a cylinder, in its own frame."""
    if shape.tag == 'box':
        size = np.array([float(word) for word in shape.get('size').split()])
        step = size / 8
        for cell in itertools.product(range(8), repeat=3):
            yield -size / 2 + step * (np.array(cell) + 0.5) + step / 2 * CORNERS
        return
    assert shape.tag == 'cylinder'
    radius, height = float(shape.get('radius')) / np.cos(np.pi / RIM), float(shape.get('length'))
    angle = 2 * np.pi * np.arange(RIM) / RIM
    x, y = np.tile(radius * np.array([np.cos(angle), np.sin(angle)]), 2)
    yield np.stack([x, y, np.repeat([-height / 2, height / 2], RIM)], axis=1)


def contains(a, b, radius, points):
    """Whether every point is in the capsule; then so is their convex hull."""
    ends = (np.broadcast_to(end, points.shape) for end in (a, b))
    return bool((segment_distances(points, points, *ends) <= radius).all())


@pytest.mark.parametrize('robot', slow_after(4, [*reversed(ROBOTS), *MADE]))
def test_capsules_contain_every_shape_of_the_urdf(robot):
    model = RobotModel.named(robot)
    capsules = model.capsules
    for link in ElementTree.parse(URDF / f'{robot}.urdf').getroot().findall('link'):
        frame = model.frames[link.get('name')]
        for collision in link.findall('collision'):
            origin = collision.find('origin')
            xyz, rpy = ([float(w) for w in origin.get(key).split()] for key in ('xyz', 'rpy'))
            for corners in pieces(collision.find('geometry')[0]):
                points = corners @ pin.rpy.rpyToMatrix(*rpy).T + xyz
                points = points @ frame.R.T + frame.p
                assert any(
                    contains(capsules.a[i], capsules.b[i], capsules.radius[i], points)
                    for i in np.flatnonzero(capsules.joint == frame.joint)
                ), link.get('name')


def test_kinova_capsules_contain_the_published_spheres_in_every_pose(rng):
    model = RobotModel.named('kinova_gen3')
    arm, capsules = model.pinocchio(), model.capsules
    for q in rng.uniform(-2, 2, (50, 7)):
        data = arm.createData()
        pin.forwardKinematics(arm, data, q)
        pose = [data.oMi[int(joint) + 1] for joint in capsules.joint]
        a = np.array([T.act(end) for T, end in zip(pose, capsules.a, strict=True)])
        b = np.array([T.act(end) for T, end in zip(pose, capsules.b, strict=True)])
        for link, offset, radius in kinova_figures.SPHERES:
            frame = model.frames[link]
            centre = data.oMi[frame.joint + 1].act(frame.R @ offset + frame.p)
            centre = np.broadcast_to(centre, a.shape)
            room = capsules.radius - segment_distances(centre, centre, a, b) - radius
            assert room.max() >= 0, (link, offset)


@pytest.mark.parametrize('link', kinova_figures.MESH_POINTS)
def test_kinova_capsules_contain_the_meshes_of_the_manufacturer(link):
    """The outermost vertices of the meshes; the rest of them is farther inside."""
    model = RobotModel.named('kinova_gen3')
    frame, capsules = model.frames[link], model.capsules
    on_joint = np.flatnonzero(capsules.joint == frame.joint)
    for point in np.array(kinova_figures.MESH_POINTS[link]):
        point = (frame.R @ point + frame.p)[None]
        assert any(
            contains(capsules.a[i], capsules.b[i], capsules.radius[i], point) for i in on_joint
        ), point


@pytest.mark.parametrize('robot', mesh_figures.MESH_POINTS)
def test_capsules_contain_the_published_meshes(robot):
    """Their outermost points, which are known to half a millimetre."""
    model = RobotModel.named(robot)
    for link, points in mesh_figures.MESH_POINTS[robot].items():
        frame, capsules = model.frames[link], model.capsules
        on_link = [i for i, name in enumerate(capsules.names) if name.startswith(link)]
        for point in np.array(points):
            point = (frame.R @ point + frame.p)[None]
            assert any(
                contains(capsules.a[i], capsules.b[i], capsules.radius[i] + 9e-4, point)
                for i in on_link
            ), (link, point)


def test_lbr_capsules_are_those_fitted_to_the_meshes():
    model = RobotModel.named('lbr_med7')
    assert model.capsules.names == tuple(arm_figures.LBR_CAPSULES)
    for i, (a, b, radius) in enumerate(arm_figures.LBR_CAPSULES.values()):
        frame = model.frames[model.capsules.names[i]]
        assert np.allclose(frame.R.T @ (model.capsules.a[i] - frame.p), a, atol=1e-12)
        assert np.allclose(frame.R.T @ (model.capsules.b[i] - frame.p), b, atol=1e-12)
        assert model.capsules.radius[i] == radius


def test_pairs_left_out_are_those_whose_housings_are_looked_at_here():
    for robot in ROBOTS:
        capsules = RobotModel.named(robot).capsules
        here = {case[1:] for case in ALWAYS_OVERLAP if case[0] == robot}
        assert set(capsules.named(capsules.left_out)) == here | HULLS_APART.get(robot, set())


@pytest.mark.parametrize('robot', ROBOTS)
def test_no_pair_that_is_looked_at_overlaps_near_zero(robot):
    model = RobotModel.named(robot)
    rest = np.clip(np.zeros(model.n), model.limits.position_lower, model.limits.position_upper)
    for pair in model.capsules.pairs:
        chain = chain_between(model.tree, model.limits, model.capsules, pair)
        assert gaps(chain, rest[None, chain.joints])[0] > 0, pair


@pytest.mark.parametrize('case', ALWAYS_OVERLAP)
def test_housings_of_pairs_left_out_stay_apart(case):
    links, lever = ALWAYS_OVERLAP[case]
    path = str(URDF / f'{case[0]}.urdf')
    model = pin.buildModelFromUrdf(path)
    shapes = pin.buildGeomFromUrdf(model, path, pin.GeometryType.COLLISION)
    below, above = (model.frames[model.getFrameId(link)].parentJoint for link in links)
    assert above == below + 2
    parents = np.array([shape.parentJoint for shape in shapes.geometryObjects])
    for pair in itertools.product(*(np.flatnonzero(parents == j) for j in (below, above))):
        shapes.addCollisionPair(pin.CollisionPair(*map(int, pair)))
    data, shape_data = model.createData(), shapes.createData()
    axes = [np.linspace(*range_of(model, joint), GRID) for joint in (below + 1, above)]
    # between grid points nothing moves further than half a step times the lever
    slack = sum((axis[1] - axis[0]) / 2 * r for axis, r in zip(axes, lever, strict=True))
    for angles in itertools.product(*axes):
        step = np.zeros(model.nv)
        step[below:above] = angles
        q = pin.integrate(model, pin.neutral(model), step)
        pin.computeDistances(model, data, shapes, shape_data, q)
        assert min(result.min_distance for result in shape_data.distanceResults) > slack


def hulls_of(robot, joint):
    """Shapes of the URDF on a joint and the outermost vertices of the meshes, in its frame."""
    model, points = RobotModel.named(robot), []
    for link in ElementTree.parse(URDF / f'{robot}.urdf').getroot().findall('link'):
        frame = model.frames[link.get('name')]
        if frame.joint != joint:
            continue
        for collision in link.findall('collision'):
            origin = collision.find('origin')
            xyz, rpy = ([float(w) for w in origin.get(key).split()] for key in ('xyz', 'rpy'))
            corners = np.concatenate(list(pieces(collision.find('geometry')[0])))
            corners = corners @ pin.rpy.rpyToMatrix(*rpy).T + xyz
            points.append(corners @ frame.R.T + frame.p)
        if (vertices := kinova_figures.MESH_POINTS.get(link.get('name'))) is not None:
            points.append(np.array(vertices) @ frame.R.T + frame.p)
    return points


@pytest.mark.parametrize('first, second', slow_after(1, sorted(HULLS_APART['kinova_gen3'])))
def test_hulls_of_pairs_left_out_are_proven_apart(first, second, monkeypatch):
    monkeypatch.setattr(hull_separation, 'MOST_BOXES', 200_000)
    model = RobotModel.named('kinova_gen3')
    pair = model.capsules.names.index(first), model.capsules.names.index(second)
    chain = chain_between(model.tree, model.limits, model.capsules, pair)
    hulls = [hulls_of(model.name, int(model.capsules.joint[i])) for i in pair]
    assert HullPair(chain, *hulls).separation().verdict is Verdict.APART


def test_no_search_finds_hulls_of_pairs_left_out_in_contact(rng):
    """Pinocchio's distances of the shapes of the URDF, from random poses downhill."""
    path = str(URDF / 'kinova_gen3.urdf')
    model, ours = pin.buildModelFromUrdf(path), RobotModel.named('kinova_gen3')
    shapes = pin.buildGeomFromUrdf(model, path, pin.GeometryType.COLLISION)
    parents = np.array([shape.parentJoint for shape in shapes.geometryObjects])
    for names in HULLS_APART['kinova_gen3']:
        bodies = [ours.capsules.joint[ours.capsules.names.index(name)] + 1 for name in names]
        for pair in itertools.product(*(np.flatnonzero(parents == j) for j in bodies)):
            shapes.addCollisionPair(pin.CollisionPair(*map(int, pair)))
    data, shape_data = model.createData(), shapes.createData()
    ranges = np.array([range_of(model, joint) for joint in range(1, model.njoints)])

    def nearest(angles):
        q = pin.integrate(model, pin.neutral(model), np.clip(angles, *ranges.T))
        pin.computeDistances(model, data, shapes, shape_data, q)
        return min(result.min_distance for result in shape_data.distanceResults)

    starts = sorted(rng.uniform(*ranges.T, (200, model.nv)), key=nearest)[:3]
    options = {'maxfev': 150}
    found = [minimize(nearest, start, method='Nelder-Mead', options=options) for start in starts]
    assert 0.0 < min(each.fun for each in found) < 0.05


def range_of(model, joint):
    """Angles a joint of Pinocchio can take."""
    if model.joints[joint].nq == 2:
        return -np.pi, np.pi
    index = model.joints[joint].idx_q
    return model.lowerPositionLimit[index], model.upperPositionLimit[index]


@pytest.mark.parametrize('robot', slow_after(2, reversed(ROBOTS)))
def test_gap_agrees_with_coal(robot, rng):
    """The distances behind the statements above, against an independent library."""
    coal = pytest.importorskip('coal')
    model = RobotModel.named(robot)
    arm, capsules = model.pinocchio(), model.capsules
    for q in rng.uniform(-2, 2, (20, model.n)):
        data = arm.createData()
        pin.forwardKinematics(arm, data, q)
        for first, second in itertools.combinations(range(len(capsules.names)), 2):
            below, above = capsules.joint[[first, second]]
            if below == above:
                continue
            pair = (first, second)
            chain = chain_between(model.tree, model.limits, capsules, pair)
            gap = gaps(chain, q[None, chain.joints])[0]
            bodies = [_in_coal(coal, capsules, data, i) for i in pair]
            (one, at_one), (two, at_two) = bodies
            request, result = coal.DistanceRequest(), coal.DistanceResult()
            distance = coal.distance(one, at_one, two, at_two, request, result)
            assert max(gap, -1e-4) == pytest.approx(max(distance, -1e-4), abs=1e-5)


def _in_coal(coal, capsules, data, i):
    """A capsule as shape and pose of coal, whose capsules lie along z around the origin."""
    pose = data.oMi[int(capsules.joint[i]) + 1]
    a, b = pose.act(capsules.a[i]), pose.act(capsules.b[i])
    length = np.linalg.norm(b - a)
    along = (b - a) / length if length > 0 else np.array([0.0, 0.0, 1.0])
    turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), along).matrix()
    return coal.Capsule(capsules.radius[i], length), coal.Transform3s(turn, (a + b) / 2)
