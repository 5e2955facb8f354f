"""Random plans, tracking errors and states within them, for soundness tests of reachable sets."""

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.trajectory.bezier import Bezier

BOUNDS = 1e-12  # rounding of the sampled states themselves


class Sample(NamedTuple):
    """One state that an arm may be in under a plan of the horizon."""

    x: Array  # variables of the sets
    step: int  # time step
    values: dict[str, Array]  # cos, sin, q, qd, qd_a, qdd_a, qd_d


def random_horizon(rng, n, k_range, intervals=16, degree=2) -> Horizon:
    """Plans from a random moving state."""
    curve = Bezier(*rng.normal(size=(3, n)) * [[1.5], [0.5], [0.5]], 3.0)
    ranges = k_range * rng.uniform(0.5, 1.0, size=n)
    return Horizon(curve, rng.normal(size=n) * 0.5, ranges, intervals, degree)


def random_error(rng, n, size=0.1) -> TrackingError:
    """Tracking error bounds of a controller with gains of about 5."""
    K_r, r_max = rng.uniform(3.0, 6.0, size=n), size * rng.uniform(0.2, 1.0, size=n)
    return TrackingError(K_r, r_max, r_max / K_r, 2.0 * r_max)


def sample(rng, horizon: Horizon, error: TrackingError) -> Sample:
    """A state: k, time and errors at random, often at the ends of what is allowed."""
    n = horizon.n
    x, e, de = (_often_extreme(rng, n) for _ in range(3))
    e, de = e * error.position, de * error.velocity
    step = int(rng.integers(horizon.intervals))
    t = rng.choice(
        [
            horizon.time.lower[step],
            horizon.time.upper[step],
            rng.uniform(horizon.time.lower[step], horizon.time.upper[step]),
        ]
    )
    k = horizon.k_center + horizon.k_range * x
    q_d, qd_d, qdd_d = (horizon.curve.derivative(order, t, k) for order in range(3))
    q = q_d - e
    values = {
        'cos': np.cos(q),
        'sin': np.sin(q),
        'q': q,
        'qd': qd_d - de,
        'qd_a': qd_d + error.K_r * e,
        'qdd_a': qdd_d + error.K_r * de,
        'qd_d': qd_d,
    }
    return Sample(x, step, values)


def _often_extreme(rng, n) -> Array:
    """Numbers in [-1, 1], half of them at an end."""
    inside, ends = rng.uniform(-1.0, 1.0, size=n), rng.choice([-1.0, 1.0], size=n)
    return np.where(rng.random(n) < 0.5, inside, ends)
