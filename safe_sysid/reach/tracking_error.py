"""How far the robust controller may be from its plan.

Assumed here, and to be proven of the controller: V = 1/2 r' (H + diag(Ia)) r <= V_M when the plan
starts and ever after, and |e| at the start is within the bound returned. With the least inertia of
each joint (`joint_inertia`) follow |r_j| <= sqrt(2 V_M / inertia_j) = r_max_j, and from
de/dt = r - K_r e then |e_j| <= max(|e_j| at the start, r_max_j / K_r_j) and
|de_j/dt| <= r_max_j + K_r_j |e_j|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.joint_inertia import joint_inertia
from safe_sysid.sets.elementary import sqrt
from safe_sysid.sets.interval import Interval
from safe_sysid.track.gains import Gains

LARGEST_SQUARE = 1e12  # of an r_max that is still a bound [rad^2/s^2]


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

    @staticmethod
    def of(K_r: Array, r_max: Array, at_start: Array) -> TrackingError:
        """Bound the tracking error from a bound of r; at_start bounds |e| at the plan's start."""
        position = np.maximum((Interval.of(r_max) / K_r).upper, at_start)
        velocity = (Interval.of(K_r) * position + r_max).upper
        return TrackingError(K_r, r_max, position, velocity)


def tracking_error(
    model: RobotModel, estimate: ParameterEstimate, gains: Gains, at_start: Array | None = None
) -> TrackingError:
    """Tracking error that the gains promise under every plan, for theta in its bounds.

    at_start bounds |e| when the plan starts: the `position` that the bounds of theta before it
    promised. Without it the error is taken to start within the bound returned, as at rest.
    """
    if len(gains.K_r) != model.n or estimate.layout.n != model.n:
        raise BoundError(
            f'the arm has {model.n} joints, the gains have {len(gains.K_r)}, the estimate '
            f'{estimate.layout.n}'
        )
    inertia = joint_inertia(model, estimate.bounds)
    if not np.all(inertia > 0.0):
        j = int(np.argmin(inertia))
        raise BoundError(
            f'no bound on the tracking error of {model.layout.joint_names[j]}: its armature may '
            'be zero, and within the bounds of theta so may the inertia of a body it moves. Give '
            'the joint its armature in the settings of the arm, or tighter bounds of theta'
        )
    if LARGEST_SQUARE * inertia.min() < gains.V_M:
        raise BoundError(f'V_M = {gains.V_M} J bounds no tracking error; take a smaller one')
    r_max = sqrt(2.0 * gains.V_M / Interval.of(inertia)).upper
    start = np.zeros(model.n) if at_start is None else at_start
    return TrackingError.of(gains.K_r, r_max, start)
