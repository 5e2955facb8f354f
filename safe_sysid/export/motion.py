"""Writes a motion as CSV, as a JointTrajectory in YAML, and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.output_file import filled_folder, write_text
from safe_sysid.report.figures import stacked_plot

HEAD = 'WARNING, NOT proven free of contact, written because of --unproven-contact'
SUFFIXES = ('.csv', '.yaml', '.svg')


@dataclass(frozen=True, eq=False)
class MotionSamples:
    """A motion at the times at which it is commanded, its end included."""

    joint_names: tuple[str, ...]
    t: Array  # (N,) [s]
    states: Array  # (3, N, n) q, qd, qdd
    contact_doubts: tuple[str, ...]  # why it is not proven free of contact; empty if it is
    name: str = 'excitation'  # of the files


def write_motion(
    folder: Path, motion: MotionSamples, about: Sequence[str], *, unproven_contact: bool
) -> list[Path]:
    """Write all three files to a folder; the sentences of `about` head the trajectory.

    A motion that is not proven free of contact is written only if `unproven_contact` asks for it;
    both text files then begin with why. CSV has no comments, so readers stumble over that on
    purpose.
    """
    if not unproven_contact:
        refuse_unproven(motion.contact_doubts)
    warning = [f'{HEAD}: {doubt}' for doubt in motion.contact_doubts]
    paths = motion_files(folder, motion.name)
    panels = {
        label: dict(zip(motion.joint_names, rows.T, strict=True))
        for label, rows in zip(
            ('position [rad]', 'velocity [rad/s]', 'acceleration [rad/s²]'),
            motion.states,
            strict=True,
        )
    }
    with filled_folder(folder):
        write_text(paths[0], _comments(warning) + _csv(motion))
        write_text(paths[1], _comments([*warning, *about]) + _trajectory(motion))
        stacked_plot(paths[2], motion.t, panels, 'time [s]')
    return paths


def motion_files(folder: Path, name: str = MotionSamples.name) -> list[Path]:
    """Files that a motion is written into."""
    return [folder / f'{name}{suffix}' for suffix in SUFFIXES]


def refuse_unproven(doubts: Sequence[str]) -> None:
    """Raise a BoundError when something speaks against a proof that nothing is touched."""
    if doubts:
        raise BoundError(
            f'no file is written, as the motion is not proven free of contact: '
            f'{"; ".join(doubts)}. With --unproven-contact it is written, and begins with this'
        )


def _comments(sentences: Sequence[str]) -> str:
    return ''.join(f'# {sentence}\n' for sentence in sentences)


def _csv(motion: MotionSamples) -> str:
    """Columns time, then position, velocity and acceleration of every joint."""
    kinds = ('position', 'velocity', 'acceleration')
    columns = [f'{kind}_{name}' for kind in kinds for name in motion.joint_names]
    rows = np.column_stack([motion.t, *motion.states])
    lines = [','.join(['time', *columns])]
    lines += [','.join(f'{value:.12g}' for value in row) for row in rows]
    return '\n'.join(lines) + '\n'


def _trajectory(motion: MotionSamples) -> str:
    """Return a trajectory_msgs/JointTrajectory as `ros2 topic pub` takes it."""
    lines = [f'joint_names: [{", ".join(motion.joint_names)}]', 'points:']
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
    """Return a list; every number has a point, without which YAML reads 1e-05 as text."""
    return '[' + ', '.join(f'{value:.12f}' for value in values) + ']'
