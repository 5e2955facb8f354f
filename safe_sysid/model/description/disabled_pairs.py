"""Pairs that an SRDF disables, compared with what is proven; nothing is believed."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from safe_sysid.errors import ModelError
from safe_sysid.model.description.refined_covers import RefinedCovers
from safe_sysid.model.xml_file import xml_root


def disabled_pairs(
    srdf: Path, found: RefinedCovers, root: ElementTree.Element, is_asked: bool
) -> list[str]:
    """Sentences on disabled pairs that are neither neighbours nor proven apart."""
    if not srdf.is_file():
        if is_asked:
            raise ModelError(f'{srdf}: cannot be read (no such file)')
        return []
    frames, capsules = found.model.frames, found.model.capsules
    parent = found.model.tree.parent
    listed = {tuple(sorted(map(int, capsules.joint[list(p)]))) for p in capsules.pairs.tolist()}
    links = {str(link.get('name')) for link in root.findall('link')}
    said = []
    for pair in _pairs(srdf):
        first, second, reason = pair
        if first not in links or second not in links:
            continue
        i, j = sorted((frames[first].joint, frames[second].joint))
        if reason == 'Adjacent' and i != j and int(parent[j]) != i:
            said.append(f'{srdf.name} calls {first} and {second} adjacent; no joint joins them')
        elif i != j and int(parent[j]) != i and (i, j) in listed:
            said.append(
                f'{srdf.name} disables {first} and {second} ({reason or "no reason"}), which are '
                'not proven apart: they are looked at'
            )
    return said


def _pairs(srdf: Path) -> list[tuple[str, str, str]]:
    return [
        (pair.get('link1', ''), pair.get('link2', ''), pair.get('reason', ''))
        for pair in xml_root(srdf).iter('disable_collisions')
    ]
