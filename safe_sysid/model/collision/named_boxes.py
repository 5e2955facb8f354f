"""Boxes of several sources by name, of which none may be lost because another has its name."""

from __future__ import annotations

from collections.abc import Mapping

from safe_sysid.sets.box import Box


def together(*sources: Mapping[str, Box]) -> dict[str, Box]:
    """Return all boxes; one whose name an earlier source has gets a stroke behind it."""
    boxes: dict[str, Box] = {}
    for source in sources:
        for name, box in source.items():
            free = name
            while free in boxes:
                free += "'"
            boxes[free] = box
    return boxes
