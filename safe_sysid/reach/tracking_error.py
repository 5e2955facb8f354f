"""How far the robust controller may be from its plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError


@dataclass(frozen=True, eq=False)
class TrackingError:
    """Bounds on r, e and de/dt, joint by joint, for as long as V <= V_M."""

    K_r: Array  # (n,) [1/s]
    r_max: Array  # (n,) [rad/s] |r_j|
    position: Array  # (n,) [rad] |e_j|
    velocity: Array  # (n,) [rad/s] |de_j/dt|

    def __post_init__(self) -> None:
        for name in ('K_r', 'r_max', 'position', 'velocity'):
            value = np.array(getattr(self, name), dtype=np.float64)
            if value.shape != np.shape(self.K_r) or not np.all((value >= 0.0) & (value < np.inf)):
                raise BoundError(
                    f'{name} = {value} of a tracking error has to be one finite number that is '
                    'not negative per joint'
                )
            value.setflags(write=False)
            object.__setattr__(self, name, value)
