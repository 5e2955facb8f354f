"""`safe-sysid calibrate-gains`: what one unit of a driver's effort is worth, joint by joint."""

from __future__ import annotations

import argparse
from pathlib import Path

from safe_sysid.cli.calibrate import add_arm, recorded_of
from safe_sysid.cli.output import print_to_error
from safe_sysid.cli.recording import add_recording, arm_of_options
from safe_sysid.cli.values import positive

HELP = 'identify torque per unit of effort from recordings without and with a known payload'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Two recordings, the arm, and what it held in the second."""
    parser.add_argument('without', metavar='BAG', type=Path, help='recording without the payload')
    parser.add_argument('loaded', metavar='BAG', type=Path, help='recording with the payload')
    add_arm(parser)
    parser.add_argument(
        '--payload', required=True, metavar='NAME|YAML',
        help='the known body: one that comes with the package, or a file like those',
    )  # fmt: skip
    parser.add_argument(
        '--cutoff', metavar='HZ', type=positive, default=10.0, help='low-pass; default: 10'
    )
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a table')
    add_recording(parser.add_argument_group('the recordings'))


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid calibrate-gains`; status 1 if a sign stays undecided."""
    import numpy as np

    from safe_sysid.calibrate.drive_gain import gains_of_logs
    from safe_sysid.model.payload import read_payload
    from safe_sysid.report.figures_text import as_json, as_table

    with print_to_error():
        arm = arm_of_options(options)
        model, sensors = arm.model, arm.model.sensors
        without, loaded = (
            recorded_of(options, [path], arm).logs for path in (options.without, options.loaded)
        )
        payload = read_payload(options.payload)
        found = gains_of_logs(model, without, loaded, payload, options.cutoff)
    # the recordings were read with the signs and scales of the settings
    gain = found.gain * sensors.effort_sign * sensors.effort_scale
    deviation = found.deviation * sensors.effort_scale
    undecided = found.undecided
    figures: dict[str, object] = {
        'robot': model.name,
        'payload': payload.name,
        'cutoff_hz': options.cutoff,
        'joints': [
            {
                'joint': name,
                'effort_sign': 0 if undecided[i] else int(np.sign(gain[i])),
                'effort_scale': float(abs(gain[i])),
                'deviation': float(deviation[i]),
            }
            for i, name in enumerate(model.layout.joint_names)
        ],
    }
    print(as_json(figures) if options.json else as_table(figures))
    return int(undecided.any())
