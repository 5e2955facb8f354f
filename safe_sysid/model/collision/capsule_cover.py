"""Capsules that together contain a surface, and the solid in it.

For more than one capsule the surface is cut: triangles are clipped at a plane, and both pieces
get the points of the cut. A capsule that contains the points of a piece contains the piece. The
part of a solid on one side of the plane is bounded by its piece of surface and by the section,
whose outline is in both pieces; so it lies in the hull of the piece, and in its capsule. Of a
surface that is not closed only the surface is contained. (Dividing the vertices instead would
leave out triangles whose corners are in different capsules.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from safe_sysid.arrays import Array
from safe_sysid.model.collision.capsule_fit import (
    Capsule,
    fitted_capsule,
    hull_points,
    rough_volume,
)

PLACES = (0.2, 0.35, 0.5, 0.65, 0.8)  # of a plane between the ends of a piece
LOOKED_AT = 3000  # triangles that decide where to cut


class CoveredPiece(NamedTuple):
    """A part of a surface and a capsule that contains it."""

    triangles: Array  # (T, 3, 3)
    capsule: Capsule

    @property
    def excess(self) -> float:
        """Volume of the capsule beyond that of the hull of the piece [m^3]."""
        return self.capsule.volume - hull_volume(self.triangles.reshape(-1, 3))


def capsule_cover(triangles: Array, count: int) -> list[CoveredPiece]:
    """Pieces of a surface (T, 3, 3) in at most `count` capsules, none of which is in another."""
    pieces = [_covered(triangles)]
    whole: list[CoveredPiece] = []  # that a cut makes no smaller
    while pieces and len(pieces) + len(whole) < count:
        pieces.sort(key=lambda piece: piece.excess)
        largest = pieces.pop()
        halves = _halved(largest)
        if halves is None:
            whole.append(largest)
        else:
            pieces.extend(halves)
    return _without_inner(whole + pieces)


def cut(triangles: Array, normal: Array, offset: float) -> tuple[Array, Array]:
    """Triangles below and above the plane normal . x = offset, those across it clipped."""
    height = triangles @ normal - offset
    above = height > 0.0
    number = above.sum(axis=1)
    parts = [triangles[number == 0]], [triangles[number == 3]]
    for is_above, lone in ((1, number == 1), (0, number == 2)):
        corners, levels = triangles[lone], height[lone]
        first = np.argmax(above[lone] == bool(is_above), axis=1)
        rows, order = np.arange(len(first)), (first[:, None] + np.arange(3)) % 3
        (p, q, r), (hp, hq, hr) = (
            [values[rows, order[:, i]] for i in range(3)] for values in (corners, levels)
        )
        pq = p + (q - p) * (hp / (hp - hq))[:, None]
        pr = p + (r - p) * (hp / (hp - hr))[:, None]
        parts[is_above].append(np.stack([p, pq, pr], axis=1))
        parts[1 - is_above].extend([np.stack([pq, q, r], axis=1), np.stack([pq, r, pr], axis=1)])
    below, over = (np.concatenate(part) for part in parts)
    return below, over


def hull_volume(points: Array) -> float:
    """Volume of the convex hull of points, 0 where they lie in a plane."""
    try:
        return float(ConvexHull(points).volume)
    except QhullError:
        return 0.0


def _covered(triangles: Array) -> CoveredPiece:
    return CoveredPiece(triangles, fitted_capsule(triangles.reshape(-1, 3)))


def _halved(piece: CoveredPiece) -> list[CoveredPiece] | None:
    """Both sides of the best plane, none if one capsule is as good."""
    looked_at = piece.triangles[:: max(1, len(piece.triangles) // LOOKED_AT)]
    best = min(
        _planes(piece, looked_at),
        key=lambda plane: _rough_sum(looked_at, *plane),
        default=None,
    )
    if best is None:
        return None
    halves = [_covered(half) for half in cut(piece.triangles, *best) if len(half)]
    smaller = sum(half.capsule.volume for half in halves) < piece.capsule.volume
    return halves if smaller and len(halves) == 2 else None


def _planes(piece: CoveredPiece, triangles: Array) -> Iterator[tuple[Array, float]]:
    points = hull_points(triangles.reshape(-1, 3))
    spread = points - points.mean(axis=0)
    normals = list(np.linalg.eigh(spread.T @ spread)[1].T)
    along = piece.capsule.b - piece.capsule.a
    if np.linalg.norm(along) > 0.0:
        normals.append(along / np.linalg.norm(along))
    for normal in normals:
        ends = points @ normal
        for share in PLACES:
            yield normal, float((1.0 - share) * ends.min() + share * ends.max())


def _rough_sum(triangles: Array, normal: Array, offset: float) -> float:
    halves = [half.reshape(-1, 3) for half in cut(triangles, normal, offset)]
    if not all(len(half) for half in halves):
        return np.inf
    return sum(rough_volume(half) for half in halves)


def _without_inner(pieces: list[CoveredPiece]) -> list[CoveredPiece]:
    """Give the pieces of a capsule inside another one to that."""
    kept: list[CoveredPiece] = []
    for piece in sorted(pieces, key=lambda each: -each.capsule.volume):
        for i, other in enumerate(kept):
            room = other.capsule.radius - piece.capsule.radius
            ends = np.stack([piece.capsule.a, piece.capsule.b])
            if room >= 0.0 and other.capsule.distances(ends).max() <= room - 1e-9:
                both = np.concatenate([other.triangles, piece.triangles])
                kept[i] = CoveredPiece(both, other.capsule)
                break
        else:
            kept.append(piece)
    return kept
