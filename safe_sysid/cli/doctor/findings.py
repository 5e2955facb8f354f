"""Finding: one thing the doctor looked at, and what to do when it isn't as it should be."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum


class Verdict(Enum):
    """How a finding ended."""

    PASS = 'PASS'
    WARN = 'WARN'  # something optional is missing
    FAIL = 'FAIL'


@dataclass(frozen=True)
class DoctorFinding:
    """One thing looked at; the remedy is empty exactly when it passed."""

    item: str
    verdict: Verdict
    detail: str
    remedy: str = ''

    def as_dict(self) -> dict[str, str]:
        """Return the finding with the verdict as text, for JSON."""
        return {**asdict(self), 'verdict': self.verdict.value}

    def __str__(self) -> str:
        line = f'{self.verdict.value}  {self.item}: {self.detail}'
        return f'{line}\n      remedy: {self.remedy}' if self.remedy else line


def passed(item: str, detail: str) -> DoctorFinding:
    """Return a finding as it should be."""
    return DoctorFinding(item, Verdict.PASS, detail)


def warning(item: str, detail: str, remedy: str) -> DoctorFinding:
    """Return a finding that leaves something optional out of reach."""
    return DoctorFinding(item, Verdict.WARN, detail, remedy)


def failed(item: str, detail: str, remedy: str) -> DoctorFinding:
    """Return a finding that has to be mended."""
    return DoctorFinding(item, Verdict.FAIL, detail, remedy)
