"""Rows of an arm at rest in poses, empty and with a payload.

At rest torques are those of gravity and of friction, which may be anything up to Coulomb's: an
error of each pose, of either sign, that nothing but other poses average. Each pose is a block of
its own. Mass and centre of mass are told, moments of inertia are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.difference.guaranteed import Promise, promise_of
from safe_sysid.identify.difference.intervals import Evidence
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.difference.spectral_blocks import SpectralBlocks
from safe_sysid.measure.csv_log import pose_columns
from safe_sysid.measure.recording_choice import RecordingChoice, joint_names
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel

WEIGHT = ('m', 'mcx', 'mcy', 'mcz')  # of a body, of which a pose tells anything
FEWEST = 4  # poses with the payload


def read_poses(choice: RecordingChoice, joints: tuple[str, ...]) -> tuple[Array, Array]:
    """Positions and efforts of a table with a row for every pose, (N, n) each."""
    names = joint_names(choice, joints)
    try:
        q, effort = pose_columns(Path(choice.path), names, choice.columns)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise MeasurementError(f'{choice.path}: is no table of poses ({error})') from error
    if len(q) < FEWEST:
        raise MeasurementError(f'{choice.path}: {len(q)} poses; {FEWEST} or more are needed')
    if not (np.isfinite(q).all() and np.isfinite(effort).all()):
        raise MeasurementError(f'{choice.path}: some of its numbers are not finite')
    return q, effort


def weight_in_poses(model: RobotModel, q: Array) -> Array:
    """Torque of each joint that holds 1 kg at the last one, (N, n) [N m]."""
    still = np.zeros_like(q)
    body = standard_regressor(model, q, still, still)[:, :, model.layout.end_effector]
    return np.asarray(body[:, :, 0])


def pose_rows(
    model: RobotModel, tables: Sequence[tuple[Array, Array]], loaded: int | None, frame: Array
) -> DifferenceRows:
    """Rows of tables of positions and torques [N m], one of which may be loaded.

    `frame` turns parameters in the frame of the last joint into those of the payload's, (10, 10).
    """
    q, tau = (np.concatenate([table[i] for table in tables]) for i in (0, 1))
    still = np.zeros_like(q)
    W = standard_regressor(model, q, still, still)
    weights = 10 * np.arange(model.n)[:, None] + np.arange(len(WEIGHT))
    offsets = np.arange(model.n) + model.layout.joint_entries('beta').start
    number = np.concatenate([np.full(len(table[0]), i) for i, table in enumerate(tables)])
    times = np.concatenate([np.arange(len(table[0]), dtype=float) for table in tables])
    payload = W[:, :, model.layout.end_effector] @ np.linalg.inv(frame)
    return DifferenceRows(
        W[:, :, [*weights.ravel(), *offsets]], payload, tau,
        np.ones(tau.shape, dtype=bool), np.asarray(number == loaded), number, number, times, 1.0,
    )  # fmt: skip


def blocks_of_poses(given: Evidence) -> tuple[Promise, SpectralBlocks]:
    """Every pose by itself, and the largest error that any empty one shows."""
    empty = _single(given.empty_rows)
    return promise_of(empty, given.empty_rows, given.empty_fit), _single(given.rows)


def _single(rows: DifferenceRows) -> SpectralBlocks:
    number = np.arange(len(rows))[:, None]
    return SpectralBlocks(number, rows.loaded, rows.counts, np.eye(1), 1.0)
