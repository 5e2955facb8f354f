"""Files behind the mesh names of a URDF, looked for where ROS, and a user, keep packages.

The first that exists is taken: of `package://PKG/rest` and `model://PKG/rest` below the given
folders, in AMENT_PREFIX_PATH, in ROS_PACKAGE_PATH, and in the folders above the URDF; of a plain
relative name beside the URDF and in the folders above it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import os
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from safe_sysid.errors import ModelError
from safe_sysid.model.urdf_tree import read_urdf

DEPTH = 4  # folders below a given one in which packages are looked for
IGNORED = ('CATKIN_IGNORE', 'COLCON_IGNORE', 'AMENT_IGNORE')


def with_mesh_files(urdf: Path, package_paths: Sequence[Path]) -> ElementTree.Element:
    """Read a URDF and replace the names of its collision meshes by absolute paths."""
    root = read_urdf(urdf)
    for mesh in root.findall('link/collision/geometry/mesh'):
        mesh.set('filename', str(mesh_file(mesh.get('filename', ''), urdf, package_paths)))
    return root


def mesh_file(name: str, urdf: Path, package_paths: Sequence[Path]) -> Path:
    """Find the file of one mesh, or raise a ModelError that says where it was looked for."""
    for path in _candidates(name, urdf.absolute(), package_paths):
        if path.is_file():
            return path.absolute()
    variables = ', '.join(
        f'{variable} ({os.environ.get(variable) or "not set"})'
        for variable in ('AMENT_PREFIX_PATH', 'ROS_PACKAGE_PATH')
    )
    given = ', '.join(map(str, package_paths)) or 'none given'
    raise ModelError(
        f"{urdf}: its meshes cannot be read: no file for '{name}' below --package-path ({given}), "
        f'in {variables}, or in the folders above the URDF; name the folder of its package with '
        '--package-path'
    )


def _candidates(name: str, urdf: Path, package_paths: Sequence[Path]) -> Iterator[Path]:
    kind, is_address, rest = name.partition('://')
    above = [*urdf.parents, *urdf.resolve().parents]
    if not is_address:
        yield from (folder / name for folder in above)  # an absolute name stays as it is
    elif kind == 'file':
        yield Path(unquote(rest))
    elif kind in ('package', 'model'):
        package, _, inside = rest.partition('/')
        for folder in package_folders(package, above, package_paths):
            yield folder / inside


def package_folders(
    package: str, above: Sequence[Path], package_paths: Sequence[Path]
) -> Iterator[Path]:
    """Folders that may be a package, the most certain one first."""
    for top in package_paths:
        yield from _below(top, package)
    for prefix in _paths_in('AMENT_PREFIX_PATH'):
        yield prefix / 'share' / package
    for top in _paths_in('ROS_PACKAGE_PATH'):
        yield from _below(top, package)
    for folder in above:
        if _is_package(folder, package):
            yield folder
        yield folder / package


def _below(top: Path, package: str) -> Iterator[Path]:
    """Yield a folder if it is the package, and the packages of that name inside it."""
    if _is_package(top, package):
        yield top
    yield top / package
    level = [top]
    for _ in range(DEPTH):
        level = [folder for parent in level for folder in _searched_folders(parent)]
        yield from (folder for folder in level if _is_package(folder, package))


def _searched_folders(parent: Path) -> list[Path]:
    """Folders in which packages may be: not those inside another package."""
    if not parent.is_dir() or (parent / 'package.xml').exists():
        return []
    folders = sorted(path for path in parent.iterdir() if path.is_dir())
    return [folder for folder in folders if not any((folder / name).exists() for name in IGNORED)]


def _is_package(folder: Path, package: str) -> bool:
    """Whether package.xml says so, or the name of the folder where there is none."""
    manifest = folder / 'package.xml'
    if not manifest.is_file():
        return folder.name == package
    try:
        return ElementTree.parse(manifest).findtext('name', '').strip() == package
    except ElementTree.ParseError:
        return folder.name == package


def _paths_in(variable: str) -> list[Path]:
    return [Path(entry) for entry in os.environ.get(variable, '').split(os.pathsep) if entry]
