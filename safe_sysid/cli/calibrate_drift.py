"""`safe-sysid calibrate-drift`: external torque nobody exerts, and the drift it would cause."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING

from safe_sysid.cli.calibrate import add_arm, recorded_of
from safe_sysid.cli.inputs import bag_or_table, robot
from safe_sysid.cli.output import print_figures, print_to_error
from safe_sysid.cli.recording import add_recording, arm_of_options
from safe_sysid.cli.values import frequency

if TYPE_CHECKING:
    from safe_sysid.calibrate.external_torque import Drift
    from safe_sysid.model.robot_model import RobotModel

HELP = 'check hand-guiding drift: residual torque of a contact-free recording'
LARGEST_DRIFT = 1e-3  # [m in 60 s]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which recording, which arm, and what to compare it with."""
    from safe_sysid.calibrate.settings import AdmittanceSettings
    from safe_sysid.cli.setting_options import add_setting

    parser.add_argument(
        'recordings', metavar='BAG', type=bag_or_table, nargs='+',
        help='folder of a bag, a .db3 or .mcap file, or a .csv with named columns',
    )  # fmt: skip
    add_arm(parser)
    parser.add_argument(
        '--against', metavar='NAME|YAML|URDF', type=robot,
        help='another description of the arm to compare with, such as the one before calibration',
    )  # fmt: skip
    parser.add_argument(
        '--cutoff', metavar='HZ', type=frequency, default=10.0, help='low-pass; default: 10'
    )
    add_setting(parser, AdmittanceSettings, 'dead_zone', '--dead-zone', metavar='N', nargs=6)
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a table')
    add_recording(parser.add_argument_group('the recordings'))


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid calibrate-drift`; status 1 if the arm would drift."""
    from safe_sysid.calibrate.external_torque import worst_drift
    from safe_sysid.calibrate.settings import AdmittanceSettings
    from safe_sysid.cli.setting_options import chosen
    from safe_sysid.model.arm import check_open

    with print_to_error():
        arm = arm_of_options(options)
        check_open(arm, 'calibrate-drift')
        other = None if options.against is None else _other_description(options.against, arm.model)
        logs = recorded_of(options, options.recordings, arm).logs
        settings = AdmittanceSettings(**chosen(options, AdmittanceSettings))
        figures: dict[str, object] = {
            'robot': arm.model.name,
            'cutoff_hz': options.cutoff,
            'dead_zone': settings.dead_zone,
            'mobility': settings.mobility,
        }
        found = worst_drift(arm.model, logs, options.cutoff, settings)
        figures |= _figures(found)
        if other is not None:
            compared = worst_drift(other, logs, options.cutoff, settings)
            figures['against'] = {'robot': other.name, **_figures(compared)}
    print_figures(figures, for_programs=options.json)
    return 0 if found.per_minute <= LARGEST_DRIFT else 1


def _other_description(name: str, model: RobotModel) -> RobotModel:
    from safe_sysid.errors import ConfigError
    from safe_sysid.model.arm import arm_of

    other = arm_of(name, None).model
    if other.n != model.n:
        raise ConfigError(
            f'--against has to be another description of the same arm: {other.name} has {other.n} '
            f'joints, {model.name} {model.n}'
        )
    return other


def _figures(found: Drift) -> dict[str, object]:
    return {
        'drift_mm_per_minute': 1e3 * found.per_minute,
        'passed': found.per_minute <= LARGEST_DRIFT,
        'share_of_samples_active': found.active,
        'turned_degrees': math.degrees(found.turned),
        'seconds': found.seconds,
        'smallest_dead_zone_without_drift': found.smallest_dead_zone.tolist(),
        'wrench_rms': found.wrench_rms.tolist(),
    }
