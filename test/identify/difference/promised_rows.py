"""Rows without any error of an empty and a loaded arm, to which errors of a promise are added."""

from dataclasses import replace

from identify.difference.two_recordings import PAYLOAD, TwoLinks
import numpy as np
from scipy.interpolate import CubicSpline

from safe_sysid.identify.difference.friction_terms import FrictionTerms
from safe_sysid.identify.difference.guaranteed import guarantee
from safe_sysid.identify.difference.rows import rows_of, stretch_of
from safe_sysid.identify.difference.shared_fit import payload_prior, shared_fit
from safe_sysid.identify.difference.spectral_blocks import spectral_blocks
from safe_sysid.sets.interval import Interval

MASS, REACH = 5.0, 0.5
UPPER = np.array([MASS, *(MASS * REACH,) * 3, *(MASS * REACH**2,) * 6])
LOWER = np.where(np.isin(np.arange(10), [0, 4, 6, 9]), 0.0, -UPPER)
BOX = Interval(LOWER, UPPER)
PRIOR = payload_prior(MASS, REACH, 0.1)


class Promised:
    """Rows without any error of an empty and a loaded arm, and blocks of them."""

    def __init__(self, rng):
        arm = TwoLinks(rng, noise=0.0)
        stretches = [
            stretch_of(arm.model, arm.log(payload), 5.0, i, loaded=i == 1)
            for i, payload in enumerate((0.0 * PAYLOAD, PAYLOAD))
        ]
        rows = rows_of(arm.model, stretches, FrictionTerms())
        x = np.concatenate([arm.truth.theta, np.zeros(rows.Y.shape[2] - len(arm.truth.theta))])
        self.held = rows.Y_L @ PAYLOAD * rows.loaded[:, None]
        self.rows = replace(rows, tau=rows.Y @ x + self.held, counts=np.ones_like(rows.counts))
        self.blocks = spectral_blocks(self.rows, 5.0)

    def with_errors(self, spectra, rows=None):
        """Rows (or others) whose blocks have errors of these spectra, (blocks, K, n)."""
        tau = (rows or self.rows).tau.copy()
        for block, of_block in zip(self.blocks.rows, spectra, strict=True):
            tau[block] += self.blocks.transform.T @ of_block
        return replace(self.rows, tau=tau)

    def late(self, seconds):
        """Rows whose payload's torque comes late."""
        here, tau = self.rows.loaded, self.rows.tau - self.held
        t = self.rows.t[here]
        tau[here] += CubicSpline(t, self.held[here])(t - seconds)
        return replace(self.rows, tau=tau)

    def bounds(self, rows, promise):
        fit = shared_fit(rows, PRIOR, 1e-6)
        return guarantee(self.blocks, rows, fit, promise, (BOX, REACH), np.zeros(2))
