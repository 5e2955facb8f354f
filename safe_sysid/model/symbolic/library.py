"""CasADi, which is an extra: imported here alone, and only by who asks for it."""

from __future__ import annotations

from typing import Any

from safe_sysid.errors import ModelError

try:
    import casadi
except ModuleNotFoundError as error:
    raise ModelError(
        "CasADi is not installed, it is an extra of this package: pip install '.[casadi]' "
        '(or pip install casadi)'
    ) from error

__all__ = ['casadi']

SX = Any  # casadi.SX, which has no types
