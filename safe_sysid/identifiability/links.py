"""Identifiability: class of every parameter link by link, with the sentences that go with it.

Made from `BaseParameters`, wherever they come from: the structure of an open chain, or the rank of
a regressor. `notes` say which of these it is and what it assumes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safe_sysid.identifiability.base_parameters import BaseParameters
from safe_sysid.identifiability.exact_geometry import Snap
from safe_sysid.identifiability.kinematic_tree import KinematicTree
from safe_sysid.identifiability.parameter_classes import NEGLIGIBLE, ParameterClass

TERMS = 8  # of a combination that are written out
PARTNERS = 10  # of a parameter that are named one by one


@dataclass(frozen=True)
class Dimensions:
    """Of the spans of a link: velocities, energies; and of what its joint lets pass unseen."""

    V: int
    K: int
    T: int


@dataclass(frozen=True)
class LinkParameters:
    """One link, what it is moved by, and the class of each of its parameters."""

    number: int  # from 1
    link: str
    joint: str
    labels: tuple[str, ...]  # the ten, then those of what drives the joint
    classes: tuple[ParameterClass, ...]
    dimensions: Dimensions | None


@dataclass(frozen=True, eq=False)
class Identifiability:
    """What can be known of an arm."""

    name: str
    tree: KinematicTree
    links: tuple[LinkParameters, ...]
    base: BaseParameters  # of the unknown entries
    entries: tuple[tuple[int, str], ...]  # number of the link and label of each of these
    snapped: tuple[Snap, ...]
    notes: tuple[str, ...]

    @property
    def counts(self) -> dict[ParameterClass, int]:
        """How many parameters are in each class."""
        found = Counter(c for link in self.links for c in link.classes)
        return {kind: found[kind] for kind in ParameterClass}

    def combination(self, row: int) -> list[tuple[float, str]]:
        """Coefficients and parameters of one base parameter, the one it is named after first."""
        coefficients = self.base.regrouping[row]
        own = int(self.base.columns[row])
        heard = np.flatnonzero(np.abs(coefficients) > NEGLIGIBLE).tolist()
        terms = [k for k in heard if k != own]
        return [(float(coefficients[k]), self.symbol(k)) for k in (own, *terms)]

    def symbol(self, entry: int) -> str:
        """Short name of an entry, such as `mcx2`."""
        number, label = self.entries[entry]
        return f'{label}{number}'

    def sentences(self, link: LinkParameters) -> list[str]:
        """Return what can be said of one link in words."""
        by_class = self._by_class(link)
        said = []
        if ParameterClass.KNOWN in link.classes:
            said.append('The ten parameters of this link are known.')
        if by_class[ParameterClass.ALONE]:
            said.append(f'{self._listed(by_class[ParameterClass.ALONE])} can be known alone.')
        for k in by_class[ParameterClass.COMBINED]:
            said.append(f'{self._owned([k])} is known only as {self.written(k)}.')
        for partners, members in self._by_partners(by_class[ParameterClass.NOT_SELECTED]).items():
            said.append(f"{self._owned(members)} can't be separated from {self._owned(partners)}.")
        if by_class[ParameterClass.NONE]:
            listed = self._listed(by_class[ParameterClass.NONE])
            verb = 'has' if len(by_class[ParameterClass.NONE]) == 1 else 'have'
            said.append(f'{listed} {verb} no effect on any torque.')
        return said

    def written(self, entry: int) -> str:
        """Return the combination that an entry stands for, as text."""
        row = int(np.searchsorted(self.base.columns, entry))
        return written(self.combination(row))

    def _by_class(self, link: LinkParameters) -> dict[ParameterClass, list[int]]:
        asked = [kind for kind in link.classes if kind is not ParameterClass.KNOWN]
        own = [k for k, (number, _) in enumerate(self.entries) if number == link.number]
        groups: dict[ParameterClass, list[int]] = {kind: [] for kind in ParameterClass}
        for k, kind in zip(own, asked, strict=True):
            groups[kind].append(k)
        return groups

    def _by_partners(self, members: list[int]) -> dict[tuple[int, ...], list[int]]:
        """Entries that stand for nothing, by the entries that stand for them."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for k in members:
            rows = np.flatnonzero(np.abs(self.base.regrouping[:, k]) > NEGLIGIBLE)
            groups.setdefault(tuple(int(c) for c in self.base.columns[rows]), []).append(k)
        return groups

    def _listed(self, members: Sequence[int]) -> str:
        return _and([self.entries[k][1] for k in members])

    def _owned(self, members: Sequence[int]) -> str:
        """Entries with the links they belong to, such as `m and mcz of link 3`."""
        by_link: dict[int, list[int]] = {}
        for k in members:
            by_link.setdefault(self.entries[k][0], []).append(k)
        if len(members) > PARTNERS:
            return f'{len(members)} parameters of links {_and([str(n) for n in by_link])}'
        return _and([f'{self._listed(ks)} of link {number}' for number, ks in by_link.items()])


def written(terms: Sequence[tuple[float, str]]) -> str:
    """Sum of terms as text; a long one is cut, and says so."""
    alike: dict[str, list[str]] = {}
    for coefficient, name in terms:
        size = f'{abs(coefficient):.{4 if abs(coefficient) < 1000 else 9}g}'
        sign = '-' if coefficient < 0 else '+'
        # 0.2 (m3 + m4 + m5): masses that are carried together have the same lever
        unlike = f' {name}' if size == '1' else ''
        alike.setdefault(f'{sign} {size}{unlike}', []).append(name)
    pieces = [_piece(key, names) for key, names in alike.items()]
    text = ' '.join(pieces[:TERMS]).removeprefix('+ ')
    return text if len(pieces) <= TERMS else f'{text} + ... ({len(terms)} parameters)'


def _piece(key: str, names: Sequence[str]) -> str:
    sign, size = key.split()[:2]
    if size == '1':
        return f'{sign} {names[0]}'
    return (
        f'{sign} {size} {names[0]}' if len(names) == 1 else f'{sign} {size} ({" + ".join(names)})'
    )


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f'{", ".join(words[:-1])} and {words[-1]}'
