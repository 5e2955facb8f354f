"""`safe-sysid calibrate-gains`: what one unit of a driver's effort is worth, joint by joint."""

from __future__ import annotations

import argparse

from safe_sysid.cli.calibrate import add_arm
from safe_sysid.cli.inputs import bag_or_table, new_file, payload
from safe_sysid.cli.output import print_figures, print_to_error
from safe_sysid.cli.recording import add_recording, arm_of_options, recording_choice
from safe_sysid.cli.values import positive

HELP = 'identify torque per unit of effort from recordings without and with a known mass'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Two recordings, the arm, and what it held in the second."""
    parser.add_argument(
        'without', metavar='BAG', type=bag_or_table, help='recording without the payload'
    )
    parser.add_argument(
        'loaded', metavar='BAG', type=bag_or_table, nargs='+',
        help='recordings with the payload; several are compared with each other',
    )  # fmt: skip
    add_arm(parser)
    body = parser.add_mutually_exclusive_group(required=True)
    body.add_argument(
        '--mass', metavar='KG', type=positive,
        help='of the body, difference to what the empty arm holds; its centre of mass and '
        'inertia are found',
    )  # fmt: skip
    body.add_argument(
        '--payload', metavar='NAME|YAML', type=payload,
        help='the same with a described body, refused if the recordings speak against it: one '
        'that comes with the package, or a file like those',
    )  # fmt: skip
    parser.add_argument(
        '--payload-from', metavar='S', type=float, default=0.0,
        help='time in the loaded recordings from which on they count; default: 0',
    )  # fmt: skip
    parser.add_argument('--to', metavar='S', type=positive, help='end of that part; default: all')
    parser.add_argument(
        '--cutoff', metavar='HZ', type=positive,
        help='low-pass; default: what suits the motion',
    )  # fmt: skip
    parser.add_argument('--out', metavar='YAML', type=new_file, help='file for `identify --gains`')
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a table')
    add_recording(parser.add_argument_group('the recordings'))


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid calibrate-gains`; status 1 if a sign stays undecided."""
    import numpy as np

    from safe_sysid.identify.difference.gain_calibration import GainRecordings, calibrated_gains
    from safe_sysid.identify.difference.gains_file import KnownGains
    from safe_sysid.model.arm import check_open
    from safe_sysid.model.payload import read_payload

    with print_to_error():
        arm = arm_of_options(options)
        check_open(arm, 'calibrate-gains')
        payload = None if options.payload is None else read_payload(options.payload)
        found, caution = calibrated_gains(
            arm,
            GainRecordings(
                [recording_choice(options, options.without)],
                [recording_choice(options, path) for path in options.loaded],
                (options.payload_from, options.to),
            ),
            options.mass if payload is None else payload,
            options.cutoff,
        )
    undecided = found.undecided
    names = arm.model.layout.joint_names
    origin = {
        'robot': arm.model.name,
        'mass_kg': float(found.phi[0]),
        'pairs': len(options.loaded),
    }
    figures: dict[str, object] = {
        **origin,
        'payload': 'its mass' if payload is None else payload.name,
        'friction_terms': list(found.terms.names),
        'com_m': (found.phi[1:4] / found.phi[0]).tolist(),
        'delay': None if found.delay is None else str(found.delay),
        'caution': caution,
        'joints': [
            {
                'joint': name,
                'effort_sign': 0 if undecided[i] else int(np.sign(found.gain[i])),
                'effort_scale': float(abs(found.gain[i])),
                'deviation': float(found.deviation[i]),
                'misfit': float(found.misfit[i]),
                'calibrated': not bool(found.uncalibrated[i]),
            }
            for i, name in enumerate(names)
        ],
    }
    print_figures(figures, for_programs=options.json)
    if options.out is not None and not undecided.any():
        KnownGains(names, found.gain, found.log_covariance).write(options.out, origin)
    return int(undecided.any())
