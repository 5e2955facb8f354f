"""Distance to the hull of points without computing a hull; meshes that are not convex."""

from itertools import combinations
import struct

import numpy as np
from scipy.optimize import linprog


def write_stl(path, triangles):
    """Write triangles (T, 3, 3) as a binary STL."""
    body = b''.join(struct.pack('<12fH', 0, 0, 0, *corners.ravel(), 0) for corners in triangles)
    path.write_bytes(bytes(80) + struct.pack('<I', len(triangles)) + body)


def box(center, half):
    """Triangles of a box."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = np.asarray(center) + np.asarray(half) * corners
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners[[t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))]]


def l_shape():
    """Two boxes that meet at a right angle."""
    return np.concatenate([box((0.1, 0.0, 0.0), (0.2, 0.05, 0.05)),
                           box((-0.05, 0.0, 0.2), (0.05, 0.05, 0.15))])  # fmt: skip


def dented_sphere():
    """A sphere of 9 by 6 points with every third one pushed in."""
    turn, rise = np.meshgrid(np.arange(9) * 2.0 * np.pi / 9.0, np.linspace(0.1, np.pi - 0.1, 6))
    radius = np.where(np.arange(54).reshape(6, 9) % 3 == 0, 0.08, 0.2)
    points = radius[..., None] * np.stack(
        [np.sin(rise) * np.cos(turn), np.sin(rise) * np.sin(turn), np.cos(rise)], axis=-1
    )
    around = np.roll(points, -1, axis=1)
    first = np.stack([points[:-1], around[:-1], points[1:]], axis=2)
    second = np.stack([around[:-1], around[1:], points[1:]], axis=2)
    return np.concatenate([first.reshape(-1, 3, 3), second.reshape(-1, 3, 3)])


def triangle_soup(count=12):
    """Triangles that share no corner, as a careless export has them."""
    rng = np.random.default_rng(7)
    centers = rng.uniform(-0.2, 0.2, (count, 1, 3))
    return centers + rng.normal(scale=0.03, size=(count, 3, 3))


def flat_plate():
    """A square without thickness."""
    corners = np.array(
        [[-0.2, -0.1, 0.05], [0.2, -0.1, 0.05], [0.2, 0.1, 0.05], [-0.2, 0.1, 0.05]]
    )
    return corners[[[0, 1, 2], [0, 2, 3]]]


def is_inside(points, p):
    """Whether p is a convex combination of points (N, 3), by a linear program."""
    A = np.vstack([points.T, np.ones(len(points))])
    return linprog(np.zeros(len(points)), A_eq=A, b_eq=[*p, 1.0]).status == 0


def distance_to_hull(points, p):
    """Distance of a point outside the hull: of the nearest triangle of any three points."""
    points = np.unique(np.round(points, 12), axis=0)
    corners = points[np.array(list(combinations(range(len(points)), 3)))]
    a, ab, ac = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(ab, ac)
    square = (normal**2).sum(axis=1)
    wide = square > 1e-18
    u = (np.cross(p - a, ac) * normal).sum(axis=1)[wide] / square[wide]
    v = (np.cross(ab, p - a) * normal).sum(axis=1)[wide] / square[wide]
    over = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0)
    height = np.abs(((p - a) * normal).sum(axis=1))[wide] / np.sqrt(square[wide])
    first, second = points[np.array(list(combinations(range(len(points)), 2)))].swapaxes(0, 1)
    along = second - first
    share = np.clip(((p - first) * along).sum(axis=1) / (along**2).sum(axis=1), 0.0, 1.0)
    to_edges = np.linalg.norm(first + share[:, None] * along - p, axis=1).min()
    return min(to_edges, height[over].min(initial=np.inf))
