"""An excitation as a row: carried out once, for all the trials that begin with it."""

from __future__ import annotations

import json

import numpy as np

from safe_sysid.experiment.stacking.learning import Learned, Phase, learned, touches_itself
from safe_sysid.experiment.stacking.methods import adapted
from safe_sysid.experiment.stacking.tare import compared, estimate_with
from safe_sysid.experiment.stacking.taught import ADAPTING, columns_of
from safe_sysid.experiment.trial import Row


def excitation_row(phase: Phase) -> Row:
    """Carry out a phase; numbers are kept to every bit."""
    taught = learned(phase)
    row = columns_of('', taught.estimate) | _figures(taught)
    violation = not taught.contains_truth
    if phase.kind == 'exciting':
        row |= {law: json.dumps(adapted(law, phase).theta.tolist()) for law in ADAPTING}
        row |= _with_empty_arm(phase, taught)
        violation = violation or not row['tare_holds_truth']
    return row | {'violation': violation}


def _with_empty_arm(phase: Phase, taught: Learned) -> Row:
    """Return what the same plans without a load add, in bounds and in a statistical interval."""
    found, truth = compared(phase, taught), taught.arm.truth
    row: Row = columns_of('tare_', found.guaranteed) | {
        'tare_mass_half_width': float(found.guaranteed.end_effector_bounds.radius[0]),
        'tare_holds_truth': found.guaranteed.bounds.contains(truth.theta),
        'stat_withheld': found.withheld,
    }
    if found.statistical is None:
        return row
    mass = truth.theta[truth.layout.end_effector][:1]
    row |= columns_of('stat_', estimate_with(taught.estimate, found.statistical))
    row['stat_mass_half_width'] = float(found.statistical.radius[0])
    row['stat_holds_truth'] = found.statistical[:1].contains(np.asarray(mass))
    return row


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
