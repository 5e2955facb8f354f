"""Which experiments there are, and what one is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from safe_sysid.config import Count, Natural, Settings

NAMES = {
    'table2': 'Table II: what each of eleven methods knows',
    'table3': 'Table III: eleven methods stack dumbbells they do not know',
    'table4': 'Table IV: condition numbers of torque and momentum regressors',
    'table5': 'Table V, figures 5 to 10: what four plans teach about a dumbbell',
    'figures5-12': 'Figures 5 to 12: what plans teach, and how every method tracks',
    'digit': 'Tables I to IV: legs with closed loops, identified, predicted and tracked',
    'excitation': 'Motions under contact constraints, and what signals and regressions do',
    'kinematics': 'Geometry from noisy poses: how many, and random or D-optimal ones',
    'neighbourhoods': 'Bodies identified near a wrong description, judged on another motion',
    'mechanisms': 'Tables 2, 4, 5 and 6: what can be known of published mechanisms',
    'falsify': 'Falsification: closed loops searched for a promise that is not kept',
}


@dataclass(frozen=True)
class ExperimentSettings(Settings):
    """How much, from which seed, and where rows are kept."""

    trials: Count | None = None  # a cell; each experiment has its own number when none is given
    seed: Natural = 1  # of the random numbers
    quick: bool = False  # fewer cells, shorter searches, and one trial in each
    cluster: str = ''  # address of a Dask scheduler, tcp://HOST:PORT; else processes of our own
    workers: Count | None = None  # processes of our own, as many as there are cores when not given
    resume: Path | None = None  # go on with the campaign in this folder
    out: Path | None = None  # keep the rows in this folder; else experiment_NAME
