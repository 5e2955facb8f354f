"""Writes a motion as CSV, as a JointTrajectory in YAML, and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.report.figures import stacked_plot

CSV, TRAJECTORY, PICTURE = 'excitation.csv', 'excitation.yaml', 'excitation.svg'


@dataclass(frozen=True, eq=False)
class SampledMotion:
    """A motion at the times at which it is commanded, its end included."""

    joint_names: tuple[str, ...]
    t: Array  # (N,) [s]
    states: Array  # (3, N, n) q, qd, qdd


def write_motion(folder: Path, motion: SampledMotion, about: Sequence[str]) -> list[Path]:
    """All three files in a folder; the sentences of `about` head the text files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in (CSV, TRAJECTORY, PICTURE)]
    paths[0].write_text(_csv(motion), encoding='utf-8')
    paths[1].write_text(_trajectory(motion, about), encoding='utf-8')
    panels = {
        label: dict(zip(motion.joint_names, rows.T, strict=True))
        for label, rows in zip(
            ('position [rad]', 'velocity [rad/s]', 'acceleration [rad/s²]'),
            motion.states,
            strict=True,
        )
    }
    stacked_plot(paths[2], motion.t, panels, 'time [s]')
    return paths


def _csv(motion: SampledMotion) -> str:
    """Columns time, then position, velocity and acceleration of every joint."""
    kinds = ('position', 'velocity', 'acceleration')
    columns = [f'{kind}_{name}' for kind in kinds for name in motion.joint_names]
    rows = np.column_stack([motion.t, *motion.states])
    lines = [','.join(['time', *columns])]
    lines += [','.join(f'{value:.12g}' for value in row) for row in rows]
    return '\n'.join(lines) + '\n'


def _trajectory(motion: SampledMotion, about: Sequence[str]) -> str:
    """A trajectory_msgs/JointTrajectory as `ros2 topic pub` takes it."""
    lines = [f'# {sentence}' for sentence in about]
    lines += [f'joint_names: [{", ".join(motion.joint_names)}]', 'points:']
    for t, q, qd, qdd in zip(motion.t, *motion.states, strict=True):
        nanoseconds = round(t * 1e9)
        lines += [
            f'- positions: {_numbers(q)}',
            f'  velocities: {_numbers(qd)}',
            f'  accelerations: {_numbers(qdd)}',
            f'  time_from_start: {{sec: {nanoseconds // 10**9}, nanosec: {nanoseconds % 10**9}}}',
        ]
    return '\n'.join(lines) + '\n'


def _numbers(values: Array) -> str:
    """A list; every number has a point, without which YAML reads 1e-05 as text."""
    return '[' + ', '.join(f'{value:.12f}' for value in values) + ']'
