"""Dry friction beyond Coulomb's: how much more a joint holds at rest, and under load.

A model with Fc sign(qd) is off by at most static - Fc where the joint is slow or stands, and by
load times the torque on the joint where teeth are pressed. Both are errors of the model, not
intervals of Fc: a constant Fc cannot be large at rest and small in motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.model.signal_facts import DryFrictionFacts, in_order


@dataclass(frozen=True)
class DryFriction:
    """What is stated; nothing of it is 0 because nobody stated it, but then nobody knows it."""

    facts: DryFrictionFacts = field(default_factory=DryFrictionFacts)

    def above_coulomb(self, coulomb: Array) -> Array:
        """Most by which friction at rest is above Coulomb friction, both (n,) [N m]."""
        n = len(coulomb)
        if self.facts.static is None:
            return np.zeros(n)
        return np.maximum(_per_joint('static', self.facts.static, n) - coulomb, 0.0)

    def load(self, n: int) -> Array:
        """Share of the torque on a joint by which friction may be more or less (n,)."""
        return np.zeros(n) if self.facts.load is None else _per_joint('load', self.facts.load, n)

    def with_load(self, ratio: Array, absolute: Array) -> tuple[Array, Array]:
        """Return errors of a torque, share and amount (n,), with what load makes of friction.

        Both are of a figure that is known, such as a reading m; the torque on the joint, of which
        friction may be a share, is (1 + ratio) |m| + absolute at most.
        """
        load = self.load(len(ratio))
        return ratio + load * (1.0 + ratio), absolute * (1.0 + load)

    def assumed(self, error: str) -> tuple[str, ...]:
        """Return what is assumed where friction is to be within an error, and nobody states it."""
        if self.facts.static is not None and self.facts.load is not None:
            return ()
        return (
            'assumed, as nobody stated it: friction at rest, below the Stribeck speed and under '
            f'load differs from Coulomb and viscous friction by no more than {error}',
        )

    def stribeck_speed(self, n: int) -> Array:
        """Speed at which what is above Coulomb friction is down to 1/e (n,) [rad/s]."""
        return _per_joint('stribeck_speed', self.facts.stribeck_speed, n)

    def in_order(self, order: Sequence[int]) -> DryFriction:
        """Return the same for joints in another order: the first one is `order[0]` of now."""
        return DryFriction(in_order(self.facts, order, ('static', 'stribeck_speed', 'load')))


def _per_joint(name: str, values: tuple[float, ...], n: int) -> Array:
    if len(values) not in (1, n):
        raise ConfigError(f'friction.{name} has {len(values)} entries; 1 or {n} are needed')
    array: Array = np.broadcast_to(np.array(values, dtype=float), (n,)).copy()
    return array
