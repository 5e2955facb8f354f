"""Options of every command that reads a recording, and the values they stand for."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from safe_sysid.cli.values import column, frequency, signs
from safe_sysid.errors import ConfigError

if TYPE_CHECKING:
    from safe_sysid.measure.recording_choice import RecordingChoice
    from safe_sysid.model.arm import Arm


def add_recording(group: argparse._ArgumentGroup) -> None:
    """How joints, columns and signs are called in a recording."""
    group.add_argument('--topic', help='of the bag, where several topics report the joints')
    group.add_argument(
        '--joint-names', metavar='PATTERN', default='{joint}',
        help="joints in the recording, such as 'fer_joint{n}': {joint} is the name in the URDF, "
        '{i} counts from 0, {n} from 1',
    )  # fmt: skip
    group.add_argument(
        '--columns', metavar='WHAT=PATTERN', type=column, nargs='+',
        help='columns of a table: time=NAME, and position=, velocity=, effort= with a PATTERN '
        'as above, where the usual names do not fit',
    )  # fmt: skip
    group.add_argument('--rate', metavar='HZ', type=frequency, help='of a table without times')
    group.add_argument(
        '--torque-sign', metavar='±1', type=signs,
        help='-1 where the driver counts torque against the joint axes; one for all joints or '
        'one each, as in --torque-sign=-1,1,1 (instead of what the settings say)',
    )  # fmt: skip


def recording_choice(options: argparse.Namespace, path: Path) -> RecordingChoice:
    """Return a recording, with joints and columns as the command line calls them."""
    from safe_sysid.measure.csv_log import Columns
    from safe_sysid.measure.recording_choice import RecordingChoice

    columns = Columns(rate=options.rate, **dict(options.columns or ()))
    return RecordingChoice(path, options.topic, options.joint_names, columns)


def arm_of_options(options: argparse.Namespace) -> Arm:
    """Return the arm, with the sign of its effort signal as the command line says."""
    from dataclasses import replace

    import numpy as np

    from safe_sysid.model.arm import arm_of

    arm = arm_of(options.robot, options.config)
    sign, n = options.torque_sign, arm.model.n
    if sign is None:
        return arm
    if len(sign) not in (1, n):
        raise ConfigError(f'--torque-sign has {len(sign)} entries; 1 or {n} are needed')
    sensors = replace(arm.model.sensors, effort_sign=np.broadcast_to(np.array(sign), n).copy())
    return replace(arm, model=replace(arm.model, sensors=sensors))
