"""What acts on the joints against what is commanded: stated once, for law, proof and simulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.facts import RobotFacts

# Where an arm's settings say nothing: ratio, and share of the torque limit, by kind of effort.
# Twice what simple models leave unexplained on public recordings of such arms.
ASSUMED = {'torque': (0.05, 0.02), 'current': (0.25, 0.10)}


@dataclass(frozen=True, eq=False)
class Actuation:
    """The torque on joint j is within ratio_j |tau_j| + absolute_j of the command tau_j."""

    ratio: Array  # (n,)
    absolute: Array  # (n,) [N m]
    is_stated: bool  # by the settings of the arm, not assumed

    @staticmethod
    def exact(n: int) -> Actuation:
        """Every command acts as it is; for arms that are made up."""
        return Actuation(np.zeros(n), np.zeros(n), is_stated=True)

    def error(self, torque: Array) -> Array:
        """Largest difference between a command and what acts [N m]."""
        return np.asarray(self.ratio * np.abs(torque) + self.absolute)

    def __str__(self) -> str:
        source = 'stated' if self.is_stated else 'assumed, as the settings of the arm say nothing'
        ratio, absolute = (
            f'{values.min():g}'
            if np.ptp(values) == 0.0
            else f'{values.min():g} to {values.max():g}'
            for values in (100.0 * self.ratio, self.absolute)
        )
        return f'within {ratio} % and {absolute} N m of the command ({source})'


def actuation_of(facts: RobotFacts, names: Sequence[str]) -> Actuation:
    """Return what the settings of an arm state, or wide figures for its kind of effort."""
    if facts.actuation is None:
        ratio, share = ASSUMED[facts.effort.kind]
        limit = np.array([facts.joints[name].torque_limit for name in names])
        return Actuation(np.full(len(names), ratio), share * limit, is_stated=False)
    joints = [facts.actuation[name] for name in names]
    return Actuation(
        np.array([joint.ratio for joint in joints]),
        np.array([joint.absolute for joint in joints]),
        is_stated=True,
    )
