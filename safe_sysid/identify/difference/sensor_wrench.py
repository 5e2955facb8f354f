"""Rows of a force/torque sensor at the wrist: what hangs behind it, with a payload and without.

In axes of the sensor, with a the acceleration of its origin minus gravity, w and alpha its
angular velocity and acceleration,

    force  = m a + alpha x mc + w x (w x mc)
    moment = mc x a + I alpha + w x (I w)

which is linear in the ten parameters of whatever hangs there. Tool, bias of the sensor and a small
turn e of its axes against those of its link are unknowns of all rows; a turned sensor reports y
with y + e x y the wrench, so that e has the columns y x. The turn found is taken out and found
again until it is small; a large one is refused. Friction and drives have no part in this.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from safe_sysid.arrays import Array
from safe_sysid.calibrate.even_log import EvenLog, even_logs
from safe_sysid.calibrate.even_recording import BRIDGED, FEWEST_SECONDS
from safe_sysid.calibrate.motion_noise import kept_of_motion
from safe_sysid.calibrate.torque_rows import ENDS, KEPT, MOTION, WORKING, motion_of, whole_steps
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.difference.rows import LEAST_MOTION, NYQUIST, DifferenceRows
from safe_sysid.identify.difference.shared_fit import payload_prior, shared_fit
from safe_sysid.identify.payload_in_frame import into_frame
from safe_sysid.measure.filters import derivative, low_pass_at, zero_phase
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.measure.recording import Recording
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.inertia import skew
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.urdf_tree import Frame

CHANNELS = ('force x', 'force y', 'force z', 'moment x', 'moment y', 'moment z')
TOOL, BIAS, TURN = slice(0, 10), slice(10, 16), slice(16, 19)  # columns of x
ROUNDS = 4  # of taking the turn out
LARGEST_TURN = 0.35  # [rad] beyond which another link, or the turn itself, has to be stated
LOOKED_AT = 300  # positions
PRIOR = payload_prior(100.0, 1.0, 1.0)  # while the turn is looked for


def wrench_logs(recording: Recording) -> list[EvenLog]:
    """Even pieces; columns are the joints (with torques 0), then the sensor (with positions 0)."""
    n, N = recording.position.shape[1], len(recording)
    q = np.concatenate([np.unwrap(recording.position, axis=0), np.zeros((N, 6))], axis=1)
    w = np.concatenate([np.zeros((N, n)), recording.effort], axis=1)
    pieces = even_logs(JointLog(recording.stamp, q, np.zeros_like(q), w), BRIDGED)
    return [piece for piece in pieces if piece.seconds >= FEWEST_SECONDS] or pieces


def weight_at_sensor(model: RobotModel, q: Array, sensor: Frame) -> Array:
    """Wrench of the weight of 1 kg at the origin of a sensor at rest, (M, 6)."""
    tip, step = model.layout.tip, max(len(q) // LOOKED_AT, 1)
    axes = np.array([joint_frames(model, row)[0][tip] @ sensor.R for row in q[::step]])
    force = -np.einsum('kji,j->ki', axes, model.tree.gravity)
    return np.concatenate([force, np.zeros_like(force)], axis=1)


def wrench_rows(
    model: RobotModel,
    recordings: list[list[EvenLog]],
    loaded: int | None,
    cutoff: float,
    frames: tuple[Frame, Array],
) -> DifferenceRows:
    """Rows of recordings, one of which (by its number) may be loaded.

    Frames are that of the sensor, and the parameters of the payload's frame of the last joint's.
    """
    parts, number = [], 0
    for i, logs in enumerate(recordings):
        for log in logs:
            rows = _rows(model, log, cutoff, frames)
            size = len(rows)
            parts.append(
                replace(
                    rows,
                    loaded=np.full(size, i == loaded),
                    recording=np.full(size, i),
                    stretch=np.full(size, number),
                )
            )
            number += 1
    names = ('Y', 'Y_L', 'tau', 'counts', 'loaded', 'recording', 'stretch', 't')
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in names
    }
    return replace(parts[0], **joined)


def _rows(
    model: RobotModel, log: EvenLog, cutoff: float, frames: tuple[Frame, Array]
) -> DifferenceRows:
    sensor, frame = frames
    n = model.n
    kept_motion = min(max(MOTION * cutoff, LEAST_MOTION), NYQUIST * log.rate)
    motion = motion_of(log, kept_of_motion(log, kept_motion))
    step = whole_steps(log.rate, WORKING * cutoff)
    working = log.rate / step
    wrench = log.tau if step == 1 else zero_phase(log.tau, log.rate, 0.4 * working)
    W = wrench_regressor(model, motion.q[::step, :n], working, sensor)
    ends = max(round(ENDS * working / cutoff), 3)
    kept = slice(ends, max(len(W) - ends, ends), whole_steps(working, KEPT * cutoff))
    filtered = low_pass_at(W, working, cutoff, kept)
    tau = low_pass_at(wrench[::step, n:], working, cutoff, kept)
    N = len(tau)
    into_sensor = into_frame(sensor) @ np.linalg.inv(frame)
    flags = np.ones((N, 6), dtype=bool)
    t = log.begin + np.arange(len(W))[kept] / working
    zeros = np.zeros(N, dtype=np.int64)
    return DifferenceRows(
        _with_sensor(filtered, tau), filtered @ into_sensor, tau, flags,
        np.zeros(N, dtype=bool), zeros, zeros, t, working / (kept.step or 1),
    )  # fmt: skip


def wrench_regressor(model: RobotModel, q: Array, rate: float, sensor: Frame) -> Array:
    """Wrench by the ten parameters of a body in the frame of the sensor, (N, 6, 10)."""
    tip = model.layout.tip
    R, p = np.empty((len(q), 3, 3)), np.empty((len(q), 3))
    for k, row in enumerate(q):
        axes, origins = joint_frames(model, row)
        R[k] = axes[tip] @ sensor.R
        p[k] = origins[tip] + axes[tip] @ sensor.p
    turning = np.swapaxes(R, 1, 2) @ derivative(R.reshape(-1, 9), rate).reshape(R.shape)
    w = np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], axis=-1)
    alpha = derivative(w, rate)
    lifted = derivative(derivative(p, rate), rate) - model.tree.gravity
    a = np.einsum('kji,kj->ki', R, lifted)
    A = np.zeros((len(q), 6, 10))
    cross = skew(w)
    A[:, :3, 0] = a
    A[:, :3, 1:4] = skew(alpha) + cross @ cross
    A[:, 3:, 1:4] = -skew(a)
    A[:, 3:, 4:] = _inertia_columns(alpha) + cross @ _inertia_columns(w)
    return A


def _inertia_columns(v: Array) -> Array:
    """I v by Ixx, Ixy, Iyy, Ixz, Iyz, Izz, (N, 3) -> (N, 3, 6)."""
    x, y, z = v.T
    o = np.zeros_like(x)
    return np.stack(
        [
            np.stack([x, y, o, z, o, o], -1),
            np.stack([o, x, y, o, z, o], -1),
            np.stack([o, o, o, x, y, z], -1),
        ],
        axis=1,
    )


def _with_sensor(tool: Array, wrench: Array) -> Array:
    """Columns of tool, bias and turn."""
    N = len(tool)
    turn = np.concatenate([skew(wrench[:, :3]), skew(wrench[:, 3:])], axis=1)
    return np.concatenate([tool, np.broadcast_to(np.eye(6), (N, 6, 6)), turn], axis=2)


def with_axes_found(rows: DifferenceRows) -> tuple[DifferenceRows, Array, float]:
    """Rows in the axes that suit all of them, the turn [rad] to them, and the sense of wrenches.

    The sense is -1 where the sensor reports what acts on the arm: what it carries in all would
    have a negative mass.
    """
    rows, turn = _turned(rows)
    fit = shared_fit(rows, PRIOR)
    if fit.x[0] + (fit.phi[0] if rows.loaded.any() else 0.0) < 0.0:
        rows = _in_axes(rows, np.eye(3), -1.0)
        rows, more = _turned(rows)
        return rows, turn + more, -1.0
    return rows, turn, 1.0


def _turned(rows: DifferenceRows) -> tuple[DifferenceRows, Array]:
    whole = Rotation.identity()
    for _ in range(ROUNDS):
        turn = Rotation.from_rotvec(shared_fit(rows, PRIOR).x[TURN])
        rows, whole = _in_axes(rows, turn.as_matrix(), 1.0), turn * whole
        if whole.magnitude() > LARGEST_TURN:
            raise MeasurementError(
                f'the axes of the sensor are {np.degrees(whole.magnitude()):.0f}° or more from '
                f'those of its link ({np.degrees(LARGEST_TURN):.0f}° at most): name the link with '
                'the axes of the sensor (--sensor), or correct its origin in the URDF'
            )
    return rows, whole.as_rotvec()


def _in_axes(rows: DifferenceRows, turn: Array, sense: float) -> DifferenceRows:
    force, moment = (sense * rows.tau[:, x] @ turn.T for x in (slice(0, 3), slice(3, 6)))
    tau = np.concatenate([force, moment], axis=1)
    return replace(rows, tau=tau, Y=_with_sensor(rows.Y[:, :, TOOL], tau))
