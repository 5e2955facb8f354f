"""What `safe-sysid bench` can measure, and what a member is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from safe_sysid.config import Count, Natural, Settings

MEMBERS = (
    'model',
    'identify',
    'reach',
    'track',
    'plan',
    'ros',
    'excite',
    'calibrate',
    'identifiability',
    'falsify',
    'constrained',
    'recordings',
    'arms',
    'changes',
    'learning',
    'rigidity',
    'handling',
    'search',
    'start',
)
FORMER = {'observability': 'identifiability'}  # names that are accepted until 0.2

Progress = Callable[[str], None]


@dataclass(frozen=True)
class BenchSettings(Settings):
    """What a member is asked for; each has its own number of trials when none is given."""

    trials: Count | None = None  # random trials
    seed: Natural = 1  # of the random numbers
    quick: bool = False  # less of everything, so that it ends within 40 s on two cores
    plots: Path | None = None  # draw the plots into this folder
    data: Path | None = None  # recordings: folder of real ones that others made, laid out as the
    # table of docs/recordings.md says; none: what SAFE_SYSID_DATA names, if anything; arms: of
    # the robots of example-robot-data, where that is not installed
    parts: Path | None = None  # handling: keep every trial in this folder, and run none again
    table4: bool = False  # identify: only the condition numbers of Table IV
    arms: bool = False  # plan: only first plans of every arm, bare and holding 2 kg; track: only
    # closed loops of every arm that is read late
