"""Whether torques have the sign and the order of the joints, before anything is fitted to them.

A description may be far from the arm that is to be calibrated, so sizes prove nothing: a strange
scale is a caution. Two figures per joint tell the sign. One needs masses that are roughly right:
the correlation with the weight and inertia of the described bodies, with friction, offset and
rotor taken out, as behind a high gear the rotor is most of the torque. The other needs none: the
correlation with the direction of motion, when whatever bodies could explain is taken out. What is
left is friction, and friction never drives. It is evidence, not proof.
"""

from __future__ import annotations

from dataclasses import dataclass
import itertools

import numpy as np
import scipy.linalg

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.torque_rows import TorqueRows
from safe_sysid.errors import SafeSysidError
from safe_sysid.measure.effort_correlation import INVERTED, gain_and_correlation, loud
from safe_sysid.model.robot_model import RobotModel

DRIVING = -0.4  # correlation with the direction of motion from which on friction drives
UNRELATED = 0.5  # correlation below which torque does not follow the description
HEARD = 0.1  # of the torque of a joint, below which errors may hide what bodies do
BETTER = 0.05  # by so much correlation torque follows another joint before it counts as its
GAIN = 3.0  # a gain outside of 1/3 to 3 is another unit, or a description of another arm
MOST_ROWS = 4000  # more would not change the figures
FEWEST = 100  # rows beyond what bodies can fit: chance correlations are 0.1 then
RANK = 1e-4  # singular values below this share of the largest are rounding
SEEN = 0.1  # of a column has to be left beside others, or they can't be told apart


