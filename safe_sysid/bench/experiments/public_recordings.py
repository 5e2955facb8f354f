"""Recordings of empty real arms that others have published, where they are at hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.even_recording import even_recording
from safe_sysid.identify.difference.gain_calibration import GainRecordings, calibrated_gains
from safe_sysid.measure.csv_log import Columns
from safe_sysid.measure.recording import Recording, Samples, recording_of
from safe_sysid.measure.recording_choice import RecordingChoice, recording_of_choice
from safe_sysid.model.arm import Arm, arm_of

TX40_GEARS = (32.0, 32.0, 45.0, -48.0, 45.0, 32.0)
TX40_STEP = 2e-4  # [s]


@dataclass(frozen=True)
class PublicRecording:
    """One recording without a payload, and how it is to be read."""

    urdf: str
    file: str
    sign: float = 1.0
    rate: float | None = None
    names: str = '{joint}'
    known: tuple[str, float] | None = None  # recording with a body and its mass [kg], which tell
    # the gains


PUBLIC = {
    'panda_1khz': PublicRecording('ros2bag_unisa/panda_arm.urdf', 'panda_1khz/panda_1khz.csv'),
    'panda_bag': PublicRecording(
        'ros2bag_unisa/panda_arm.urdf',
        'ros2bag_unisa/panda_exciting_trajectory.db3',
        names='fer_joint{n}',
    ),
    'ur10_bag': PublicRecording(
        'ros2bag_unisa/ur10_robot.urdf', 'ros2bag_unisa/ur10_exciting_trajectory.db3'
    ),
    'ur10e_current': PublicRecording(
        'ur10e_current/ur10e.urdf',
        'ur10e_current/empty_50s.csv',
        known=('ur10e_current/loaded_2805g_50s.csv', 2.805),
    ),
    'med7_tian': PublicRecording(
        'kuka_med7_tian/med7dock.urdf',
        'kuka_med7_tian/measurements_with_ext_tau_1_dgr.csv',
        sign=-1.0,
        rate=100.0,
    ),
    'med7_meas': PublicRecording(
        'kuka_med7_tian/med7dock.urdf', 'kuka_med7_tian/measurements.csv', sign=-1.0, rate=100.0
    ),
    'med7_in_phase': PublicRecording(
        'kuka_med7_tian/med7dock.urdf', 'kuka_med7_tian/joint_states_positions.csv', sign=-1.0
    ),
    'tx40': PublicRecording(
        'tx40_figaroh/tx40_mdh_modified.urdf', 'tx40_figaroh/pos_read_data.csv'
    ),
}


def public_logs(folder: Path, name: str) -> tuple[Arm, list[EvenLog]]:
    """Return the arm and its recording, evenly sampled, torque in N m."""
    about = PUBLIC[name]
    arm = arm_of(str(folder / about.urdf), None)
    model = arm.model
    choice = RecordingChoice(
        folder / about.file, None, about.names, columns=Columns(rate=about.rate)
    )
    gain = np.full(model.n, about.sign)
    if about.known is not None:
        file, mass = about.known
        pair = GainRecordings([choice], [RecordingChoice(folder / file)])
        gain = calibrated_gains(arm, pair, mass)[0].gain
    names = model.layout.joint_names
    if name == 'tx40':
        recording = _tx40(choice.path, names)
    elif name == 'med7_in_phase':
        recording = _three_tables(choice.path, names)
    else:
        recording = recording_of_choice(choice, names)
    return arm, even_recording(recording, np.sign(gain), np.abs(gain), model.limits.is_continuous)


def _tx40(path: Path, joints: tuple[str, ...]) -> Recording:
    """Joints of a Stäubli TX40 from its motors; motor 6 turns with joint 5."""
    motors, torques = (_table(path.with_name(x)) for x in (path.name, 'curr_data.csv'))
    gears = np.diag(TX40_GEARS)
    gears[5, 4] = TX40_GEARS[5]
    q = np.linalg.solve(gears, motors.T).T
    q[:, 1] -= np.pi / 2
    q[:, 2] += np.pi / 2
    return _timed(path, joints, np.arange(len(q), dtype=float) * TX40_STEP, q, torques @ gears)


def _three_tables(path: Path, joints: tuple[str, ...]) -> Recording:
    """Positions and efforts of tables of their own, columns in another order than the joints."""
    found = []
    for quantity in ('positions', 'efforts'):
        file = path.with_name(path.name.replace('positions', quantity))
        with file.open(encoding='utf-8') as lines:
            header = lines.readline().strip().split(',')
        table = _table(file)
        columns = [header.index(f'lbr_joint_{i}') for i in range(len(joints))]
        found.append(table[:, columns])
    return _timed(path, joints, table[:, 0] - table[0, 0], *found)


def _table(path: Path) -> Array:
    return np.loadtxt(path, delimiter=',', skiprows=1)


def _timed(path: Path, joints: tuple[str, ...], t: Array, q: Array, tau: Array) -> Recording:
    stamp = np.round(1e9 * t).astype(np.int64)
    return recording_of(str(path), joints, Samples(stamp, q, None, tau), ())
