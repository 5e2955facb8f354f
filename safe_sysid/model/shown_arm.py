"""ShownArm: the URDF of an arm as text, and the link that does not move, for whoever draws it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from safe_sysid.errors import ModelError
from safe_sysid.model.facts import facts_path, read_facts, urdf_path
from safe_sysid.model.urdf_tree import urdf_text


@dataclass(frozen=True)
class ShownArm:
    """What robot_state_publisher and RViz need to know."""

    urdf: str  # text
    base: str  # link that all others hang on


def shown_arm(robot: str) -> ShownArm:
    """Return an arm of the package, or the one of a YAML file."""
    is_file = Path(robot).suffix in ('.yaml', '.yml')
    path = Path(robot) if is_file else facts_path(robot)
    urdf = urdf_text(urdf_path(path, read_facts(path)))
    root = ElementTree.fromstring(urdf)
    links = [link.attrib['name'] for link in root.iter('link')]
    moved = {child.attrib['link'] for child in root.iter('child')}
    bases = [link for link in links if link not in moved]
    if len(bases) != 1:
        raise ModelError(f'{path}: its URDF has {len(bases)} links without a parent: {bases}')
    return ShownArm(urdf, bases[0])
