"""Recordings of real arms that are not part of the project, where somebody has them.

The folder is $SAFE_SYSID_DATA, or ../shared/data beside the checkout.
"""

import os
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent.parent
FOLDER = Path(os.environ.get('SAFE_SYSID_DATA', ROOT.parent / 'shared' / 'data'))


def recorded(name):
    """A file of the folder; the test is skipped without it."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f'{path} is not here; set SAFE_SYSID_DATA to a folder that has it')
    return path


def tx40_table(path):
    """Joint positions and torques of the Stäubli TX40 from those of its motors, as a table."""
    motors, torques = (
        np.loadtxt(recorded(f'tx40_figaroh/{name}.csv'), delimiter=',', skiprows=1)
        for name in ('pos_read_data', 'curr_data')
    )
    gears = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
    gears[5, 4] = 32.0  # motor 6 turns with joint 5
    q = np.linalg.solve(gears, motors.T).T
    q[:, 1] -= np.pi / 2
    q[:, 2] += np.pi / 2
    rows = np.column_stack([np.arange(len(q)) * 2e-4, q, torques @ gears])
    names = [f'{what}_{i}' for what in ('q', 'tau') for i in range(1, 7)]
    np.savetxt(path, rows, '%.12g', ',', header=','.join(['time', *names]), comments='')
    return path


def med7_table(path):
    """Three files of the Med7, one for each quantity, as one table with the URDF's names."""
    parts, header = [], ['time']
    for quantity in ('positions', 'velocities', 'efforts'):
        file = recorded(f'kuka_med7_tian/joint_states_{quantity}.csv')
        names = file.open(encoding='utf-8').readline().strip().split(',')
        table = np.loadtxt(file, delimiter=',', skiprows=1)
        if not parts:
            parts.append(table[:, 0:1] - table[0, 0])
        parts.append(table[:, [names.index(f'lbr_joint_{i}') for i in range(7)]])
        what = {'positions': 'position', 'velocities': 'velocity', 'efforts': 'effort'}[quantity]
        header += [f'A{i}.{what}' for i in range(1, 8)]
    rows = np.column_stack(parts)
    np.savetxt(path, rows, '%.12g', ',', header=','.join(header), comments='')
    return path
