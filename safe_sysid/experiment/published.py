"""Figures that the papers print, read from the files that come with the package."""

from __future__ import annotations

from typing import Any

from safe_sysid.config import read_yaml
from safe_sysid.share import share_directory


def published(name: str) -> dict[str, Any]:
    """Return what config/published/<name>.yaml says."""
    return dict(read_yaml(share_directory() / 'config' / 'published' / f'{name}.yaml'))
