"""How far the robust controller may be from its plan.

Assumed here, and to be proven of the controller: V = 1/2 r' (H + diag(Ia)) r <= V_M when the plan
starts and ever after, and |e| at the start is within the bound returned. With the least inertia of
each joint (`joint_inertia`) follow |r_j| <= sqrt(2 V_M / inertia_j) = r_max_j, and from
de/dt = r - K_r e then |e_j| <= max(|e_j| at the start, r_max_j / K_r_j) and
|de_j/dt| <= r_max_j + K_r_j |e_j|. These bounds are for all plans. `plan_error` finds those of one
plan, which an arm without armature needs; they are ellipsoids in each step of time, a `tube`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.error_tube import ErrorTube
from safe_sysid.reach.joint_inertia import joint_inertia
from safe_sysid.reach.needed_inertia import needed_sentence
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
    tube: ErrorTube | None = None  # under the one plan that all of this is for, where it is so

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

    @staticmethod
    def of_tube(K_r: Array, tube: ErrorTube, r_max: Array) -> TrackingError:
        """Bound the tracking error by the largest one of all steps of time.

        r_max are bounds of |r_j| for all poses, which may be smaller; infinite if there are none.
        """
        r, e = tube.largest_r, tube.largest_e
        velocity = (Interval.of(K_r) * e + r).upper
        own = TrackingError(K_r, r.max(axis=0), e.max(axis=0), velocity.max(axis=0), tube)
        known = np.isfinite(r_max)
        other = TrackingError.of(K_r, np.where(known, r_max, 0.0), np.zeros_like(K_r))
        return replace(
            own,
            **{
                x: np.where(known, np.minimum(getattr(own, x), getattr(other, x)), getattr(own, x))
                for x in ('r_max', 'position', 'velocity')
            },
        )


def tracking_error(
    model: RobotModel, estimate: ParameterEstimate, gains: Gains, at_start: Array | None = None
) -> TrackingError:
    """Tracking error that the gains promise under every plan, for theta in its bounds.

    at_start bounds |e| when the plan starts: the `position` that the bounds of theta before it
    promised. Without it the error is taken to start within the bound returned, as at rest.
    """
    check_joints(model, estimate, gains)
    return bounded_by_inertia(model, gains, joint_inertia(model, estimate.bounds), at_start)


def bounded_by_inertia(
    model: RobotModel, gains: Gains, inertia: Array, at_start: Array | None = None
) -> TrackingError:
    """Return the same from the least inertia of every joint, (n,)."""
    if not np.all(inertia > 0.0):
        j = int(np.argmin(inertia))
        name, speed = model.layout.joint_names[j], float(model.limits.velocity[j])
        raise BoundError(
            f'no bound on the tracking error of {name}: its armature may be zero, and within the '
            'bounds of theta so may the inertia of a body it moves. Give the joint its armature '
            'in the settings of the arm, or tighter bounds of theta: '
            f'{needed_sentence(name, gains.V_M, speed, 0.0)}'
        )
    if LARGEST_SQUARE * inertia.min() < gains.V_M:
        raise BoundError(f'V_M = {gains.V_M} J bounds no tracking error; take a smaller one')
    r_max = sqrt(2.0 * gains.V_M / Interval.of(inertia)).upper
    start = np.zeros(model.n) if at_start is None else at_start
    return TrackingError.of(gains.K_r, r_max, start)


def check_joints(model: RobotModel, estimate: ParameterEstimate, gains: Gains) -> None:
    """Refuse gains or parameters of another arm."""
    if len(gains.K_r) != model.n or estimate.layout.n != model.n:
        raise BoundError(
            f'the arm has {model.n} joints, the gains have {len(gains.K_r)}, the estimate '
            f'{estimate.layout.n}'
        )
