"""One thing that was looked at of a driver, and whether it is what the arm's file says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

OTHER = 0.2  # share by which a scale is another one, whatever friction may explain


class Agreement(Enum):
    """What a figure is beside the arm's file."""

    AGREES = 'agrees'
    DIFFERS = 'DIFFERS'
    NEW = 'is not stated'
    UNSEEN = 'not seen'


@dataclass(frozen=True)
class CommissionFinding:
    """One thing that was looked at."""

    what: str
    agreement: Agreement
    said: str  # what was measured, and what the file says

    def __str__(self) -> str:
        return f'{self.what}: {self.agreement.value}. {self.said}'
