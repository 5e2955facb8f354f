"""A user's own cost of motions, as settings name it; light, as every command reads settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from safe_sysid.config import NotNegative, OneOf, Settings

WAYS = ('integral', 'max')  # of the cost of samples becoming one of the motion


@dataclass(frozen=True)
class OwnCostSettings(Settings):
    """A CasADi function as a cost of motions (docs/casadi.md)."""

    file: str = ''  # written by casadi.Function.save; empty: none
    weight: NotNegative = 1.0  # against the other costs
    over: Annotated[str, OneOf(WAYS)] = 'integral'  # of the samples of a motion
    link: str = ''  # whose R and p the function may take
    unit: str = ''  # of the function's result, for reports
