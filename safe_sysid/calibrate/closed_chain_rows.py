"""Rows of a closed chain: motor torques, linear in the parameters that are to be identified."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.torque_rows import MOTION, TorqueRows, filtered_rows, motion_of
from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.identifiability.base_parameters import BaseParameters, base_parameters
from safe_sysid.model.closed_chain.chain import ClosedChain, ClosedMotion

IDENTIFIED = ('motors', 'joints', 'everything')
STATES = 400  # random closed configurations that decide the rank
TRIED = 40  # batches of random configurations before a chain counts as one that does not close
DEPENDENT = 1e-9  # of the largest singular value


@dataclass(frozen=True, eq=False)
class Selection:
    """Entries of theta that are identified; all others keep their value."""

    entries: IntArray  # (p,) of theta
    bodies: tuple[int, ...]  # whose ten entries come first, in this order

    @property
    def of_joints(self) -> IntArray:
        """Places of Fc, Fv, Ia and beta among the entries, (4, k)."""
        first = 10 * len(self.bodies)
        return np.arange(first, len(self.entries)).reshape(4, -1)


def selection_of(chain: ClosedChain, identified: str) -> Selection:
    """Friction and armature of `motors`, of all `joints`, or motors and bodies: `everything`.

    Bodies without mass stay as they are.
    """
    if identified not in IDENTIFIED:
        raise ConfigError(
            f"'{identified}' can not be identified, allowed are {', '.join(IDENTIFIED)}"
        )
    layout = chain.model.layout
    joints = np.arange(layout.n) if identified == 'joints' else chain.actuated
    starts = [layout.joint_entries(kind).start for kind in ('Fc', 'Fv', 'Ia', 'beta')]
    bodies = [i for i in range(layout.n) if i not in chain.massless]
    bodies = bodies if identified == 'everything' else []
    ten = [np.arange(layout.size)[layout.inertial(i)] for i in bodies]
    entries = np.concatenate([*ten, *(start + joints for start in starts)])
    return Selection(entries.astype(np.int64), tuple(bodies))


def closed_chain_rows(
    chain: ClosedChain, columns: FitColumns, selection: Selection, log: EvenLog, cutoff: float
) -> TorqueRows:
    """Rows of a recording of the actuated joints.

    Only their motion is filtered; passive joints follow from it, so that the loops stay closed.
    What the other parameters contribute is taken off the torque.
    """
    if log.q.shape[1] != len(chain.actuated):
        raise MeasurementError(
            f'the recording has {log.q.shape[1]} joints; the actuated joints of '
            f'{chain.model.name} are '
            f'{[chain.model.layout.joint_names[i] for i in chain.actuated]}'
        )
    theta = chain.model.theta.copy()
    theta[selection.entries] = 0.0

    def regressor(q_a: Array, qd_a: Array, qdd_a: Array) -> Array:
        motion = chain.expand(chain.follow(q_a), qd_a, qdd_a)
        Y = projected_columns(chain, columns, motion)
        return np.concatenate([Y[:, :, selection.entries], (Y @ theta)[:, :, None]], axis=2)

    motion = motion_of(log, MOTION * cutoff)
    rows = filtered_rows(regressor, motion, cutoff)
    known = rows.Y[:, :, -1]
    return TorqueRows(
        np.ascontiguousarray(rows.Y[:, :, :-1]),
        rows.tau - known,
        rows.recorded - known,
        rows.rate,
        rows.response,
        rows.step,
    )


def projected_columns(chain: ClosedChain, columns: FitColumns, motion: ClosedMotion) -> Array:
    """G' W (N, n_a, 14 n)."""
    W = columns.regressor(chain.model, motion.q, motion.qd, motion.qdd)
    return np.asarray(np.swapaxes(motion.G, 1, 2) @ W)


def closed_base_parameters(
    chain: ClosedChain, columns: FitColumns, selection: Selection, rng: np.random.Generator
) -> BaseParameters:
    """Return base parameters of selected entries from random closed configurations."""
    Y = random_columns(chain, columns, selection, rng)
    return base_parameters(Y.reshape(-1, len(selection.entries)), DEPENDENT)


def random_columns(
    chain: ClosedChain, columns: FitColumns, selection: Selection, rng: np.random.Generator
) -> Array:
    """Columns (N, n_a, p) of selected entries at random states within the limits."""
    limits, a = chain.model.limits, chain.actuated
    q = random_closures(chain, STATES, rng)
    shape = (len(q), len(a))
    qd = rng.uniform(-1.0, 1.0, shape) * limits.velocity[a]
    qdd = rng.uniform(-1.0, 1.0, shape) * limits.acceleration[a]
    return projected_columns(chain, columns, chain.expand(q, qd, qdd))[:, :, selection.entries]


def random_closures(chain: ClosedChain, count: int, rng: np.random.Generator) -> Array:
    """Return closed configurations (count, n) of actuated joints anywhere within their limits."""
    limits, a = chain.model.limits, chain.actuated
    lower = np.where(np.isfinite(limits.position_lower), limits.position_lower, -np.pi)[a]
    upper = np.where(np.isfinite(limits.position_upper), limits.position_upper, np.pi)[a]
    found: list[Array] = []
    for _ in range(TRIED):
        tried = chain.attempt(rng.uniform(lower, upper, (count, len(a))))
        found.extend(tried.q[tried.usable])
        if len(found) >= count:
            return np.array(found[:count])
    raise MeasurementError(
        f'{chain.model.name} closes in {len(found)} of {TRIED * count} random configurations; '
        'its limits leave almost none'
    )
