"""What an excitation has taught, as the row from which tasks begin."""

from __future__ import annotations

from dataclasses import dataclass
import json

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.experiment.trial import Row
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

ADAPTING = ('adaptive', 'adaptive_robust')  # laws
FIGURES = (
    'mass_half_width',
    'mass_error',
    'condition',
    'truth_inside',
    'excite_torque_share',
    'excite_touches_itself',
    'excite_plans',
)


@dataclass(frozen=True, eq=False)
class Taught:
    """What is known after an excitation, and whether it kept all limits."""

    estimate: ParameterEstimate
    adapted: dict[str, Array]  # theta of each adaptive law after the same motions
    figures: Row
    with_tare: ParameterEstimate | None = None  # after these motions without a load, too

    @property
    def is_safe(self) -> bool:
        """Whether the arm kept its torque limits and did not touch itself."""
        share = float(str(self.figures['excite_torque_share']))
        return share <= 1.0 and not self.figures['excite_touches_itself']

    @staticmethod
    def of_row(nominal: RobotModel, row: Row) -> Taught:
        """As it was before it was a row."""
        theta, lower, upper = (np.array(json.loads(str(row[x]))) for x in ENDS)
        estimate = ParameterEstimate(nominal.layout, theta, Interval(lower, upper))
        kept = {law: np.array(json.loads(str(row[law]))) for law in ADAPTING if law in row}
        return Taught(estimate, kept, {name: row[name] for name in FIGURES})


ENDS = ('theta', 'theta_lower', 'theta_upper')
