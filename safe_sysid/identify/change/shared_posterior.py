"""Gaussian belief in what rows depend on: theta_e, theta_r and the gain of every torque.

A row of joint j with measured impulse b of torques that are wrong by a gain g_j says

    Y_e theta_e + Y_r theta_r - b g_j = b + noise.

theta_r and the gains are the same whatever is held, so what one payload taught of them is known
of the next. This is statistics, beside the guaranteed bounds and not part of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.observation import Observation
from safe_sysid.sets.interval import Interval

BODY = 10  # entries of theta_e, the first of a state


@dataclass(frozen=True, eq=False)
class SharedPosterior:
    """Mean and covariance of x = (theta_e, theta_r, gains), in units of `scale` each."""

    mean: Array  # (k,)
    covariance: Array  # (k, k)
    scale: Array  # (k,) deviation of each before anything was measured

    @staticmethod
    def before(body: Interval, rest: Interval, gain: Array) -> SharedPosterior:
        """Independent entries; the ends of their bounds are one deviation from the middle."""
        middle = np.concatenate([body.center, rest.center, np.zeros(len(gain))])
        radius = np.concatenate([body.radius, rest.radius, gain])
        scale = np.maximum(radius, 1e-12)
        return SharedPosterior(middle / scale, np.eye(len(scale)), scale)

    def row_matrix(self, rows: Observation) -> Array:
        """H of these rows, b = H x + noise."""
        gains = np.zeros((len(rows), len(self.scale) - BODY - rows.Y_r.shape[1]))
        gains[np.arange(len(rows)), rows.joint] = -rows.b
        whole: Array = np.concatenate([rows.Y_e, rows.Y_r, gains], axis=1) * self.scale
        return whole

    def updated(self, H: Array, b: Array, noise: Array) -> SharedPosterior:
        """Return the belief after rows whose noise has this covariance."""
        PH = self.covariance @ H.T
        gain = np.linalg.solve(H @ PH + noise, PH.T).T
        covariance = self.covariance - gain @ PH.T
        mean = self.mean + gain @ (b - H @ self.mean)
        return SharedPosterior(mean, 0.5 * (covariance + covariance.T), self.scale)

    def after_all(self, H: Array, b: Array, variance: Array) -> SharedPosterior:
        """Return the belief after many rows at once, each with noise of its own.

        By orthogonal triangles of square roots; what `updated` returns after one row at a time.
        """
        root = np.linalg.cholesky(self.covariance)
        deviation, k = np.sqrt(variance), len(root)
        rows = np.column_stack([H @ root, b - H @ self.mean]) / deviation[:, None]
        triangle = np.asarray(np.linalg.qr(np.concatenate([np.eye(k, k + 1), rows]), mode='r'))
        inverse = root @ np.linalg.inv(triangle[:k, :k])
        mean = self.mean + inverse @ triangle[:k, k]
        return SharedPosterior(mean, inverse @ inverse.T, self.scale)

    def drifted(self, share: float) -> SharedPosterior:
        """Return the belief after all but theta_e may have moved by a share of their scale."""
        covariance = self.covariance.copy()
        place = np.arange(BODY, len(self.scale))
        covariance[place, place] += share**2
        return SharedPosterior(self.mean, covariance, self.scale)

    def with_body(self, body: Interval) -> SharedPosterior:
        """Return the belief with another body in hand, of which only bounds are known."""
        covariance, mean = self.covariance.copy(), self.mean.copy()
        covariance[:BODY], covariance[:, :BODY] = 0.0, 0.0
        place = np.arange(BODY)
        covariance[place, place] = (np.maximum(body.radius, 1e-12) / self.scale[:BODY]) ** 2
        mean[:BODY] = body.center / self.scale[:BODY]
        return SharedPosterior(mean, covariance, self.scale)

    @property
    def body(self) -> tuple[Array, Array]:
        """Mean (10,) and covariance (10, 10) of theta_e."""
        s = self.scale[:BODY]
        return self.mean[:BODY] * s, self.covariance[:BODY, :BODY] * np.outer(s, s)
