"""Vertices of a mesh that a name or its bytes stand for, in metres as RViz shows them.

A mesh lies inside the box of its vertices. Files of COLLADA say how long their unit is; whoever
shows them multiplies by it, and the library that reads them does not.
"""

from __future__ import annotations

from pathlib import Path
import tempfile
from urllib.parse import unquote, urlparse

import coal
import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ModelError
from safe_sysid.input_file import LARGEST_MESH, check_file, shortened
from safe_sysid.model.collision.collada import collada_root, collada_unit, is_collada
from safe_sysid.model.collision.mesh_files import package_folders

LONGEST = 16  # characters of what says the kind of a file


def mesh_points(resource: str, content: bytes) -> Array:
    """Vertices (N, 3) [m] of the mesh at a package:// or file:// name, or of its bytes."""
    try:
        if not content:
            return _read(_found(resource))
        suffix = Path(urlparse(resource).path).suffix
    except (OSError, ValueError) as error:  # a name that cannot be one
        raise ModelError(f"mesh '{resource[:99]}': {error}") from error
    if len(suffix) > LONGEST:
        raise ModelError(f"mesh '{resource[:99]}': its name ends in no kind of file")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f'mesh{suffix}'
        path.write_bytes(content)
        return _read(path)


def _found(resource: str) -> Path:
    """File that a name stands for."""
    parts = urlparse(resource)
    path = Path(unquote(parts.path))
    if parts.scheme == 'package':
        folders = package_folders(parts.netloc, (), ())
        share = next((folder for folder in folders if folder.is_dir()), None)
        if share is None:
            raise ModelError(
                f"mesh '{shortened(resource)}': there is no package '{shortened(parts.netloc)}' "
                'in AMENT_PREFIX_PATH or ROS_PACKAGE_PATH'
            )
        path = share / path.relative_to('/')
    elif parts.scheme not in ('file', ''):
        raise ModelError(f"mesh '{shortened(resource)}': package:// and file:// are allowed")
    if not path.is_file():
        raise ModelError(f"mesh '{shortened(resource)}': there is no file {shortened(str(path))}")
    return path


def _read(path: Path) -> Array:
    check_file(path, ModelError, LARGEST_MESH)
    unit = collada_unit(collada_root(path), path) if is_collada(path) else 1.0
    vertices = library_vertices(path)
    if not (len(vertices) and np.isfinite(vertices).all()):
        raise ModelError(f'mesh {path} has no vertices, or some that are not finite')
    return vertices * unit


def library_vertices(path: Path) -> Array:
    """Vertices (N, 3) in the unit of the file, by a library; of COLLADA that was looked at."""
    try:
        mesh = coal.MeshLoader().load(str(path), np.ones(3))
        return np.asarray(mesh.vertices(), dtype=np.float64)
    except (ValueError, RuntimeError) as error:
        raise ModelError(f'mesh {path} cannot be read: {error}') from error