class EffortError(SafeSysidError):
    """Torques that can't be those of the joints they are said to be of."""

    def __init__(self, reason: str, check: EffortCheck, remarks: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.check = check
        self.remarks = remarks  # about the recordings

    def about(self, remarks: tuple[str, ...]) -> EffortError:
        """Return the same with what readers remarked of the recordings."""
        return EffortError(str(self), self.check, remarks)


@dataclass(frozen=True, eq=False)
class EffortCheck:
    """What torques look like beside the description, joint by joint."""

    names: tuple[str, ...]
    gain: Array  # (n,) torque by weight and inertia of the described bodies
    correlation: Array  # (n,) of the two
    friction: Array  # (n,) correlation of what no bodies explain with the direction of motion
    loud: AnyArray  # (n,) bool, joints whose described bodies make enough torque to tell
    heard: AnyArray  # (n,) bool, joints whose torque is not nearly all of rotor and friction

    @property
    def is_told_by_friction(self) -> AnyArray:
        """Joints whose friction shows a sign."""
        told: AnyArray = np.abs(self.friction) >= -DRIVING
        return told

    @property
    def is_told_by_bodies(self) -> AnyArray:
        """Joints whose weight and inertia show a sign."""
        told: AnyArray = self.loud & (np.abs(self.correlation) >= -INVERTED)
        return told

    @property
    def sign(self) -> Array:
        """1, -1 where torque is counted the other way round, 0 where nothing tells it.

        Friction has the last word: it depends on no description.
        """
        by_bodies = np.where(self.is_told_by_bodies, np.sign(self.correlation), 0.0)
        sign: Array = np.where(self.is_told_by_friction, np.sign(self.friction), by_bodies)
        return sign

    @property
    def is_upside_down(self) -> AnyArray:
        """Joints in which friction and weight disagree about the sign."""
        opposite = self.correlation * self.friction < 0.0
        disagree: AnyArray = opposite & self.is_told_by_friction & self.is_told_by_bodies
        return disagree

    def cautions(self) -> tuple[str, ...]:
        """Sentences about joints whose torque is of a strange size, or unlike the description."""
        follows = self.correlation >= UNRELATED
        strange = (self.gain > GAIN) | (self.gain < 1.0 / GAIN)
        said = []
        scaled = np.flatnonzero(self.loud & follows & strange)
        if scaled.size:
            said.append(
                'the effort signal is not of the size that the description predicts, '
                f'{self.listed(scaled)}; 1/3 to 3 times is usual. If it is a current or in '
                'another unit, so is every mass here: divide effort_scale of these joints by that '
                'factor in the settings, where effort.kind says what the signal is. If it lacks '
                'gravity (effort.gravity_included), it can not be calibrated'
            )
        unlike = np.flatnonzero(self.loud & self.heard & ~follows & ~self.is_upside_down)
        if unlike.size:
            said.append(
                f'torque hardly follows the description, {self.listed(unlike)}; a correlation '
                f'below {UNRELATED:g} is unusual: compare order, zero and axis of the joints, and '
                'the direction of gravity in the settings'
            )
        turned = self.is_upside_down[self.is_told_by_bodies]
        if turned.any() and not turned.all():
            said.append(self.turned())
        return tuple(said)

    def turned(self) -> str:
        """Return a sentence about joints in which friction and weight disagree about the sign."""
        return (
            'weight pulls the other way than friction says it should, '
            f'{self.listed(np.flatnonzero(self.is_upside_down))}: gravity in the settings points '
            'the wrong way, bodies are on the other side of their axis, or these joints turn '
            'against it, or from another zero, than in the URDF'
        )

    def listed(self, joints: AnyArray) -> str:
        """Return the figures of some joints that tell anything."""
        return ', '.join(
            f'{self.names[j]} (friction {self.friction[j]:.3f}'
            + (
                f', bodies {self.gain[j]:.3g} times with correlation {self.correlation[j]:.3f})'
                if self.loud[j]
                else ')'
            )
            for j in joints
        )


def effort_check(model: RobotModel, columns: FitColumns, pieces: list[TorqueRows]) -> EffortCheck:
    """Figures of every joint; torques whose sign or order can't be right raise them."""
    kept = slice(None, None, max(1, sum(map(len, pieces)) // MOST_ROWS))
    Y = np.concatenate([rows.Y[kept] for rows in pieces])
    tau = np.concatenate([rows.tau[kept] for rows in pieces])
    n = model.n
    bodies = Y[:, :, : 10 * n] @ model.theta[: 10 * n]
    beside = [_beside(Y[:, i, _drive(columns, i)], bodies[:, i], tau) for i in range(n)]
    gains, partners, sizes = (np.array(figures) for figures in zip(*beside, strict=True))
    friction = np.array([_friction_correlation(columns, Y[:, j], tau[:, j], j) for j in range(n)])
    own = np.diag(gains), np.diag(partners)
    is_loud, heard = loud(bodies), sizes >= HEARD * np.linalg.norm(tau, axis=0)
    check = EffortCheck(columns.layout.joint_names, *own, friction, is_loud, heard)
    reason = _exchanged(check, partners) or _inverted(model, check)
    if reason is not None:
        raise EffortError(reason, check)
    return check


def _drive(columns: FitColumns, joint: int) -> IntArray:
    """Coulomb and viscous friction, offset and rotor inertia of a joint."""
    kinds = ('Fc', 'Fv', 'beta', 'Ia')
    return np.array([columns.layout.joint_entries(kind).start + joint for kind in kinds])


def _beside(drive: Array, predicted: Array, torque: Array) -> tuple[Array, Array, float]:
    """Gains and correlations of torques (N, n) with one that is predicted, beside a drive's own.

    The third is the size of what is predicted then. The rotor, the last column, is left in where
    bodies do nothing that it does not do: as at a vertical axis.
    """
    basis = _basis(drive)
    if np.linalg.norm(_left(basis, predicted)) < SEEN * np.linalg.norm(predicted):
        basis = _basis(drive[:, :-1])
    left = _left(basis, predicted)
    return *gain_and_correlation(left[:, None], _left(basis, torque)), float(np.linalg.norm(left))


def _friction_correlation(columns: FitColumns, Y: Array, tau: Array, joint: int) -> float:
    """Of torque with the direction of motion, without what bodies, rotors and offset explain."""
    n = columns.layout.n
    coulomb, _, offset, rotor = _drive(columns, joint)
    coupled = np.arange(14 * n, 14 * n + 3 * len(columns.couplings))
    others = Y[:, [*range(10 * n), rotor, offset, *coupled]]
    direction = Y[:, coulomb]
    basis = _basis(others)
    left = _left(basis, direction)
    few = len(Y) < basis.shape[1] + FEWEST
    if few or np.linalg.norm(left) < SEEN * np.linalg.norm(direction) or not left.any():
        return 0.0
    return float(gain_and_correlation(left[:, None], _left(basis, tau)[:, None])[1][0])


def _left(basis: Array, columns: Array) -> Array:
    """Return what an orthonormal basis does not explain."""
    left: Array = columns - basis @ (basis.T @ columns)
    return left


def _basis(columns: Array) -> Array:
    """Orthonormal columns with the same span.

    By QR iteration: the faster divide and conquer of numpy.linalg.svd ends without a result on
    some finite columns that depend on each other, on some processors.
    """
    norms = np.linalg.norm(columns, axis=0)
    used = columns[:, norms > 1e-9 * norms.max(initial=1e-300)]
    if not used.size:
        return np.zeros((len(columns), 0))
    unit = used / np.linalg.norm(used, axis=0)
    U, singular, _ = scipy.linalg.svd(unit, full_matrices=False, lapack_driver='gesvd')
    basis: Array = U[:, singular > RANK * singular[0]]
    return basis


def _exchanged(check: EffortCheck, partners: Array) -> str | None:
    """Joints whose torques follow what is predicted of each other better than their own.

    `partners` [i, j] correlates the torque said to be of joint j with what joint i should have.
    """
    own = np.abs(check.correlation)
    for i, j in itertools.combinations(np.flatnonzero(check.loud), 2):
        there, back = partners[i, j], partners[j, i]
        better = min(there - own[j], back - own[i]) > BETTER and min(there, back) >= -INVERTED
        if better and (check.friction[[i, j]] < -DRIVING).any():
            one, other = check.names[i], check.names[j]
            return (
                f'the effort signal has its joints in another order: torque of {one} has '
                f'correlation {check.correlation[i]:.3f} with its own weight and inertia as '
                f'described and {back:.3f} with those of {other}, torque of {other} '
                f'{check.correlation[j]:.3f} and {there:.3f}; its own has to be the larger one, '
                f'to {BETTER:g}. Mend the names of joints or columns (--joint-names, --columns). '
                'Nothing was fitted'
            )
    return None


def _inverted(model: RobotModel, check: EffortCheck) -> str | None:
    """Joints that are counted the other way round, and what to say about it."""
    inverted = np.flatnonzero(check.sign < 0.0)
    is_turned = check.is_upside_down[check.is_told_by_bodies]
    said = []
    if inverted.size:
        said.append(
            f'the effort signal is counted against the joint axes, {check.listed(inverted)}: '
            'friction is the correlation of torque with the direction of motion beside all that '
            f'bodies could explain, {DRIVING:g} or less is refused; bodies are gain and '
            f'correlation against weight and inertia as {model.name} is described, {INVERTED:g} '
            f'or less is refused where friction does not tell. {_cure(model, check)}'
        )
    if is_turned.size and is_turned.all():
        said.append(check.turned())
    return '. '.join([*said, 'Nothing was fitted']) if said else None


def _cure(model: RobotModel, check: EffortCheck) -> str:
    """Signs to write down; joints that can't tell go with the others when all others agree."""
    inverted = check.sign < 0.0
    if not (check.sign > 0.0).any():
        inverted = np.ones_like(inverted)
    sign = model.sensors.effort_sign.astype(int)
    wanted = np.where(inverted, -sign, sign)
    if (wanted == wanted[0]).all() and inverted.all():
        return (
            f'Say --torque-sign={wanted[0]}, or effort_sign: {wanted[0]} for all joints in the '
            'settings of the arm'
        )
    joints = ', '.join(f'{wanted[j]} for {check.names[j]}' for j in np.flatnonzero(inverted))
    signs = ','.join(str(x) for x in wanted)
    return f'Say --torque-sign={signs}, or effort_sign: {joints} in the settings of the arm'
