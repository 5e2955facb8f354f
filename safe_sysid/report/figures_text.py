"""Figures of a result as text: one JSON object for programs, a table for people."""

from __future__ import annotations

from collections.abc import Mapping
import json
from typing import Any

import numpy as np


def as_json(figures: Mapping[str, object]) -> str:
    """One JSON object; a figure that is not finite becomes null, which JSON can say."""
    return json.dumps(_plain(figures), allow_nan=False)


def as_table(figures: Mapping[str, object]) -> str:
    """One row per figure; lists and groups of figures are indented below their name."""
    return '\n'.join(_rows(_plain(figures), ''))


def _plain(value: Any) -> Any:
    """Value as the types JSON knows."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def _rows(group: dict[str, Any], indent: str) -> list[str]:
    width = max((len(name) for name in group), default=0)
    rows = []
    for name, value in group.items():
        if isinstance(value, dict):
            rows += [f'{indent}{name}', *_rows(value, indent + '  ')]
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            rows.append(f'{indent}{name}')
            rows += [f'{indent}  {_line(item)}' for item in value]
        else:
            rows.append(f'{indent}{name:<{width}}  {_line(value)}')
    return rows


def _line(value: Any) -> str:
    if isinstance(value, dict):
        return '  '.join(f'{name} {_line(item)}' for name, item in value.items())
    if isinstance(value, list):
        return '  '.join(_line(item) for item in value)
    if isinstance(value, float):
        return f'{value:.4g}'
    return '-' if value is None else str(value)
