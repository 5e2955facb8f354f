"""How large a mesh may be."""

from __future__ import annotations

from pathlib import Path

from safe_sysid.errors import ModelError

MOST_TRIANGLES = 4_000_000  # as many as a binary STL of the largest size has
MOST_NUMBERS = 9 * MOST_TRIANGLES  # in one list


def check_triangles(path: Path, count: int) -> None:
    """Refuse more triangles than a mesh may have."""
    if count > MOST_TRIANGLES:
        raise ModelError(f'mesh {path} has more than {MOST_TRIANGLES} triangles; simplify it')
