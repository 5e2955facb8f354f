"""Which pairs of capsules a certificate has to look at: all that are not proven apart.

    one body    on the same joint: they do not move against each other
    neighbours  joined by one joint: bodies of an arm meet there, and count as made for it; what
                the arm holds is looked at, unless it overlaps in every position of the joint
    left out    by the settings of the arm, `housings_apart` in docs/robots.md
    apart       proven by branch and bound (`pair_separation`) for all positions within the limits
    looked at   everything else, what could not be decided included

Whoever relies on a certificate relies on the pairs left out, and on the proofs of those apart.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import combinations

import numpy as np

from safe_sysid.arrays import IntArray
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.model.collision.pair_separation import Chain, Verdict, chain_between, gaps
from safe_sysid.model.collision.verdict_cache import verdicts
from safe_sysid.model.tree import JointLimits, Tree

Pair = tuple[int, int]
LOOKS = 400  # positions of one joint at which neighbours are looked at


def paired(
    capsules: Capsules, tree: Tree, limits: JointLimits, housings_apart: Collection[Pair]
) -> Capsules:
    """Capsules of an arm with every pair of them decided."""
    asked = {}
    for pair in combinations(range(len(capsules.names)), 2):
        chain = chain_between(tree, limits, capsules, pair)
        if len(chain.joints) > 1:
            asked[pair] = chain
    out = {(min(pair), max(pair)) for pair in housings_apart}
    return _decided(capsules, {p: c for p, c in asked.items() if p not in out}, sorted(out))


def paired_with_held(arm: Capsules, held: Capsules, tree: Tree, limits: JointLimits) -> Capsules:
    """Capsules of an arm and of what it holds, with every pair between the two decided."""
    both = arm.beside(held)
    asked, out = {}, []
    for i in range(len(arm.names)):
        for j in range(len(arm.names), len(both.names)):
            chain = chain_between(tree, limits, both, (i, j))
            if len(chain.joints) == 1 and _always_overlap(chain):
                out.append((i, j))
            elif len(chain.joints):
                asked[i, j] = chain
    return _decided(both, asked, out)


def _always_overlap(chain: Chain) -> bool:
    """Whether neighbours overlap wherever one looks."""
    if not np.all(np.isfinite(chain.upper - chain.lower)):
        return False
    positions = np.linspace(chain.lower, chain.upper, LOOKS)
    return bool(np.all(gaps(chain, positions) < 0.0))


def _decided(capsules: Capsules, asked: dict[Pair, Chain], out: list[Pair]) -> Capsules:
    """With more pairs: those asked about, by what is proven of them, and those left out."""
    found = dict(zip(asked, verdicts(list(asked.values())), strict=True))
    apart = [pair for pair, verdict in found.items() if verdict is Verdict.APART]
    seen = [pair for pair, verdict in found.items() if verdict is not Verdict.APART]
    return replace(
        capsules,
        pairs=_with(capsules.pairs, seen),
        apart=_with(capsules.apart, apart),
        left_out=_with(capsules.left_out, out),
    )


def _with(pairs: IntArray, more: list[Pair]) -> IntArray:
    return np.concatenate([pairs, np.array(more, dtype=np.int64).reshape(-1, 2)])
