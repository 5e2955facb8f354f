"""What users of Python pass, as values of the package, or an error that says what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import Range
from safe_sysid.errors import ConfigError, SafeSysidError
from safe_sysid.model.motion_objective import MotionObjective
from safe_sysid.model.payload import Payload, read_payload

T = TypeVar('T')
NATURAL = Range(at_least=0)


def payload_from(given: Payload | str | PathLike[str] | None) -> Payload | None:
    """Return what is held: a payload, or that of a name or of a YAML file."""
    if given is None or isinstance(given, Payload):
        return given
    if isinstance(given, str):
        return read_payload(given)
    if isinstance(given, PathLike):
        return read_payload(Path(given))
    raise ConfigError(
        f'payload is {given!r}, it has to be a name such as dumbbell_8lb, a YAML file, a Payload '
        'or None'
    )


def number(name: str, given: Any, allowed: Range) -> float:
    """Return a number that is allowed."""
    if isinstance(given, Real) and not isinstance(given, bool) and float(given) in allowed:
        return float(given)
    kind = 'a finite number' if allowed == Range() else f'a number {allowed}'
    raise ConfigError(f'{name} is {given!r}, it has to be {kind}')


def natural(name: str, given: Any) -> int:
    """Return a whole number from 0 on."""
    if isinstance(given, Integral) and not isinstance(given, bool) and int(given) in NATURAL:
        return int(given)
    raise ConfigError(f'{name} is {given!r}, it has to be a whole number {NATURAL}')


def finite_numbers(
    name: str, given: Any, n: int, refusal: type[SafeSysidError] = ConfigError
) -> Array:
    """Return finite real numbers, one for each of n joints."""
    try:
        values = np.array(given)
        found: Array = np.array(None if np.iscomplexobj(values) else values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        found = np.array(np.nan)
    if found.shape != (n,) or not np.isfinite(found).all():
        raise refusal(f'{name} is {given!r}, it has to be {n} finite numbers')
    return found


def settings_or_default(
    given: T | None, kind: type[T], default: Callable[[], T] | None = None, name: str = 'settings'
) -> T:
    """Return settings of a kind, or its defaults where none are given."""
    if given is None:
        return (default or kind)()
    return of_kind(name, given, kind, f'of the class {kind.__name__}, or None')


def tell_or_silent(name: str, given: Callable[..., None] | None) -> Callable[..., None]:
    """Return what a user wants called; something that does nothing where nothing is given."""
    if given is None:
        return _silent
    if not callable(given):
        raise ConfigError(f'{name} is {given!r}, it has to be a function or None')
    return given


def _silent(*_: object) -> None:
    """Say nothing."""


def path_from(given: Any) -> Path:
    """Return the path of a file or folder."""
    if isinstance(given, (str, PathLike)) and str(given):
        return Path(given)
    raise ConfigError(f'path is {given!r}, it has to be the name of a file or folder')


def cost_from(given: MotionObjective | None) -> MotionObjective | None:
    """Return a cost of a user's own, if there is one."""
    return None if given is None else of_kind('cost', given, MotionObjective, 'of `own_cost`')


def of_kind(name: str, given: T, kind: type[T], how: str) -> T:
    """Return a value of a kind; `how` says what makes one."""
    if isinstance(given, kind):
        return given
    raise ConfigError(f'{name} is {given!r}, it has to be {how}')
