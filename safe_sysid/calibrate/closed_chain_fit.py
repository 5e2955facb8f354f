"""Fit of a fully actuated robot with closed loops: friction, armature and bodies that can exist.

    minimise   |(u - G' W theta) / sigma|^2 + prior     u: motor torques
    such that  Fc, Fv, Ia >= 0 and every body can exist

It is the problem of an open arm with G' W in place of W, convex in theta: one solve finds the
optimum, more starts would find the same. Noise and outliers are settled before, by reweighting.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.calibrate.closed_chain_rows import (
    DEPENDENT,
    Selection,
    closed_chain_rows,
    random_columns,
    selection_of,
)
from safe_sysid.calibrate.consistency import Consistency, consistency_of
from safe_sysid.calibrate.drive_knowledge import DRIVES, DriveKnowledge, knowledge_of_joints
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.reweighted_fit import ReweightedFit, base_solver, reweighted_fit
from safe_sysid.calibrate.sdp_fit import SdpFit, sdp_fit
from safe_sysid.calibrate.separability import Separability, separability, silent_columns
from safe_sysid.calibrate.settings import ClosedChainSettings
from safe_sysid.calibrate.torque_rows import MOTION, TorqueRows, joined, motion_of
from safe_sysid.calibrate.uncertainty import FitUncertainty, uncertainty_of
from safe_sysid.calibrate.validation import TorqueError, torque_error
from safe_sysid.identifiability.base_parameters import base_parameters
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
    drives: DriveKnowledge  # of the selected joints, in their order

    @property
    def known(self) -> AnyArray:
        """Which parameters have a figure of their own that the recordings tell, (p,)."""
        known: AnyArray = self.separability.alone & ~self._unknown
        return known

    def theta(self, nominal: Array) -> Array:
        """All parameters: the identified ones, and the nominal values of the others.

        Friction and armature of which nothing is known are 0, which counts as unknown.
        """
        theta: Array = nominal.copy()
        theta[self.selection.entries] = np.where(self._unknown, 0.0, self.x)
        return theta

    def unknown_drives(self, n: int) -> AnyArray:
        """Say of which Coulomb and viscous friction and armature (3, n) nothing is known."""
        unknown = np.zeros(DRIVES * n, dtype=bool)
        of_drives = self.selection.of_joints[:DRIVES]
        unknown[self.selection.entries[of_drives] - 10 * n] = self.drives.unknown
        return unknown.reshape(DRIVES, n)

    @property
    def _unknown(self) -> AnyArray:
        unknown = np.zeros(len(self.labels), dtype=bool)
        unknown[self.selection.of_joints[:DRIVES]] = self.drives.unknown
        return unknown


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
    motions = [motion_of(log, MOTION * settings.cutoff) for log in logs]
    speed = np.max([np.abs(motion.qd).max(axis=0) for motion in motions], axis=0)
    return fit_rows(chain, columns, selection, rows, settings, speed)


def fit_rows(
    chain: ClosedChain,
    columns: FitColumns,
    selection: Selection,
    rows: TorqueRows,
    settings: ClosedChainSettings,
    speed: Array,
) -> ClosedChainFit:
    """Fit rows of the selected parameters; `speed` (n_a,) [rad/s] is the largest of each motor."""
    labels = tuple(columns.labels[i] for i in selection.entries)
    usual = random_columns(chain, columns, selection, np.random.default_rng(0))
    base = base_parameters(usual.reshape(-1, len(labels)), DEPENDENT)
    silent = silent_columns(rows.Y, usual)
    rows = replace(rows, Y=np.where(silent, 0.0, rows.Y))
    fit = reweighted_fit(rows.Y, rows.tau, base_solver(base), base.count, settings.outlier)
    consistent = sdp_fit(
        fit.data, consistency_of_selection(chain, columns, selection, settings.prior_weight)
    )
    uncertainty = uncertainty_of(base, rows, rows.tau - rows.Y @ fit.x, fit.kept)
    separable = separability(fit.data, base, labels, silent)
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
        drives=_drives(chain, columns, selection, (consistent.x, deviation), speed),
    )


def _drives(
    chain: ClosedChain,
    columns: FitColumns,
    selection: Selection,
    found: tuple[Array, Array],
    speed: Array,
) -> DriveKnowledge:
    """Return what is known of each joint; one without a motor stands where all motors do."""
    of_joints = selection.of_joints
    joints = selection.entries[of_joints[0]] - columns.layout.joint_entries('Fc').start
    each = np.full(chain.model.n, speed.max())
    each[chain.actuated] = speed
    figures, deviation = (x[of_joints[:DRIVES]] for x in found)
    known = figures, np.nan_to_num(deviation, nan=0.0)
    return knowledge_of_joints(chain.model, columns, joints, known, each[joints])


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
