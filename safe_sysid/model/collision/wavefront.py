"""Triangles of a Wavefront OBJ file, read line by line."""

from __future__ import annotations

from array import array
from itertools import pairwise
from pathlib import Path

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ModelError
from safe_sysid.model.collision.mesh_size import MOST_NUMBERS, check_triangles

LONGEST_LINE = 1_000_000  # letters


def obj_triangles(path: Path) -> Array:
    """Triangles (T, 3, 3) of a file."""
    corners, faces = array('d'), array('q')
    with path.open(encoding='utf-8', errors='replace') as file:
        for line in iter(lambda: file.readline(LONGEST_LINE), ''):
            if len(line) == LONGEST_LINE:
                raise ModelError(f'mesh {path} has a line of {LONGEST_LINE} letters or more')
            words = line.split()
            if words[:1] == ['v']:
                corners.extend([float(word) for word in words[1:4]])
            elif words[:1] == ['f']:
                _add_fan(faces, words[1:], len(corners) // 3)
            check_triangles(path, len(faces) // 3)
            if len(corners) > MOST_NUMBERS:
                raise ModelError(f'mesh {path} has more than {MOST_NUMBERS // 3} corners')
    points = np.array(corners).reshape(-1, 3)
    return np.asarray(points[np.array(faces, dtype=np.int64).reshape(-1, 3)])


def _add_fan(faces: array[int], words: list[str], corners: int) -> None:
    """Add the triangles of a polygon, all from its first corner."""
    places = [int(word.partition('/')[0]) for word in words]
    places = [i - 1 if i > 0 else corners + i for i in places]
    for second, third in pairwise(places[1:]):
        faces.extend((places[0], second, third))
