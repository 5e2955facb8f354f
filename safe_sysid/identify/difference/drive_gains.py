"""Newton metres per unit of effort, sign included, from one mass that is known.

The centre of mass and the inertia of the body are unknowns like the arm; the mass alone gives
everything its unit. Noise is in the effort i, so residuals are taken there:

    i_j - (Y x + Y_L phi)_j / g_j        phi_1 = m

Linear least squares with g_j i_j as columns has its noise in the regressors and finds gains that
are too small; here it is a start only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtri

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.difference.friction_choice import chosen_friction
from safe_sysid.identify.difference.friction_terms import FrictionTerms
from safe_sysid.identify.difference.rows import DifferenceRows, Stretch, moving, rows_of
from safe_sysid.identify.difference.torque_delay import TorqueDelay
from safe_sysid.input_file import listed
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.symmetric_eigen import symmetric_eigen

STEPS = 60
SETTLED = 1e-9  # change of ln g
LARGEST_STEP = 0.5  # of ln g
USUAL = 10.0  # [N m] per unit, where to start besides
BLOCK = 2.0  # [s] of residuals that count as one
DECIDED = 3.0  # deviations that a gain has to be away from 0
UNKNOWN = 0.1  # relative deviation beyond which a gain is not calibrated
ROUNDS = 3  # of evaluating friction under load
DIFFER = 3.0  # mean square of deviations between pairs, beyond which they disagree
REFUTED = 0.999  # probability beyond which a described body is not the one held
THRESHOLD = 1e-3  # of directions of the arm
LEAST_WEIGHT = 1e-9
PRIOR_OF_BODY = np.array([5.0, 5.0, 5.0, *(0.1,) * 6])  # [kg m], [kg m^2] deviations around 0


@dataclass(frozen=True, eq=False)
class DriveGains:
    """Signed gain of every joint, how well its logarithm is known, and the body that was held."""

    gain: Array  # (n,) [N m per unit]
    log_covariance: Array  # (n, n) of ln |g|
    phi: Array  # (10,) of the body, its mass as given
    phi_covariance: Array  # (9, 9) of all but the mass
    misfit: Array  # (n,) residual as share of the effort
    terms: FrictionTerms
    blocks: int  # of residuals that deviations are from
    delay: TorqueDelay | None = None  # of the effort, where it was looked for

    @property
    def deviation(self) -> Array:
        """Standard deviation of each gain, (n,)."""
        deviation: Array = np.abs(self.gain) * np.sqrt(np.diag(self.log_covariance))
        return deviation

    @property
    def sign(self) -> Array:
        """+1, or -1 where the driver counts against the joint axis."""
        return np.sign(self.gain)

    @property
    def undecided(self) -> AnyArray:
        """Joints whose sign the data leave open, (n,) bool."""
        open_signs: AnyArray = np.abs(self.gain) < DECIDED * self.deviation
        return open_signs

    @property
    def uncalibrated(self) -> AnyArray:
        """Joints whose gain is hardly known, (n,) bool."""
        unknown: AnyArray = self.deviation > UNKNOWN * np.abs(self.gain)
        return unknown

    def refutes(self, body: Array) -> str | None:
        """Return why a described body is not the one that was held, if so."""
        off = body[1:] - self.phi[1:]
        distance = float(off @ np.linalg.solve(self.phi_covariance, off))
        p, m = len(off), max(self.blocks, len(off) + 2)
        limit = float(p * (m - 1) / (m - p) * fdtri(p, m - p, REFUTED))
        if distance <= limit:
            return None
        com = ', '.join(f'{x:.3f}' for x in self.phi[1:4] / self.phi[0])
        return (
            f'the body held is not the one described: its centre of mass is at ({com}) m of the '
            f'frame of the last joint, and both are {np.sqrt(distance):.1f} deviations apart '
            f'({np.sqrt(limit):.1f} at most); give its mass alone'
        )


def gains_of_stretches(model: RobotModel, stretches: Sequence[Stretch], mass: float) -> DriveGains:
    """Gains from recordings without and with a body of known mass [kg], in units of the effort."""
    if not mass > 0.0:
        raise MeasurementError(f'the known body exerts no torque: it weighs nothing ({mass} kg)')
    rows = moving(rows_of(model, stretches, FrictionTerms()))
    _check_motion(model, rows)
    found, x = _gains(rows, mass, FrictionTerms())
    scaled = [s.with_gains(found.gain) for s in stretches]
    terms = chosen_friction(model, [s for s in scaled if not s.loaded]).terms
    for _ in range(ROUNDS if terms.load else 1):
        rows = moving(rows_of(model, stretches, terms, x, found.phi))
        found, x = _gains(rows, mass, terms)
    return found


def _check_motion(model: RobotModel, rows: DifferenceRows) -> None:
    """Raise where an arm stands in all recordings of a kind, or a joint in all there are."""
    for kind, some in (('without', ~rows.loaded), ('with', rows.loaded)):
        if not rows.counts[some].any():
            raise MeasurementError(
                f'the arm stands in the recordings {kind} the known body, or moves too little for '
                'the filter to leave anything; gains are found from arms that move in both kinds'
            )
    still = np.flatnonzero(~np.any(rows.counts, axis=0))
    if still.size:
        names = [model.layout.joint_names[j] for j in still]
        raise MeasurementError(
            f'gains of joints that never move can not be found: {listed(names)}'
        )


def pooled(pairs: Sequence[DriveGains]) -> tuple[DriveGains, str | None]:
    """Weighted mean of gains of several pairs, and a sentence if these disagree."""
    if len(pairs) == 1:
        return pairs[0], None
    signs = np.array([pair.sign for pair in pairs])
    differ = np.flatnonzero((signs != signs[0]).any(axis=0))
    if len(differ):
        joints = ', '.join(str(j + 1) for j in differ)
        raise MeasurementError(
            'recordings with the payload disagree about the sign of the effort of joint '
            f'{joints}: in one of them the arm holds nothing, or another mass than is said'
        )
    weights = [np.linalg.inv(pair.log_covariance) for pair in pairs]
    covariance = np.linalg.inv(np.sum(weights, axis=0))
    logs = [np.log(np.abs(pair.gain)) for pair in pairs]
    mean = covariance @ np.sum([w @ x for w, x in zip(weights, logs, strict=True)], axis=0)
    squares = sum(float((x - mean) @ w @ (x - mean)) for w, x in zip(weights, logs, strict=True))
    spread = squares / (len(mean) * (len(pairs) - 1))
    first = pairs[0]
    joined = DriveGains(
        signs[0] * np.exp(mean), covariance * max(1.0, spread), first.phi, first.phi_covariance,
        np.max([pair.misfit for pair in pairs], axis=0), first.terms,
        sum(pair.blocks for pair in pairs), first.delay,
    )  # fmt: skip
    if spread <= DIFFER:
        return joined, None
    return joined, (
        f'gains differ between pairs of recordings {np.sqrt(spread):.1f} times as much as their '
        'deviations say; deviations are enlarged by that'
    )


def _gains(rows: DifferenceRows, mass: float, terms: FrictionTerms) -> tuple[DriveGains, Array]:
    """Best of several starts, and the parameters of the arm."""
    basis = _basis(rows)
    columns = np.concatenate(
        [rows.Y @ basis, rows.Y_L[:, :, 1:] * rows.loaded[:, None, None]], axis=2
    )
    known = rows.Y_L[:, :, 0] * rows.loaded[:, None] * mass
    linear = _linear(columns, known, rows)
    fits = [_fit(columns, known, rows, start) for start in (linear, np.sign(linear) * USUAL)]
    best = min(fits, key=lambda fit: fit.cost)
    k = basis.shape[1]
    z = best.z
    covariance, blocks = _sandwich(columns, known, rows, best)
    size = np.sqrt(np.sum(rows.tau**2, axis=0))
    misfit = np.sqrt(np.sum((best.residual * rows.counts) ** 2, axis=0)) / np.maximum(size, 1e-300)
    found = DriveGains(
        best.gain, covariance[k + 9 :, k + 9 :], np.append(mass, z[k:]),
        covariance[k : k + 9, k : k + 9], misfit, terms, blocks,
    )  # fmt: skip
    return found, basis @ z[:k]


@dataclass(frozen=True, eq=False)
class _Fit:
    """Where Gauss-Newton ended."""

    z: Array  # (k + 9,) arm and body
    gain: Array  # (n,)
    sigma: Array  # (n,) of the effort
    residual: Array  # (N, n)
    cost: float


def _basis(rows: DifferenceRows) -> Array:
    """Directions of the arm that rows tell apart, joints by the size of their effort, (p, k)."""
    weighted = rows.Y * rows.counts[:, :, None]
    flat = weighted.reshape(-1, rows.Y.shape[2])
    size = np.linalg.norm(flat, axis=0)
    used = size > LEAST_WEIGHT * size.max()
    scale = np.where(used, 1.0 / np.where(used, size, 1.0), 0.0)
    values, vectors = symmetric_eigen((flat * scale).T @ (flat * scale))
    kept = values > THRESHOLD**2 * values[-1]
    return np.asarray(scale[:, None] * vectors[:, kept])


def _linear(columns: Array, known: Array, rows: DifferenceRows) -> Array:
    """Gains of linear least squares, too small and of the right sign."""
    N, n, k = columns.shape
    table = np.zeros((N, n, k + n))
    table[:, :, :k] = columns
    table[:, np.arange(n), k + np.arange(n)] = -rows.tau
    table *= rows.counts[:, :, None]
    solution, *_ = np.linalg.lstsq(
        table.reshape(N * n, -1), -(known * rows.counts).ravel(), rcond=1e-9
    )
    gain = np.asarray(solution[k:], dtype=float)
    if np.any(gain == 0.0):
        raise MeasurementError('a joint shows no signal at all, its gain can not be found')
    return gain


def _fit(columns: Array, known: Array, rows: DifferenceRows, start: Array) -> _Fit:
    """Gauss-Newton on arm, body and ln |g|."""
    gain, sigma = start.copy(), np.sqrt(np.mean(rows.tau**2, axis=0)) + 1e-300
    k, n = columns.shape[2], columns.shape[1]
    z = _solved(columns, known, rows, gain, sigma)
    for _ in range(STEPS):
        torque = columns @ z + known
        residual = (rows.tau - torque / gain) * rows.counts
        count = np.maximum(rows.counts.sum(axis=0), 1)
        sigma = np.sqrt(np.sum(residual**2, axis=0) / count) + 1e-12 * np.abs(sigma).max()
        J = _slope(columns, torque, rows, gain, sigma)
        H = J.T @ J + np.diag(_prior_weight(k, n))
        pull = J.T @ (residual / sigma).ravel() + _prior_weight(k, n) * np.append(z, np.zeros(n))
        step = -_solve(H, pull)
        change = np.clip(step[k:], -LARGEST_STEP, LARGEST_STEP)
        gain = gain * np.exp(change)
        z = z + step[:k]
        if np.abs(change).max() < SETTLED:
            break
        z = _solved(columns, known, rows, gain, sigma)
    residual = (rows.tau - (columns @ z + known) / gain) * rows.counts
    cost = float(np.sum(np.log(np.mean(residual**2, axis=0) + 1e-300)))
    return _Fit(z, gain, sigma, residual, cost)


def _slope(
    columns: Array, torque: Array, rows: DifferenceRows, gain: Array, sigma: Array
) -> Array:
    """Derive weighted residuals by arm, body and ln |g|, (N n, k + n)."""
    N, n, k = columns.shape
    J = np.zeros((N, n, k + n))
    J[:, :, :k] = -columns / gain[:, None]
    J[:, np.arange(n), k + np.arange(n)] = torque / gain
    flat: Array = (J * (rows.counts / sigma)[:, :, None]).reshape(N * n, -1)
    return flat


def _prior_weight(k: int, n: int) -> Array:
    """Weights of what is known of the body before: the last nine of k unknowns."""
    weight = np.zeros(k + n)
    weight[k - 9 : k] = PRIOR_OF_BODY**-2.0
    return weight


def _solved(
    columns: Array, known: Array, rows: DifferenceRows, gain: Array, sigma: Array
) -> Array:
    """Arm and body for given gains."""
    k = columns.shape[2]
    weight = (rows.counts / (sigma * np.abs(gain)))[:, :, None]
    A = (columns * weight).reshape(-1, k)
    right = ((rows.tau * gain - known)[:, :, None] * weight).ravel()
    return _solve(A.T @ A + np.diag(_prior_weight(k, 0)), A.T @ right)


def _solve(H: Array, right: Array) -> Array:
    """Solve with columns of like size."""
    size = np.sqrt(np.maximum(np.diag(H), 1e-300))
    scaled, *_ = np.linalg.lstsq(H / size / size[:, None], right / size, rcond=1e-13)
    return np.asarray(scaled / size, dtype=float)


def _sandwich(columns: Array, known: Array, rows: DifferenceRows, fit: _Fit) -> tuple[Array, int]:
    """Covariance of arm, body and ln |g| by blocks of residuals, and how many these are."""
    k, n = columns.shape[2], columns.shape[1]
    J = _slope(columns, columns @ fit.z + known, rows, fit.gain, fit.sigma)
    H = J.T @ J + np.diag(_prior_weight(k, n))
    inverse = np.linalg.pinv(H / _outer(H), rcond=1e-13, hermitian=True) / _outer(H)
    weighted = (fit.residual / fit.sigma).ravel()
    scores = (J * weighted[:, None]).reshape(len(rows), n, -1).sum(axis=1)
    per_block = max(round(BLOCK * rows.rate), 1)
    blocks = [
        scores[part].sum(axis=0)
        for number in np.unique(rows.stretch)
        for part in np.array_split(
            np.flatnonzero(rows.stretch == number),
            max(int(np.count_nonzero(rows.stretch == number)) // per_block, 1),
        )
    ]
    S = np.array(blocks)
    few = len(S) / max(len(S) - 1, 1)
    count = max(int(np.count_nonzero(rows.counts)), 1)
    few *= count / max(count - len(H), 1)
    shrinkage = np.diag(_prior_weight(k, n))  # by what is known of the body before
    covariance: Array = inverse @ (few * S.T @ S + shrinkage) @ inverse
    return covariance, len(S)


def _outer(H: Array) -> Array:
    size = np.sqrt(np.maximum(np.diag(H), 1e-300))
    products: Array = np.outer(size, size)
    return products
