"""What the windows of a recording say of the object: whether it is rigid, and which one it is.

Statistics beside the bounds; no bound rests on them. Windows are short here, as what sloshes is
faster than what moves the arm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.change.held_next import body_bounds
from safe_sysid.identify.change.impulse_noise import lasting_variance, sensor_variance
from safe_sysid.identify.change.known_objects import known_object, recognised
from safe_sysid.identify.change.rigidity import (
    Rigidity,
    UnmodelledTorque,
    WindowRows,
    rigidity,
)
from safe_sysid.identify.change.shared_posterior import SharedPosterior
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.identify.observation import stacked
from safe_sysid.identify.recorded_windows import (
    RecordedWindow,
    moving,
    recorded_windows,
    with_pushes,
)
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.dynamics.forward_kinematics import tip_jacobians
from safe_sysid.model.grasp import GraspError
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.payload import Payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

WINDOW = 0.05  # [s]
FEWEST = 5  # samples of a window
FARTHEST = 0.5  # [m] from the last joint that a centre is looked for
RATE = 20.0  # [Hz] of poses that say how long the lever of a force is


@dataclass(frozen=True, eq=False)
class HeldObject:
    """What is said of the object in the hand."""

    rigidity: Rigidity | None  # None: windows are too few or too long for it
    probabilities: Mapping[
        str, float
    ]  # of each known object and of none of them; none: no library
    inside: tuple[str, ...] = ()  # known objects whose own bounds contain the guaranteed ones

    @property
    def likeliest(self) -> tuple[str, float] | None:
        """Name and probability; None without a library."""
        return next(iter(self.probabilities.items()), None)


@dataclass(frozen=True, eq=False)
class RecordedObject:
    """A recording, what was known before it, and what nobody models."""

    model: RobotModel
    prior: ParameterEstimate
    observation: ObservationSettings
    log: JointLog
    unmodelled_torque: float  # [N m]

    def judged(self, library: Sequence[Payload], own: Interval) -> HeldObject:
        """Return what windows say; `own` are bounds on theta_e of the empty hand."""
        if not self._windows:
            return HeldObject(None, {})
        after = self._after
        tested = self.rigidity()
        if not library:
            return HeldObject(tested, {})
        objects = [known_object(self.model, each, GraspError(), own) for each in library]
        return HeldObject(tested, recognised(after, self.prior.end_effector_bounds, objects))

    def rigidity(self) -> Rigidity | None:
        """Return what windows say of a rigid body that is pulled at its likeliest centre."""
        if not self._windows:
            return None
        return rigidity(self._pushed(self._windows), self._belief, self._samples, self._noise)

    def rigidity_in_motion(self, probability: float) -> Rigidity | None:
        """Return the same of joints that move, with this probability of a false alarm."""
        windows = moving(self._windows, self.log)
        tested = self._belief, self._samples, self._noise, probability
        return rigidity(self._pushed(windows), *tested)

    def _pushed(self, windows: Sequence[RecordedWindow]) -> list[WindowRows]:
        """Return windows with what a force on the likeliest centre does in them."""
        if not windows:
            return []
        mass, *moment = self._after.body[0][:4]
        if not mass > 0.0:  # what is held fits no body at all
            mass, *moment = self.prior.end_effector[:4]
        point = np.array(moment) / max(mass, 1e-9)
        point *= min(1.0, FARTHEST / max(float(np.linalg.norm(point)), 1e-9))
        return with_pushes(self.model, windows, point)

    @property
    def _noise(self) -> UnmodelledTorque:
        return UnmodelledTorque(self.unmodelled_torque)

    @cached_property
    def _samples(self) -> int:
        period = self.observation.longest_step / 2.5
        if len(self.log) > 1:
            period = float(np.median(np.diff(self.log.stamp))) * 1e-9
        return max(FEWEST, round(WINDOW / period))

    @cached_property
    def _windows(self) -> list[RecordedWindow]:
        """Rows of short windows; none where samples are too far apart for them."""
        settings = replace(self.observation, window=self._samples)
        windows = recorded_windows(self.model, self.prior.bounds, settings, self.log)
        lengths = [float(each.rows.end[0] - each.rows.start[0]) for each in windows]
        return windows if lengths and max(lengths) <= 2.0 * WINDOW else []

    @cached_property
    def _belief(self) -> SharedPosterior:
        """Before any window."""
        rest = self.prior.bounds[self.prior.layout.rest]
        gains = self.observation.torques(self.model).ratio
        return SharedPosterior.before(self.prior.end_effector_bounds, rest, gains)

    @cached_property
    def _after(self) -> SharedPosterior:
        """After all windows."""
        noise, rows = self._noise, stacked([each.rows for each in self._windows])
        lasting = lasting_variance(1.0, noise.deviation, noise.memory) * (rows.end - rows.start)
        variance = sensor_variance(rows, self._samples) + lasting
        return self._belief.after_all(self._belief.row_matrix(rows), rows.b, variance)


def containing(
    model: RobotModel, library: Sequence[Payload], own: Interval, found: ParameterEstimate
) -> tuple[str, ...]:
    """Names of known objects whose own bounds contain those that were found."""
    return tuple(
        each.name
        for each in library
        if (own + body_bounds(model, each, GraspError())).contains(found.end_effector_bounds)
    )


def torque_of_force(model: RobotModel, log: JointLog, reach: float, force: float) -> Array:
    """Most torque of each joint [N m] that a force [N] makes anywhere within reach of the tip.

    Levers are those of some poses, and as much longer as the arm may move in between.
    """
    if not force:
        return np.zeros(model.n)
    period = float(np.median(np.diff(log.stamp))) * 1e-9
    every = max(1, round(1.0 / (RATE * period)))
    poses = log.position[::every]
    moves = 1.0 - model.tree.is_prismatic.astype(float)
    levers = np.linalg.norm(tip_jacobians(model, poses)[:, :3], axis=1) + moves * reach
    way = max(
        (
            float(np.abs(log.position[i : i + every + 1] - log.position[i]).sum(axis=1).max())
            for i in range(0, len(log), every)
        ),
        default=0.0,
    )
    slides = np.abs(log.position[:, model.tree.is_prismatic]).max(axis=0, initial=0.0).sum()
    span = float(np.linalg.norm(model.tree.p_parent_joint, axis=1).sum() + slides + reach)
    return np.asarray(force * (levers.max(axis=0) + moves * way * max(1.0, span)))
