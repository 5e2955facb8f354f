"""Capsules of the pieces of a surface contain the surface, and the solid in it."""

from itertools import pairwise, product

from model.collision.hull_distance import box, dented_sphere, l_shape, triangle_soup
import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.model.collision.capsule_cover import capsule_cover, cut, hull_volume
from safe_sysid.model.collision.capsule_fit import Capsule
from safe_sysid.model.collision.cover_gap import cover_gap


def turned(profile, sides=24):
    """Triangles of the surface that points (r, z) make around the z axis."""
    turn = 2 * np.pi * np.arange(sides + 1) / sides
    around = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    triangles = []
    for (r, z), (s, w) in pairwise(profile):
        for c, d in pairwise(around):
            p, q, u, v = (*r * c, z), (*r * d, z), (*s * c, w), (*s * d, w)
            triangles += [(p, q, u), (q, v, u)]
    return np.array(triangles)


def torus():
    turn = 2 * np.pi * np.arange(17) / 16
    return turned(np.stack([0.2 + 0.05 * np.cos(turn), 0.05 * np.sin(turn)], axis=1))


def half_shell():
    """A surface that is open below."""
    rise = np.linspace(0.0, np.pi / 2, 8)
    return turned(np.stack([0.3 * np.cos(rise), 0.3 * np.sin(rise)], axis=1))


def u_shape():
    return np.concatenate([box((0, 0, 0), (0.3, 0.05, 0.05)), box((-0.25, 0, 0.2), (0.05,) * 3),
                           box((0.25, 0, 0.2), (0.05, 0.05, 0.15))])  # fmt: skip


SURFACES = {
    'torus': torus, 'U': u_shape, 'L': l_shape, 'half shell': half_shell,
    'dented sphere': dented_sphere, 'soup': triangle_soup,
}  # fmt: skip


def on_surface(triangles, count, rng):
    shares = rng.dirichlet((1, 1, 1), count)
    return np.einsum('ti,tij->tj', shares, triangles[rng.integers(len(triangles), size=count)])


@pytest.mark.parametrize(('kind', 'count'), slow_after(1, product(SURFACES, (2, 3))))
def test_every_point_of_the_surface_is_in_a_capsule(kind, count, rng):
    triangles = SURFACES[kind]()
    pieces = capsule_cover(triangles, count)
    points = np.concatenate([on_surface(triangles, 10_000, rng), triangles.reshape(-1, 3)])
    inside = np.zeros(len(points), dtype=bool)
    for piece in pieces:
        inside |= piece.capsule.contains(points)
        assert piece.capsule.contains(piece.triangles.reshape(-1, 3)).all()
    assert inside.all()
    assert 1 <= len(pieces) <= count


@pytest.mark.parametrize('kind', slow_after(1, ['U', 'L']))
def test_every_point_of_the_solid_is_in_a_capsule(kind, rng):
    """Also where a cut goes through: the solids are boxes of which any point is known."""
    triangles = SURFACES[kind]()
    pieces = capsule_cover(triangles, 3)
    boxes = triangles.reshape(-1, 36, 3)
    low, high = boxes.min(axis=1), boxes.max(axis=1)
    chosen = rng.integers(len(boxes), size=4_000)
    points = low[chosen] + (high - low)[chosen] * rng.random((4_000, 3))
    assert np.any([piece.capsule.contains(points) for piece in pieces], axis=0).all()


def test_a_cut_keeps_area_and_both_sides(rng):
    triangles = dented_sphere()
    normal = rng.normal(size=3)
    normal /= np.linalg.norm(normal)

    def area(parts):
        sides = np.cross(parts[:, 1] - parts[:, 0], parts[:, 2] - parts[:, 0])
        return 0.5 * np.linalg.norm(sides, axis=1).sum()

    below, above = cut(triangles, normal, 0.02)
    assert (below @ normal).max() <= 0.02 + 1e-12
    assert (above @ normal).min() >= 0.02 - 1e-12
    assert area(below) + area(above) == pytest.approx(area(triangles), rel=1e-12)


@pytest.mark.slow
def test_two_capsules_fit_a_bent_body_better():
    triangles = u_shape()
    one, two = (capsule_cover(triangles, count) for count in (1, 3))
    assert sum(p.capsule.volume for p in two) < 0.7 * one[0].capsule.volume


def test_the_gap_of_a_ball_around_a_box_is_over_its_faces():
    points = box((0.0, 0.0, 0.0), (0.1, 0.1, 0.1)).reshape(-1, 3)
    ball = Capsule(np.zeros(3), np.zeros(3), 0.1 * 3**0.5)
    found = cover_gap([ball], points, hull_volume(points))
    assert found.largest == pytest.approx(0.1 * (3**0.5 - 1), rel=0.02)
    assert found.ratio == pytest.approx(4 / 3 * np.pi * 3**1.5 / 8, rel=1e-9)
