"""What an arm is given beyond bodies, Coulomb and viscous friction, as columns of its rows.

Most of it is friction; springs and gravity compensators, and a wrist whose last motor also turns
with the joint before it, are columns of the same kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray, Array

FEWEST_SECONDS = 0.3  # a joint that is slower than its creep for as long stands


@dataclass(frozen=True)
class FrictionTerms:
    """Terms beside the bodies; |load| is their torque on the joint, payload included."""

    creep: float = 0.01  # [rad/s] sign(v) is taken as tanh(v / creep)
    load: bool = False  # mu |load| sign(v)
    quadratic: bool = False  # v^2 sign(v)
    directed: bool = False  # Coulomb friction that differs with the direction, |sign(v)|
    stribeck: float | None = None  # [rad/s] v_s of sign(v) exp(-(v / v_s)^2)
    spring: bool = False  # a sin(q) + b cos(q) + c q of each joint
    coupled: bool = False  # last motor also turns with the joint before: a v' + b v + c sign(v5 +
    # v6) of each of the two joints, v of the other one

    @property
    def names(self) -> tuple[str, ...]:
        """Words for the terms beyond Coulomb and viscous friction."""
        named = {
            'load-dependent': self.load,
            'quadratic': self.quadratic,
            'direction-dependent': self.directed,
            'spring': self.spring,
            'coupled wrist': self.coupled,
            f'Stribeck at {self.stribeck or 0.0:g} rad/s': self.stribeck is not None,
        }
        return tuple(name for name, is_there in named.items() if is_there)

    def with_term(self, more: FrictionTerms) -> FrictionTerms:
        """Return these and the terms of another, at the creep of these."""
        return FrictionTerms(
            self.creep,
            self.load or more.load,
            self.quadratic or more.quadratic,
            self.directed or more.directed,
            more.stribeck if self.stribeck is None else self.stribeck,
            self.spring or more.spring,
            self.coupled or more.coupled,
        )

    def direction(self, qd: Array) -> Array:
        """Sign of a velocity, smooth around 0."""
        smooth: Array = np.tanh(qd / self.creep)
        return smooth

    def loaded(self, qd: Array, load: Array) -> Array:
        """Column of friction that grows with the load, first of the terms, (N, n)."""
        column: Array = np.abs(load) * self.direction(qd)
        return column

    def signals(self, motion: tuple[Array, Array, Array], load: Array) -> list[Array]:
        """Columns of the terms at q, qd, qdd, each (N, n): entry j acts on joint j alone."""
        q, qd, qdd = motion
        sign = self.direction(qd)
        found = []
        if self.load:
            found.append(self.loaded(qd, load))
        if self.quadratic:
            found.append(qd**2 * sign)
        if self.directed:
            found.append(np.abs(sign))
        if self.stribeck is not None:
            found.append(sign * np.exp(-((qd / self.stribeck) ** 2)))
        if self.spring:
            found += [np.sin(q), np.cos(q), q]
        if self.coupled:
            both = np.repeat(qd[:, -2:].sum(axis=1, keepdims=True), 2, axis=1)
            for of_wrist in (qdd[:, :-3:-1], qd[:, :-3:-1], self.direction(both)):
                column = np.zeros_like(qd)
                column[:, -2:] = of_wrist
                found.append(column)
        return found


def standing(qd: Array, rate: float, creep: float) -> AnyArray:
    """Return where joints stand: slower than `creep` for longer than a reversal, (N, n) bool."""
    slow = np.abs(qd) < creep
    least = max(int(FEWEST_SECONDS * rate), 1)
    stands = np.zeros_like(slow)
    for j in range(slow.shape[1]):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], slow[:, j].astype(int), [0]])))
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            stands[first:last, j] = last - first >= least
    return stands
