"""Files behind the mesh names of a URDF, looked for where ROS, and a user, keep packages.

The first that exists is taken: of `package://PKG/rest` and `model://PKG/rest` below the given
folders, in AMENT_PREFIX_PATH, in ROS_PACKAGE_PATH, in the folders of Gazebo's models, in the
folders above the URDF, and where pip puts descriptions; of a plain relative name beside the URDF
and in the folders above it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import os
from pathlib import Path
import sys
from urllib.parse import unquote
from xml.etree import ElementTree

from safe_sysid.errors import ModelError
from safe_sysid.input_file import LARGEST_MESH, check_file
from safe_sysid.model.urdf_tree import read_urdf
from safe_sysid.model.xml_file import xml_root

DEPTH = 4  # folders below a given one in which packages are looked for
MODEL_PATHS = ('GAZEBO_MODEL_PATH', 'GZ_SIM_RESOURCE_PATH')
LFS = b'version https://git-lfs'
SHOWN = 12  # places that an error lists
IGNORED = ('CATKIN_IGNORE', 'COLCON_IGNORE', 'AMENT_IGNORE')


def with_mesh_files(
    urdf: Path, package_paths: Sequence[Path], tags: Sequence[str] = ('collision',)
) -> ElementTree.Element:
    """Read a URDF and replace the names of its meshes by absolute paths."""
    root = read_urdf(urdf)
    for tag in tags:
        for mesh in root.findall(f'link/{tag}/geometry/mesh'):
            mesh.set('filename', str(mesh_file(mesh.get('filename', ''), urdf, package_paths)))
    return root


def mesh_file(name: str, urdf: Path, package_paths: Sequence[Path]) -> Path:
    """Find the file of one mesh, or raise a ModelError that says where it was looked for."""
    tried = list(dict.fromkeys(_candidates(name, urdf.absolute(), package_paths)))
    for path in tried:
        if path.is_file():
            return _content(path.absolute(), urdf)
    raise ModelError(
        f"{urdf}: its meshes cannot be read: no file for '{name}' {_where(package_paths)}; name "
        f'the folder of its package with --package-path{_nearly(name, urdf, tried)}{_list(tried)}'
    )


def package_folder(package: str, source: Path, package_paths: Sequence[Path]) -> Path:
    """Find the folder of a package, or raise a ModelError that says where it was looked for."""
    source = source.absolute()
    above = [*source.parents, *source.resolve().parents]
    tried = list(dict.fromkeys(package_folders(package, above, package_paths)))
    for folder in tried:
        if folder.is_dir():
            return folder
    raise ModelError(
        f"{source}: there is no package '{package}' {_where(package_paths)}; name its folder with "
        f'--package-path{_list(tried)}'
    )


def _content(path: Path, urdf: Path) -> Path:
    """Return the path of a mesh, if it is one and not the stand-in of a version control."""
    check_file(path, ModelError, LARGEST_MESH)
    with path.open('rb') as file:
        if file.read(len(LFS)) == LFS:
            raise ModelError(
                f'{urdf}: {path} is a pointer of Git LFS, not the mesh; get it with `git lfs pull`'
            )
    return path


def _where(package_paths: Sequence[Path]) -> str:
    variables = ', '.join(
        f'{variable} ({os.environ.get(variable) or "not set"})'
        for variable in ('AMENT_PREFIX_PATH', 'ROS_PACKAGE_PATH', *MODEL_PATHS)
    )
    given = ', '.join(map(str, package_paths)) or 'none given'
    return (
        f'below --package-path ({given}), in {variables}, in the folders above the URDF, or in '
        f'{sys.prefix}'
    )


def _nearly(name: str, urdf: Path, tried: Sequence[Path]) -> str:
    """Say which file is called the same but for capitals, or is of this name elsewhere."""
    for path in tried:
        for found in _alike(path):
            return f'. It exists as {found}: capitals count'
    folders = [*urdf.absolute().parents, *urdf.resolve().parents]
    package = next((folder for folder in folders if (folder / 'package.xml').is_file()), None)
    elsewhere = package and next(package.rglob(Path(name).name), None)
    return f'. A file of that name is {elsewhere}' if elsewhere else ''


def _alike(path: Path) -> Iterator[Path]:
    """Files whose path is the same but for capitals."""
    folder = path.parent
    if folder.is_dir():
        siblings = sorted(folder.iterdir())
    else:
        siblings = sorted(x for found in _alike_folder(folder) for x in found.iterdir())
    yield from (x for x in siblings if x.name.lower() == path.name.lower())


def _alike_folder(folder: Path) -> Iterator[Path]:
    if folder.parent.is_dir():
        same = (
            x for x in sorted(folder.parent.iterdir()) if x.name.lower() == folder.name.lower()
        )
        yield from (x for x in same if x.is_dir())


def _list(tried: Sequence[Path]) -> str:
    lines = [f'\n      {path}' for path in tried[:SHOWN]]
    more = f'\n      and {len(tried) - SHOWN} more' if len(tried) > SHOWN else ''
    return f'. Looked for:{"".join(lines)}{more}' if tried else ''


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
    for variable in MODEL_PATHS:
        yield from (entry / package for entry in _paths_in(variable))
    for folder in above:
        if _is_package(folder, package):
            yield folder
        yield folder / package
    for top in (Path(sys.prefix), *(Path(entry) / 'cmeel.prefix' for entry in sys.path if entry)):
        yield top / 'share' / package


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
        return xml_root(manifest).findtext('name', '').strip() == package
    except ModelError:
        return folder.name == package


def _paths_in(variable: str) -> list[Path]:
    return [Path(entry) for entry in os.environ.get(variable, '').split(os.pathsep) if entry]
