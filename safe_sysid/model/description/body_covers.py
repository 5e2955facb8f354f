"""Capsules for all bodies of an arm, with names, and how well they fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from safe_sysid.arrays import Array
from safe_sysid.model.collision.capsule_cover import CoveredPiece, capsule_cover, hull_volume
from safe_sysid.model.collision.capsule_fit import Capsule, hull_points
from safe_sysid.model.collision.cover_gap import CoverGap, cover_gap
from safe_sysid.model.description.surfaces import BodySurface
from safe_sysid.model.facts import CapsuleFacts

OF_BASE = 4  # capsules; a base meets only the arm, and a loose cover of it costs poses
LOOSE = 1.8  # volume of one capsule over that of the hull, above which a body has two


@dataclass(frozen=True, eq=False)
class BodyCover:
    """A body in capsules that contain it."""

    surface: BodySurface
    pieces: tuple[CoveredPiece, ...]

    @property
    def capsules(self) -> list[Capsule]:
        """Capsules in the frame of the body's link."""
        return [piece.capsule for piece in self.pieces]

    @cached_property
    def hull(self) -> Array:
        """Corners of the convex hull."""
        return hull_points(self.surface.triangles.reshape(-1, 3))

    @cached_property
    def hulls(self) -> list[Array]:
        """Corners of the convex hulls of the pieces, which together contain the body."""
        return [hull_points(piece.triangles.reshape(-1, 3)) for piece in self.pieces]

    @cached_property
    def gap(self) -> CoverGap:
        """How much larger the cover is than the hull."""
        return cover_gap(self.capsules, self.hull, hull_volume(self.hull))

    @property
    def outside(self) -> int:
        """Number of vertices of pieces that are not in their capsule: 0, or a fault."""
        each = [p.capsule.contains(p.triangles.reshape(-1, 3)) for p in self.pieces]
        return sum(int((~inside).sum()) for inside in each)


def covered(surface: BodySurface, count: int | None) -> BodyCover:
    """Cover a body with as many capsules, or as many as it takes."""
    if count is None and surface.joint < 0:
        count = OF_BASE
    if count is not None:
        return BodyCover(surface, tuple(capsule_cover(surface.triangles, count)))
    one = capsule_cover(surface.triangles, 1)
    volume = hull_volume(hull_points(surface.triangles.reshape(-1, 3)))
    if one[0].capsule.volume <= LOOSE * volume:
        return BodyCover(surface, tuple(one))
    return BodyCover(surface, tuple(capsule_cover(surface.triangles, 2)))


def shapes_of(covers: Sequence[BodyCover]) -> Mapping[str, CapsuleFacts]:
    """Capsules as settings have them: named after their link, numbered where it has several."""
    shapes: dict[str, CapsuleFacts] = {}
    for cover in covers:
        link, several = cover.surface.link, len(cover.pieces) > 1
        for i, capsule in enumerate(cover.capsules, start=1):
            (ax, ay, az), (bx, by, bz) = capsule.a.tolist(), capsule.b.tolist()
            name = f'{link}.{i}' if several else link
            shapes[name] = CapsuleFacts(link, (ax, ay, az), (bx, by, bz), capsule.radius)
    return shapes
