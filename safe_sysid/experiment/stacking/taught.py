"""What an excitation has taught, as the row from which tasks begin."""

from __future__ import annotations

from dataclasses import dataclass
import json

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.experiment.stacking.learning import Learned, Phase, learned, touches_itself
from safe_sysid.experiment.stacking.methods import ADAPTING, adapted
from safe_sysid.experiment.trial import Row
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

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


def excitation_row(phase: Phase) -> Row:
    """Carry out a phase; numbers are kept to every bit."""
    taught = learned(phase)
    bounds = taught.estimate.bounds
    values = (taught.estimate.theta, bounds.lower, bounds.upper)
    row: Row = {name: _text(x) for name, x in zip(ENDS, values, strict=True)}
    if phase.kind == 'exciting':
        row |= {law: _text(adapted(law, phase)) for law in ADAPTING}
    return row | _figures(taught) | {'violation': not taught.contains_truth}


def _text(values: Array) -> str:
    return json.dumps(np.asarray(values).tolist())


def _figures(taught: Learned) -> Row:
    place = taught.arm.truth.layout.end_effector
    mass = float(taught.arm.truth.theta[place][0])
    return {
        'mass_half_width': float(taught.estimate.end_effector_bounds.radius[0]),
        'mass_error': float(taught.estimate.end_effector[0] - mass),
        'condition': taught.condition,
        'truth_inside': taught.contains_truth,
        'excite_torque_share': taught.torque_share,
        'excite_touches_itself': touches_itself(taught),
        'excite_plans': taught.plans,
    }
