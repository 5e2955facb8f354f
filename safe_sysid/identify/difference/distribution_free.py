"""An interval of the mass that assumes no distribution of errors, only that they are exchangeable.

Where enough empty pieces were held out, split conformal prediction: the piece with the payload is
as likely as any other to have the largest error over its deviation. Else signs of whole blocks
are changed: if blocks of errors are independent and as likely positive as negative, the sum that
belongs to the true mass is as likely as its changed versions to be among the largest (Csaji, Campi
and Weyer 2015, with the other parameters projected out). That sees nothing that lasts longer than
the recording, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.difference.shared_fit import SharedFit

CONFORMAL = 'split conformal prediction over empty pieces'
SIGN_FLIPS = 'sign-perturbed sums of blocks, within these recordings'
CHANGES = 999  # of signs
SEED = 0


@dataclass(frozen=True)
class DistributionFree:
    """An interval of the mass by what the model leaves out [kg], or why there is none."""

    method: str
    number: int  # of pieces or blocks
    bounds: tuple[float, float] | None
    missing: str | None  # why not


def distribution_free(
    z: Array, deviation: float, sums: DistributionFree, mass: float, confidence: float
) -> DistributionFree:
    """Conformal where pieces are enough, with errors over deviations z (pieces,); else sums."""
    needed = int(np.ceil(confidence / (1.0 - confidence) - 1e-9))
    if len(z) < needed:
        return sums
    place = int(np.ceil(confidence * (len(z) + 1) - 1e-9))
    half = float(np.sort(np.abs(z))[place - 1]) * deviation
    return DistributionFree(CONFORMAL, len(z), (mass - half, mass + half), None)


def sign_perturbed(
    rows: DifferenceRows, fit: SharedFit, blocks: Sequence[IntArray], confidence: float
) -> DistributionFree:
    """Masses that are not among the few whose sum is larger than with changed signs."""
    mass = len(fit.u)
    column = fit.covariance[:, mass]
    alone = fit.weighted_along(rows, column / column[mass])  # others projected out, (N, n)
    errors = fit.errors(rows)
    s = np.array([np.sum(alone[b] * errors[b]) for b in blocks])
    A = np.array([np.sum(alone[b] ** 2) for b in blocks])
    rng = np.random.default_rng(SEED)
    signs = rng.choice([-1.0, 1.0], size=(CHANGES, len(blocks)))
    rank = int((1.0 - confidence) * (CHANGES + 1) + 1e-9)
    lower, upper = _ends(s, A, signs)
    if rank < 1 or np.count_nonzero(~np.isfinite(upper)) >= rank:
        needed = int(np.ceil(1.0 - np.log2(1.0 - confidence)))
        sentence = (
            f'{len(blocks)} blocks are too few for {100 * confidence:g} %: {needed} or more'
            if rank >= 1
            else f'{CHANGES} changes of signs are too few for {100 * confidence:g} %'
        )
        return DistributionFree(SIGN_FLIPS, len(blocks), None, sentence)
    off = np.sort(lower)[rank - 1], np.sort(upper)[-rank]
    here = float(fit.phi[0])
    return DistributionFree(SIGN_FLIPS, len(blocks), (here + off[0], here + off[1]), None)


def _ends(s: Array, A: Array, signs: Array) -> tuple[Array, Array]:
    """Return between which changes of the mass a changed sum is the larger one, for each.

    |sum (s - d A)| and |sum e (s - d A)| are equal at two d; where signs change nothing, always.
    """
    same, opposite = (
        np.divide(
            s.sum() - sign * (signs @ s),
            A.sum() - sign * (signs @ A),
            out=np.full(len(signs), np.nan),
            where=np.abs(A.sum() - sign * (signs @ A)) > 1e-12 * A.sum(),
        )
        for sign in (1.0, -1.0)
    )
    everywhere = np.isnan(same) | np.isnan(opposite)
    lower = np.where(everywhere, -np.inf, np.minimum(same, opposite))
    upper = np.where(everywhere, np.inf, np.maximum(same, opposite))
    return lower, upper
