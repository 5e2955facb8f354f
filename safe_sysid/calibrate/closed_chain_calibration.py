"""Calibration of a robot with loops: a fit, judged by what was held out of it."""

from __future__ import annotations

from dataclasses import dataclass

from safe_sysid.calibrate.closed_chain_fit import ClosedChainFit, closed_chain_fit
from safe_sysid.calibrate.closed_chain_rows import closed_chain_rows
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.recorded_motion import Recorded
from safe_sysid.calibrate.settings import ClosedChainSettings
from safe_sysid.calibrate.torque_rows import joined
from safe_sysid.calibrate.validation import TorqueError, torque_error
from safe_sysid.model.closed_chain.chain import ClosedChain

HELD_OUT = 0.4  # share of a recording that judges the fit, when no other one is named


@dataclass(frozen=True, eq=False)
class ClosedChainCalibration:
    """A fit, and the torque errors of its parameters and of the description."""

    fit: ClosedChainFit
    identified: TorqueError
    nominal: TorqueError
    settings: ClosedChainSettings
    remarks: tuple[str, ...]


def calibrated(
    chain: ClosedChain, fitted: Recorded, others: Recorded, settings: ClosedChainSettings
) -> ClosedChainCalibration:
    """Fit and judge; without other recordings the end of each one judges."""
    training, held = fitted.logs, others.logs
    if not held:
        held = [log.part(1.0 - HELD_OUT, 1.0) for log in training]
        training = [log.part(0.0, 1.0 - HELD_OUT) for log in training]
    fit = closed_chain_fit(chain, training, settings)
    columns = FitColumns(chain.model.layout, settings.creep)
    rows = joined(
        [closed_chain_rows(chain, columns, fit.selection, log, settings.cutoff) for log in held]
    )
    nominal = chain.model.theta[fit.selection.entries]
    remarks = (*fitted.remarks, *others.remarks)
    return ClosedChainCalibration(
        fit, torque_error(rows, fit.x), torque_error(rows, nominal), settings, remarks
    )
