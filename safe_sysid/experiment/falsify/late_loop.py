"""A loop of an arm that is read in steps and moved late, and what it used of each promise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from safe_sysid.bench.experiments.lacking_laws import whole
from safe_sysid.bench.experiments.late_arm import SLOW, late_kinova, truth_at
from safe_sysid.bench.experiments.late_loops import late_loop
from safe_sysid.bench.experiments.late_plans import REACH, pair_of
from safe_sysid.experiment.falsify.cell import LATE_SLOW, Cell, Draw
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.simulated_arm import Dynamics

SETTLED = 50  # samples after which V says something of the law, and not of the start
CLEARANCE = 0.1  # [m] by which clearances are divided
NAMES = {'position': 'e', 'velocity': 'de', 'torque': 'torque', 'limits': 'limits'}


def late_margins(
    cell: Cell, draw: Draw, simulator: Callable[[RobotModel], Dynamics]
) -> dict[str, float] | str:
    """Return what was left of each promise, as a share of it; or why nothing was promised."""
    slow = SLOW if cell.readings == LATE_SLOW else 0.0
    ways = iter(REACH * (2.0 * draw['ways'].reshape(2, -1) - 1.0))
    pair = pair_of(lambda: next(ways), slow)
    if pair is None:
        return 'the plans are not certified'
    truth = truth_at(late_kinova(slow), draw['links'], draw['joints'])
    loop = late_loop(pair, np.random.default_rng(draw.seed), whole, simulator, truth)
    used = loop.energy
    settled = used[SETTLED:] if used.max() <= 1.0 and len(used) > SETTLED else used
    return {
        'V': 1.0 - float(settled.max()),
        **{promise: 1.0 - loop.shares[name] for name, promise in NAMES.items()},
        'self': loop.clearance / CLEARANCE,
        'answer': -1.0 if loop.refusal else 1.0,
    }
