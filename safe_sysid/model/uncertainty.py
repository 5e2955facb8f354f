"""Widths that somebody states of the parameters of an arm, kind by kind, as settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from safe_sysid.config import NotNegative, Settings
from safe_sysid.errors import ConfigError


@dataclass(frozen=True)
class Width(Settings):
    """A parameter is within ratio times its size, plus absolute, of its figure; one is stated.

    A figure of 0 has no share: where `absolute` is left out, a joint without a figure is unknown.
    """

    ratio: tuple[NotNegative, ...] | None = None  # share; one for all joints or one each
    absolute: tuple[NotNegative, ...] | None = None  # on top, in the unit of the kind; as many

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ratio is None and self.absolute is None:
            raise ConfigError(
                'a width states neither ratio nor absolute; leave the kind out where nothing is '
                'known of it, and write absolute: [0.0] where it is exactly its figure'
            )

    @property
    def shares(self) -> tuple[float, ...]:
        """Return the ratios, 0 where none is stated."""
        return (0.0,) if self.ratio is None else self.ratio

    @property
    def on_top(self) -> tuple[float, ...]:
        """Return the absolute parts, 0 where none is stated."""
        return (0.0,) if self.absolute is None else self.absolute


@dataclass(frozen=True)
class Uncertainty(Settings):
    """Widths that somebody states, by kind; of the others nothing is stated."""

    mass: Width | None = None  # [kg] of links
    first_moment: Width | None = None  # [kg m] of links, in the frames of their joints
    inertia: Width | None = None  # [kg m^2] of links, moments and products
    coulomb: Width | None = None  # [N m] friction that only depends on the direction
    viscous: Width | None = None  # [N m s/rad] friction per speed
    armature: Width | None = None  # [kg m^2] inertia of rotor and gear, seen at the joint
    offset: Width | None = None  # [N m] constant part of the torque

    def stated(self) -> dict[str, Width]:
        """Kinds of which a width is stated."""
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        return {kind: width for kind, width in every.items() if width is not None}

    def over(self, other: Uncertainty) -> Uncertainty:
        """Return what is stated here, and there where nothing is stated here."""
        return replace(other, **self.stated())

    def without(self, kinds: Sequence[str]) -> Uncertainty:
        """Return the same with nothing stated of these kinds."""
        return replace(self, **dict.fromkeys(kinds))

    def refuse_unordered(self, said: str, named: Sequence[str], along: Sequence[str]) -> None:
        """Refuse an entry for each joint where the arm's file names them in another order.

        Lists of the file follow its `joints`, all others the joints along the arm; who copies one
        from the other would give a joint the width of another, and nobody could tell.
        """
        if tuple(named) == tuple(along):
            return
        for kind, width in self.stated().items():
            for key, entries in (('ratio', width.shares), ('absolute', width.on_top)):
                if len(set(entries)) > 1:
                    raise ConfigError(
                        f'{said}{kind}.{key} is {list(entries)}, one for each joint; the file of '
                        f'the arm names them {", ".join(named)}, along the arm they are '
                        f'{", ".join(along)}, so whose each entry is, is open. Allowed: one entry '
                        'for all, or `joints` of that file in the order along the arm'
                    )

    def in_order(self, order: Sequence[int]) -> Uncertainty:
        """Return the same for joints in another order: the first one is `order[0]` of now."""

        def turned(entries: tuple[float, ...] | None) -> tuple[float, ...] | None:
            if entries is None or len(entries) != len(order):
                return entries
            return tuple(entries[i] for i in order)

        each = self.stated().items()
        return Uncertainty(**{k: Width(turned(w.ratio), turned(w.absolute)) for k, w in each})
