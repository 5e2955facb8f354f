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
MORE_FIGURES = (
    *('tare_mass_half_width', 'tare_holds_truth'),
    *('stat_mass_half_width', 'stat_holds_truth'),
)


@dataclass(frozen=True, eq=False)
class Taught:
    """What is known after an excitation, and whether it kept all limits."""

    estimate: ParameterEstimate
    adapted: dict[str, Array]  # theta of each adaptive law after the same motions
    figures: Row
    with_tare: ParameterEstimate | None = None  # after these motions without a load, too
    statistical: ParameterEstimate | None = None  # of these; None: it was withheld

    @property
    def is_safe(self) -> bool:
        """Whether the arm kept its torque limits and did not touch itself."""
        share = float(str(self.figures['excite_torque_share']))
        return share <= 1.0 and not self.figures['excite_touches_itself']

    @staticmethod
    def of_row(nominal: RobotModel, row: Row) -> Taught:
        """As it was before it was a row."""
        estimate = _estimate(nominal, row, '')
        kept = {law: np.array(json.loads(str(row[law]))) for law in ADAPTING if row.get(law)}
        figures = {name: row[name] for name in FIGURES}
        if not row.get('tare_theta'):
            return Taught(estimate, kept, figures)
        of_both = _estimate(nominal, row, 'tare_')
        statistical = _estimate(nominal, row, 'stat_') if row.get('stat_theta') else None
        figures |= {name: row.get(name) for name in MORE_FIGURES}
        return Taught(estimate, kept, figures, of_both, statistical)


def _estimate(nominal: RobotModel, row: Row, kind: str) -> ParameterEstimate:
    theta, lower, upper = (np.array(json.loads(str(row[f'{kind}{x}']))) for x in ENDS)
    return ParameterEstimate(nominal.layout, theta, Interval(lower, upper))


def columns_of(kind: str, estimate: ParameterEstimate) -> Row:
    """Return an estimate as cells of a row, to every bit."""
    bounds = estimate.bounds
    values = (estimate.theta, bounds.lower, bounds.upper)
    texts = (json.dumps(np.asarray(each).tolist()) for each in values)
    return {f'{kind}{name}': text for name, text in zip(ENDS, texts, strict=True)}


ENDS = ('theta', 'theta_lower', 'theta_upper')
