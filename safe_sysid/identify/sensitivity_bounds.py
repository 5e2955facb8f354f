"""An estimate, not a guarantee: bounds on theta_e from the slope of the fit, eq. (46) at a point.

The theorem behind the equation wants the slope at an unknown point between the data and the
truth. Evaluated at the data, as published, it is a first-order estimate: where the fit is pressed
against the edge of physical consistency its slope goes to zero in some directions and the bounds
close around a wrong value, although every error keeps its promise. Away from the edge it equals
the unweighted linear bounds, up to rounding. It is here for comparison.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.log_cholesky_fit import FitOutcome, FitResult, fit
from safe_sysid.identify.observation import Observation
from safe_sysid.model import log_cholesky
from safe_sysid.sets.interval import Interval


def sensitivity(observation: Observation, rest: Interval, prior: Interval) -> Interval:
    """Fit +- (|S Y_r| rad[theta_r] + |S| delta) with S = d theta_e / d U, an estimate.

    Where the data do not determine the fit there is no slope, and the prior is the answer.
    """
    typical = float(np.sqrt(np.mean(observation.delta**2))) if len(observation) else 1.0
    # the published fit has equal weights and no prior: small deltas leave all to the data
    equal = replace(observation, delta=np.full(len(observation), 1e-3 * typical))
    result = fit(equal, rest.center, prior.center)
    if result.outcome is FitOutcome.UNDETERMINED:
        return prior
    S = _slope(equal, rest.center, result)
    radius = np.abs(S @ observation.Y_r) @ rest.radius + np.abs(S) @ observation.delta
    return Interval.from_center_radius(result.phi, radius)


def _slope(observation: Observation, theta_r: Array, result: FitResult) -> Array:
    """S = P' H^-1 P'^T Y', eq. (46) with (43) and (44), (10, m)."""
    Y = observation.Y_e
    residual = Y @ result.phi - observation.response(theta_r)
    P = log_cholesky.jacobian(result.eta)
    of_map = np.einsum('k,kij->ij', Y.T @ residual, log_cholesky.second_derivatives(result.eta))
    H = P.T @ (Y.T @ Y) @ P + of_map
    # eta has entries of any size near the edge: a scaled H loses fewer digits
    scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(H)), 1e-300))
    inverse = scale[:, None] * np.linalg.pinv(scale[:, None] * H * scale, hermitian=True) * scale
    S: Array = P @ inverse @ P.T @ Y.T
    return S
