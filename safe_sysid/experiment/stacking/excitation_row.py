"""An excitation as a row: carried out once, for all the trials that begin with it."""

from __future__ import annotations

import json

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.experiment.stacking.learning import Learned, Phase, learned, touches_itself
from safe_sysid.experiment.stacking.methods import adapted
from safe_sysid.experiment.stacking.taught import ADAPTING, ENDS
from safe_sysid.experiment.trial import Row


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
