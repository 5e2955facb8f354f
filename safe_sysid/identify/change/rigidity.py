"""Whether what is held moves as one rigid body, by what windows of a recording leave unexplained.

What sloshes, swings or flexes pulls at the hand with a force that no theta explains. In every
window that is an impulse P_t f_t of the rows, P_t the Jacobian of its centre (3 columns), while
friction that nobody modelled moves single joints. With x = (theta, gains) before anything was
measured, the rows of a block of T windows are

    e = b - H x_0 ~ N(0, S),   S = H P_0 H' + noise of sensors + impulses of unmodelled torque,

so theta needs no fit: it is part of S. Two tests of a rigid payload, both of which have to reject:

    tone   2 log likelihood gained by P_t (a cos 2 pi f t + c sin 2 pi f t), f from 1 to 8 Hz:
           chi squared with 6 degrees of freedom per block, the largest of all frequencies
    Ljung-Box   innovations of the force that explains each window best, 3 independent series
           of unit variance: products over lags of 1 to 10 windows, normal without correlation

Both are divided by how much larger the rows are than S says where no force at the hand moves them,
so that an arm that is known less well than was said is not called a liquid.

The rate of false alarms is below `probability` per recording if unmodelled torque is as in
`ChangeTest`. That is statistics; no bound rests on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.change.chi_square import chi_square_quantile
from safe_sysid.identify.change.impulse_noise import impulse_covariance, sensor_variance
from safe_sysid.identify.change.shared_posterior import SharedPosterior
from safe_sysid.identify.observation import Observation, stacked

BLOCK = 160  # windows
LAGS = 10  # windows
BAND = (1.0, 8.0)  # [Hz]
FORCE = 3  # its components
TONE = 6  # degrees of freedom of a tone
RANK = 1e-9  # of the largest singular value; directions of less are not fitted
UNSEEN = 1e-9  # share of the information about the best seen direction of a force
FEWEST = 30  # windows of a block
TOGETHER = 64  # rows; products of matrices do the rest


@dataclass(frozen=True)
class UnmodelledTorque:
    """What no model has of the torque of a joint, as in `ChangeTest`."""

    deviation: float = 0.3  # [N m]
    memory: float = 0.05  # [s]


@dataclass(frozen=True)
class Rigidity:
    """What windows say of a rigid payload."""

    windows: int
    tone: float  # statistic of the loudest frequency
    frequency: float  # [Hz] of it
    tone_threshold: float  # above which it rejects a rigid body
    ljung_box: float
    ljung_box_threshold: float
    excess: float  # variance of rows that no force at the hand moves, in that expected; at least 1
    force: float  # [N] root mean square of what the loudest tone pulls with
    seen_from: float  # [N] root mean square of a tone there that would be an alarm by itself

    @property
    def rejects(self) -> bool:
        """Whether it is no rigid body."""
        return self.tone > self.tone_threshold and self.ljung_box > self.ljung_box_threshold

    @property
    def refusal(self) -> str | None:
        """Why bounds on a rigid body do not hold for what is held; None: they may."""
        if not self.rejects:
            return None
        return (
            f'assumption A1 does not hold: {self}; bounds on a rigid body are none on it. State '
            'how hard it can pull beyond a rigid body (--slosh-force), or keep it from moving'
        )

    def __str__(self) -> str:
        figures = (
            f'{self.tone:.0f} at {self.frequency:.1f} Hz where {self.tone_threshold:.0f} is an '
            f'alarm, correlation {self.ljung_box:.0f} where {self.ljung_box_threshold:.0f} is '
            f'one, {self.windows} windows'
        )
        if not self.rejects:
            return (
                f'nothing speaks against a rigid body; a pull of {self.seen_from:.2g} N at '
                f'{self.frequency:.1f} Hz would ({figures})'
            )
        return (
            f'what is held is NOT RIGID: it pulls at the hand with about {self.force:.1f} N at '
            f'{self.frequency:.1f} Hz, as what sloshes, swings or flexes does ({figures})'
        )


@dataclass(frozen=True, eq=False)
class WindowRows:
    """Rows of one window, and the impulse in them of 1 N on the object along each base axis."""

    rows: Observation
    pushes: Array  # (m, 3)


def rigidity(
    windows: Sequence[WindowRows],
    before: SharedPosterior,
    samples: int,
    unmodelled: UnmodelledTorque | None = None,
    probability: float = 1e-3,
) -> Rigidity | None:
    """Test windows of `samples` samples that follow each other; None: they cannot tell.

    There may be too few of them; or so few joints that a force explains whatever they do.
    `before` is what is believed of theta and of the gains before any of them.
    """
    noise = unmodelled or UnmodelledTorque()
    if len(windows) < FEWEST or min(len(each.rows) for each in windows) <= FORCE:
        return None
    count = max(1, len(windows) // BLOCK)
    blocks = [
        _Block(windows[int(first) : int(last)], before, samples, noise)
        for first, last in _parts(len(windows), count)
    ]
    seconds = blocks[0].seconds
    frequencies = np.arange(BAND[0], BAND[1], 0.5 / seconds)
    excess = max(1.0, float(np.mean([block.excess for block in blocks])))
    tones = np.array([block.tones(frequencies) for block in blocks])
    statistic = tones[..., 0].sum(axis=0) / excess
    loudest = int(np.argmax(statistic))
    threshold = chi_square_quantile(TONE * len(blocks), probability / len(frequencies))
    information = float(tones[:, loudest, 2].sum())  # of a force in the direction seen least
    products = np.concatenate([block.lag_products() for block in blocks])
    degrees = LAGS * 3 * len(blocks)
    return Rigidity(
        len(windows),
        float(statistic[loudest]),
        float(frequencies[loudest]),
        threshold,
        float((products**2).sum() / excess**2),
        chi_square_quantile(degrees, probability),
        excess,
        float(np.sqrt(np.mean(tones[:, loudest, 1] ** 2))),
        float(np.sqrt(0.5 * threshold * excess / max(information, 1e-300))),
    )


def _parts(windows: int, count: int) -> list[tuple[int, int]]:
    ends = np.linspace(0, windows, count + 1).astype(int)
    return list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))


class _Block:
    """Whitened rows of windows that follow each other, and of forces at the hand."""

    def __init__(
        self,
        windows: Sequence[WindowRows],
        before: SharedPosterior,
        samples: int,
        noise: UnmodelledTorque,
    ) -> None:
        rows = stacked([each.rows for each in windows])
        spans = [(float(each.rows.start[0]), float(each.rows.end[0])) for each in windows]
        number = np.repeat(np.arange(len(windows)), [len(each.rows) for each in windows])
        shared = impulse_covariance(spans, noise.deviation, noise.memory)
        H = before.row_matrix(rows)
        S = H @ before.covariance @ H.T
        for joint in np.unique(rows.joint):
            own = np.flatnonzero(rows.joint == joint)
            S[np.ix_(own, own)] += shared[np.ix_(number[own], number[own])]
        S[np.diag_indices(len(S))] += sensor_variance(rows, samples)
        factor = np.linalg.cholesky(S)
        pushes = np.zeros((len(rows), len(windows), 3))
        pushes[np.arange(len(rows)), number] = np.concatenate([each.pushes for each in windows])
        columns = np.column_stack([pushes.reshape(len(rows), -1), rows.b - H @ before.mean])
        white = substituted(factor, columns)
        self._middle = np.array([0.5 * (start + end) for start, end in spans])
        self._recorded = sum(end - start for start, end in spans)  # [s]
        triangle = np.asarray(np.linalg.qr(white, mode='r'))  # there are more rows than columns
        self._triangle, self._in_force = triangle[:-1, :-1], triangle[:-1, -1]
        self.excess = float(triangle[-1, -1] ** 2) / max(len(rows) - len(self._in_force), 1)

    @property
    def seconds(self) -> float:
        """Length of the block, without gaps."""
        return min(float(self._middle[-1] - self._middle[0]), self._recorded)

    def tones(self, frequencies: Array) -> Array:
        """Likelihoods that forces of these frequencies gain, and their root mean squares [N].

        The third of each is the information about the direction of it that rows show least.
        """
        phase = 2.0 * np.pi * frequencies[:, None] * self._middle
        shapes = np.concatenate([np.cos(phase), np.sin(phase)])  # (2 F, T)
        rows, count = len(self._in_force), len(frequencies)
        along = self._triangle.reshape(rows, -1, FORCE).transpose(2, 0, 1) @ shapes.T
        D = along.reshape(FORCE, rows, 2, count).transpose(3, 1, 2, 0).reshape(count, rows, TONE)
        e = np.broadcast_to(self._in_force[:, None], (count, rows, 1))
        triangle = np.asarray(np.linalg.qr(np.concatenate([D, e], axis=2), mode='r'))
        U, s, _ = np.linalg.svd(triangle[:, :TONE, :TONE])
        gained = (U.transpose(0, 2, 1) @ triangle[:, :TONE, TONE:])[..., 0]
        gained[s <= RANK * s[:, :1]] = 0.0
        force = np.divide(gained, s, out=np.zeros_like(s), where=gained != 0.0)
        seen = np.where(s**2 > UNSEEN * s[:, :1] ** 2, s**2, np.inf)
        return np.column_stack(
            [(gained**2).sum(axis=1), np.sqrt(0.5 * (force**2).sum(axis=1)), seen.min(axis=1)]
        )

    def lag_products(self) -> Array:
        """Correlations of the force series at every lag, normal with unit variance, (lags * 3,).

        With W P = Q R the whitened rows are explained best by the force R^-1 Q' e; Q' e are its
        innovations, in the order of time.
        """
        series = self._in_force.reshape(-1, 3) * np.sign(_diagonal(self._triangle)).reshape(-1, 3)
        T = len(series)
        products = [
            (series[lag:] * series[:-lag]).sum(axis=0) / np.sqrt(T - lag)
            for lag in range(1, LAGS + 1)
        ]
        return np.concatenate(products)


def substituted(factor: Array, columns: Array) -> Array:
    """Return x with factor x = columns, for a lower triangle, TOGETHER rows at once."""
    x = np.array(columns, dtype=float)
    for first in range(0, len(factor), TOGETHER):
        own = slice(first, first + TOGETHER)
        x[own] -= factor[own, :first] @ x[:first]
        x[own] = np.linalg.solve(factor[own, own], x[own])
    return x


def _diagonal(triangle: Array) -> Array:
    return np.asarray(np.diag(triangle))
