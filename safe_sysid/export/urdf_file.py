"""URDFs as files: read with their comments, and written wherever with what belongs to them."""

from __future__ import annotations

from pathlib import Path
import re
from xml.etree import ElementTree
from xml.parsers import expat

from safe_sysid.errors import ModelError
from safe_sysid.model.collision.mesh_files import mesh_file
from safe_sysid.model.urdf_tree import read_urdf
from safe_sysid.output_file import write_text


def with_comments(source: Path) -> ElementTree.Element:
    """Return a URDF with its comments; its meshes are found from any folder."""
    read_urdf(source)  # errors in words
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    root: ElementTree.Element = ElementTree.parse(source, parser).getroot()
    for mesh in root.iter('mesh'):
        name = mesh.get('filename', '')
        if '://' not in name:
            mesh.set('filename', _absolute(name, source))
    return root


def urdf_text(root: ElementTree.Element, source: Path) -> str:
    """Return a URDF for people, with what stands before the root of its source: a licence."""
    ElementTree.indent(root)
    before = ''.join(f'<!--{comment}-->\n' for comment in _comments_before(source))
    text = ElementTree.tostring(root, encoding='unicode')
    return f'<?xml version="1.0"?>\n{before}{text}\n'


def write_urdf(root: ElementTree.Element, source: Path, target: Path) -> None:
    """Write a URDF that was made of another one."""
    write_text(target, urdf_text(root, source))


def comment_text(text: str) -> str:
    """Return a text as XML lets it stand in a comment: without two hyphens in a row."""
    return re.sub('-(?=-)', '- ', text)


def _absolute(name: str, source: Path) -> str:
    try:
        return str(mesh_file(name, source, ()))
    except ModelError:  # who needs it says so
        return name


def _comments_before(source: Path) -> list[str]:
    """Return the comments of a file before its root."""
    comments: list[str] = []
    parser = expat.ParserCreate()

    def begin(*_: object) -> None:
        parser.CommentHandler = None

    parser.CommentHandler, parser.StartElementHandler = comments.append, begin
    parser.Parse(source.read_bytes(), True)
    return comments
