"""The payload from a wrist's force/torque sensor, or from torques of an arm at rest in poses.

Both become rows of an empty and a loaded arm, and both intervals follow as from joint torques in
motion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.difference.answer import PayloadDifference
from safe_sysid.identify.difference.friction_choice import FrictionChoice
from safe_sysid.identify.difference.friction_terms import FrictionTerms
from safe_sysid.identify.difference.intervals import (
    GUARANTEED_THRESHOLD,
    Assumed,
    Evidence,
    blocks_of_motion,
    difference_of,
    too_brief,
)
from safe_sysid.identify.difference.motion_band import cutoff_of, motion_band
from safe_sysid.identify.difference.pose_effort import strange_size
from safe_sysid.identify.difference.resting_poses import WEIGHT, blocks_of_poses, pose_rows
from safe_sysid.identify.difference.sensor_wrench import (
    BIAS,
    CHANNELS,
    TOOL,
    with_axes_found,
    wrench_rows,
)
from safe_sysid.identify.difference.shared_fit import shared_fit
from safe_sysid.identify.difference.torque_delay import TorqueDelay, torque_delay
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.urdf_tree import Frame

PLAIN = FrictionChoice(FrictionTerms(), float('nan'), ())
AT_REST = TorqueDelay(0.0, 0.0, np.zeros(0), 0.0)
KNOWN_MASS = (
    'most of the interval is by the unit of the sensor: compare it with a known mass, and state '
    'what is left of it (--gain-error)'
)
SURE = 3.0  # deviations beyond which a negative mass is one


@dataclass(frozen=True, eq=False)
class WrenchProblem:
    """Recordings of a sensor, and where it is."""

    model: RobotModel
    loaded: list[EvenLog]  # as `wrench_logs` makes them
    empty: list[list[EvenLog]]
    sensor: Frame  # on the last joint
    frame: tuple[str, Array]  # of the payload: name, its parameters of those of the last joint
    assumed: Assumed
    cutoff: float | None = None  # [Hz]


def wrench_difference(problem: WrenchProblem) -> tuple[PayloadDifference, tuple[str, ...]]:
    """Identify what hangs behind a sensor beyond its tool; and sentences about the sensor."""
    bands = (
        motion_band([log for logs in problem.empty for log in logs]),
        motion_band(problem.loaded),
    )
    cutoff = problem.cutoff or max(cutoff_of(band) for band in bands)
    recordings = [*problem.empty, problem.loaded]
    rows = wrench_rows(
        problem.model, recordings, len(problem.empty), cutoff, (problem.sensor, problem.frame[1])
    )
    seconds = float(np.count_nonzero(rows.loaded)) / rows.rate
    brief = too_brief(seconds, f'with the payload are left behind the filter of {cutoff:g} Hz')
    rows, turn, sense = with_axes_found(rows)
    empty = rows.part(~rows.loaded)
    fit = shared_fit(empty, problem.assumed.prior, GUARANTEED_THRESHOLD)
    velocity = np.tile(rows.t[:, None], (1, len(CHANNELS)))  # beside residuals stands the time
    given = Evidence(
        rows, empty, fit, torque_delay(empty), len(problem.empty), velocity, CHANNELS,
        None, bands[1].beyond(bands[0]), np.arange(TOOL.start, TOOL.stop), brief,
    )  # fmt: skip
    found = difference_of(
        given, problem.assumed, (problem.frame[0], PLAIN, cutoff), blocks_of_motion
    )
    _check_mass(found, 'loaded and empty recordings may be exchanged')
    if found.next_recording is not None and 'calibrate-gains' in found.next_recording:
        found = replace(found, next_recording=KNOWN_MASS)
    bias = shared_fit(rows, problem.assumed.prior).x[BIAS]
    counted = 'on what it carries' if sense > 0.0 else 'on the arm: counted the other way'
    listed = ', '.join(f'{x:.3g}' for x in bias)
    return found, (
        f'bias and axes of the sensor are the same in all recordings; found: {listed} (N, N m) '
        f'and {np.degrees(np.linalg.norm(turn)):.2g}° from its link; it reports what acts '
        f'{counted}',
        'what stands under friction as a limit is of bias and axes, under links of the tool',
    )


@dataclass(frozen=True, eq=False)
class PoseProblem:
    """Tables of positions and torques [N m] of an arm at rest."""

    model: RobotModel
    loaded: tuple[Array, Array]
    empty: list[tuple[Array, Array]]
    frame: tuple[str, Array]
    assumed: Assumed
    unit_is_stated: bool = False  # whether anybody said how well the unit of the effort is known


def pose_difference(problem: PoseProblem) -> PayloadDifference:
    """Identify what an arm holds in poses beyond what it held in others."""
    model, number = problem.model, len(problem.empty)
    rows = pose_rows(model, [*problem.empty, problem.loaded], number, problem.frame[1])
    empty = rows.part(~rows.loaded)
    n = model.n
    _check_number(len(empty), n)
    fit = shared_fit(empty, problem.assumed.prior, GUARANTEED_THRESHOLD)
    q, tau = (np.concatenate([table[i] for table in problem.empty]) for i in (0, 1))
    strange = strange_size(model, q, tau)
    doubt, stated = (None, strange) if problem.unit_is_stated else (strange, None)
    given = Evidence(
        rows, empty, fit, AT_REST, number, np.zeros(rows.tau.shape),
        model.layout.joint_names, doubt, 1.0, np.arange(len(WEIGHT) * n),
    )  # fmt: skip
    found = difference_of(given, problem.assumed, (problem.frame[0], PLAIN, 0.0), blocks_of_poses)
    found = replace(found, strange_unit=stated)
    _check_mass(found, 'loaded and empty poses may be exchanged, or torques have the other sign')
    if found.next_recording is None:
        return found
    poses = 4 * int(np.count_nonzero(rows.loaded))
    return replace(found, next_recording=f'record {poses} poses with it')


def _check_number(poses: int, n: int) -> None:
    """Raise a MeasurementError where poses are fewer than tell an arm at rest."""
    if poses < n + 2:  # 3 n combinations of weights at most, and n offsets, in n rows each
        raise MeasurementError(
            f'{poses} empty poses are too few for {n} joints: {n + 2} or more are needed'
        )


def _check_mass(found: PayloadDifference, why: str) -> None:
    given = found.statistical
    if given is not None and found.nominal[0] < -SURE * 0.5 * given.bounds.radius[0]:
        raise MeasurementError(
            f'the payload would weigh {found.nominal[0]:.3f} ± {given.bounds.radius[0]:.3f} kg: '
            f'{why}'
        )
