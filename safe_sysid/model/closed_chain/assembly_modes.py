"""Assembly modes: whether loops can be closed in a second way inside the limits.

Found by Newton's method from many random starts: evidence that there is no other way, not a proof.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.model.closed_chain.chain import ClosedChain, ClosureError
from safe_sysid.model.closed_chain.closure_newton import newton
from safe_sysid.model.dynamics.regressors import checked_rows

SAME = 1e-6  # [rad or m] within which two closures are one
STARTS = 60  # random starts per configuration


def other_closures(chain: ClosedChain, q: Array, seed: int, starts: int = STARTS) -> list[Array]:
    """Further closures inside the limits with the actuated joints of q (n,)."""
    rng = np.random.default_rng(seed)
    limits, passive = chain.model.limits, chain.passive
    lower = np.where(np.isfinite(limits.position_lower), limits.position_lower, -np.pi)[passive]
    upper = np.where(np.isfinite(limits.position_upper), limits.position_upper, np.pi)[passive]
    known = [np.asarray(q, dtype=float)]
    for _ in range(starts):
        trial = known[0].copy()
        trial[passive] = rng.uniform(lower, upper)
        if newton(chain.joints, trial) < 0:
            continue
        trial = _turned_inside(chain, trial)
        if chain.is_inside(trial) and all(np.any(moved(chain, trial, last)) for last in known):
            known.append(trial)
    return known[1:]


def check_unique(chain: ClosedChain, q: Array, seed: int = 0) -> None:
    """Refuse configurations (N, n) for which a second closure inside the limits is found."""
    for sample, row in enumerate(checked_rows(q, chain.model.n, 'q')):
        for other in other_closures(chain, row, seed + sample):
            raise ClosureError(
                f'{chain.model.name}: loop {chain.loops_of_joints(moved(chain, other, row))} can '
                f'be closed in two ways inside the limits at '
                f'{chain.sentence(row, chain.actuated)}: {chain.sentence(row, chain.passive)}, or '
                f'{chain.sentence(other, chain.passive)}. Narrow the limits of the passive joints '
                'so that only the way it is assembled is left'
            )


def moved(chain: ClosedChain, q: Array, other: Array) -> AnyArray:
    """(n,) bool: joints in which two configurations differ; whole turns are no difference."""
    difference = q - other
    turns = 2.0 * np.pi * np.round(difference / (2.0 * np.pi))
    turns[chain.model.tree.is_prismatic] = 0.0
    return np.asarray(np.abs(difference - turns) > SAME)


def _turned_inside(chain: ClosedChain, q: Array) -> Array:
    """Return the configuration with passive joints turned by whole turns into their limits."""
    lower = chain.model.limits.position_lower
    turned: Array = q.copy()
    for joint in chain.passive:
        if not chain.model.tree.is_prismatic[joint]:
            least = lower[joint] if np.isfinite(lower[joint]) else -np.pi
            turned[joint] -= 2.0 * np.pi * np.floor((q[joint] - least) / (2.0 * np.pi))
    return turned
