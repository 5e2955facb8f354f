"""URDF with its meshes inside: the files become `data:` addresses, which need no package.

Foxglove fetches the mesh of a link by its address and goes by the media type that comes with it,
so that a recording shows the arm wherever it is opened. Textures beside a mesh stay outside.
"""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from xml.etree import ElementTree

from safe_sysid.errors import ModelError
from safe_sysid.model.collision.mesh_files import mesh_file
from safe_sysid.model.urdf_tree import parse_urdf

MEDIA = {
    '.stl': 'model/stl',
    '.dae': 'model/vnd.collada+xml',
    '.obj': 'model/obj',
    '.glb': 'model/gltf-binary',
    '.gltf': 'model/gltf+json',
}
DRAWN = 'link/visual/geometry/mesh'


def with_meshes_inside(urdf: Path) -> tuple[str, list[str]]:
    """Text of a URDF with what it draws, and a sentence for each mesh that stays outside."""
    root, outside = parse_urdf(urdf), []
    for mesh in root.findall(DRAWN):
        name = mesh.get('filename', '')
        media = MEDIA.get(Path(name).suffix.lower())
        if media is None:
            outside.append(f'{name}: allowed are {sorted(MEDIA)}')
            continue
        try:
            content = b64encode(mesh_file(name, urdf, ()).read_bytes()).decode()
        except (ModelError, OSError) as error:
            outside.append(f'{name}: {error}')
            continue
        mesh.set('filename', f'data:{media};base64,{content}')
    return ElementTree.tostring(root, encoding='unicode'), outside
