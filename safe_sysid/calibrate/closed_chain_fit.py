"""Fit of a fully actuated robot with closed loops: friction, armature and bodies that can exist.

    minimise   |(u - G' W theta) / sigma|^2 + prior     u: motor torques
    such that  Fc, Fv, Ia >= 0 and every body can exist

It is the problem of an open arm with G' W in place of W, convex in theta: one solve finds the
optimum, more starts would find the same. Noise and outliers are settled before, by reweighting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.closed_chain_rows import (
    Selection,
    closed_base_parameters,
    closed_chain_rows,
    selection_of,
)
from safe_sysid.calibrate.consistency import Consistency, consistency_of
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.reweighted_fit import ReweightedFit, base_solver, reweighted_fit
from safe_sysid.calibrate.sdp_fit import SdpFit, sdp_fit
from safe_sysid.calibrate.separability import Separability, separability
from safe_sysid.calibrate.settings import ClosedChainSettings
from safe_sysid.calibrate.torque_rows import TorqueRows, joined
from safe_sysid.calibrate.uncertainty import FitUncertainty, uncertainty_of
from safe_sysid.calibrate.validation import TorqueError, torque_error
from safe_sysid.model.closed_chain.assembly_modes import check_unique
from safe_sysid.model.closed_chain.chain import ClosedChain

CHECKED = 12  # configurations of a recording in which a second closure is looked for


@dataclass(frozen=True, eq=False)
class ClosedChainFit:
    """Identified parameters of a closed chain, and what they are worth."""

    selection: Selection
    labels: tuple[str, ...]  # (p,)
    x: Array  # (p,) physically consistent
    deviation: Array  # (p,) standard deviations; nan where only a combination is known
    separability: Separability
    reweighted: ReweightedFit
    consistent: SdpFit
    uncertainty: FitUncertainty
    training: TorqueError

    def theta(self, nominal: Array) -> Array:
        """All parameters: the identified ones, and the nominal values of the others."""
        theta: Array = nominal.copy()
        theta[self.selection.entries] = self.x
        return theta


def closed_chain_fit(
    chain: ClosedChain, logs: list[EvenLog], settings: ClosedChainSettings
) -> ClosedChainFit:
    """Fit recordings of the actuated joints."""
    selection = selection_of(chain, settings.identified)
    columns = FitColumns(chain.model.layout, settings.creep)
    for log in logs:
        chosen = np.linspace(0, len(log.q) - 1, CHECKED).astype(int)
        check_unique(chain, chain.close(log.q[chosen]))
    rows = joined(
        [closed_chain_rows(chain, columns, selection, log, settings.cutoff) for log in logs]
    )
    return fit_rows(chain, columns, selection, rows, settings)


def fit_rows(
    chain: ClosedChain,
    columns: FitColumns,
    selection: Selection,
    rows: TorqueRows,
    settings: ClosedChainSettings,
) -> ClosedChainFit:
    """Fit rows of the selected parameters."""
    labels = tuple(columns.labels[i] for i in selection.entries)
    base = closed_base_parameters(chain, columns, selection, np.random.default_rng(0))
    fit = reweighted_fit(rows.Y, rows.tau, base_solver(base), base.count, settings.outlier)
    consistent = sdp_fit(
        fit.data, consistency_of_selection(chain, columns, selection, settings.prior_weight)
    )
    uncertainty = uncertainty_of(base, rows, rows.tau - rows.Y @ fit.x, fit.kept)
    separable = separability(fit.data, base, labels)
    deviation = np.full(len(labels), np.nan)
    deviation[base.columns] = uncertainty.deviation()
    deviation[~separable.alone] = np.nan
    return ClosedChainFit(
        selection=selection,
        labels=labels,
        x=consistent.x,
        deviation=deviation,
        separability=separable,
        reweighted=fit,
        consistent=consistent,
        uncertainty=uncertainty,
        training=torque_error(rows, consistent.x),
    )


def consistency_of_selection(
    chain: ClosedChain, columns: FitColumns, selection: Selection, weight: float
) -> Consistency:
    """Physical limits of the selected parameters."""
    count = len(selection.bodies)
    priors = np.zeros((0, 4, 4))
    if count:
        whole = consistency_of(chain.model, columns, weight)
        priors = whole.priors[list(selection.bodies)]
    return Consistency(
        tuple(slice(10 * i, 10 * i + 10) for i in range(count)),
        priors,
        weight if count else 0.0,
        np.flatnonzero(np.isin(selection.entries, columns.nonnegative)),
    )
