"""simulate_recording: a recording of an arm in motion, for who has none yet."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np

from safe_sysid.api.arguments import natural, number, path_from, payload_from
from safe_sysid.api.arms import ArmLike, load_arm
from safe_sysid.api.excitation import ExcitationResult
from safe_sysid.arrays import Array
from safe_sysid.config import Range
from safe_sysid.model.payload import Payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.output_file import new_file
from safe_sysid.simulate.excited_motion import (
    SimulatedMotion,
    fourier_motion,
    measured_torque,
    within_limits,
)

PERIOD = 0.002  # [s] between samples
LENGTHS = Range(above=0.0, at_most=1e4)  # [s]
ERRORS = Range(at_least=0.0, less_than=1.0)
KINDS = ('position', 'velocity', 'effort')


def simulate_recording(
    path: str | PathLike[str],
    arm: ArmLike,
    payload: Payload | str | PathLike[str] | None = None,
    motion: ExcitationResult | float = 10.0,
    torque_error: float = 0.02,
    seed: int = 1,
) -> None:
    """Write a recording (CSV) of an arm that follows a motion exactly.

    Args:
        path: of the file; columns `time`, `<joint>.position`, `.velocity`, `.effort`.
        arm: what `load_arm` returns or takes.
        payload: what it holds: a name such as `dumbbell_8lb`, a YAML file, or nothing.
        motion: an excitation, or the length [s] of a random motion of all joints,
            within their limits of position and speed.
        torque_error: errors of torques are random, and at most this share of the torque.
        seed: of the random motion and errors.

    """
    model, rng = load_arm(arm).model, np.random.default_rng(natural('seed', seed))
    held, share = payload_from(payload), number('torque_error', torque_error, ERRORS)
    truth = model if held is None else model.with_payload(held)
    if isinstance(motion, ExcitationResult):
        moved = SimulatedMotion(motion.time, motion.position, motion.velocity, motion.acceleration)
    else:
        free = fourier_motion(rng, model.n, number('motion', motion, LENGTHS), PERIOD)
        moved = within_limits(free, model.limits)
    torque = measured_torque(truth, moved)
    errors = share * rng.uniform(-1.0, 1.0, torque.shape)
    write_recording(path_from(path), truth, moved.t, (moved.q, moved.qd, torque / (1.0 + errors)))


def write_recording(
    path: Path, model: RobotModel, time: Array, states: tuple[Array, Array, Array]
) -> None:
    """Write times (N,) and positions, velocities and torques (N, n) as `identify` reads them.

    Effort is counted as the driver of the arm counts it.
    """
    position, velocity, torque = states
    effort = torque / (model.sensors.effort_sign * model.sensors.effort_scale)
    names = [f'{joint}.{kind}' for kind in KINDS for joint in model.layout.joint_names]
    path.parent.mkdir(parents=True, exist_ok=True)
    rows, header = np.column_stack([time, position, velocity, effort]), ','.join(['time', *names])
    with new_file(path) as part:
        np.savetxt(part, rows, '%.12g', ',', header=header, comments='')
