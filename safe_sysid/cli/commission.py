"""`safe-sysid commission`: a recording of the empty arm at rest beside what its file says."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from safe_sysid.cli.calibrate import add_arm
from safe_sysid.cli.inputs import existing
from safe_sysid.cli.recording import add_recording, arm_of_options, recording_choice
from safe_sysid.cli.values import positive

HELP = 'a driver before the first motion: rate, encoders, sign, scale, gravity and noise'
DIFFERS = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which recording of which arm, and where proposals go."""
    parser.add_argument(
        'recording', metavar='RECORDING', type=existing,
        help='of the empty arm that something else holds still, 10 s, in several poses if it '
        'can; what it does in between tells of velocities and encoders',
    )  # fmt: skip
    add_arm(parser)
    parser.add_argument(
        '--period', metavar='SECONDS', type=positive, default=0.001,
        help='of the loop that is to run (%(default)s)',
    )  # fmt: skip
    parser.add_argument(
        '--proposal', metavar='YAML', type=Path,
        help='write what was measured otherwise than stated here, for the file of the arm',
    )  # fmt: skip
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a list')
    add_recording(parser.add_argument_group('the recording'))


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid commission`; the status is 1 where anything differs."""
    from safe_sysid.calibrate.commissioning import commissioned
    from safe_sysid.config import yaml_text
    from safe_sysid.measure.recording_choice import recording_of_choice
    from safe_sysid.measure.turns import whole_turns

    model = arm_of_options(options).model
    choice = recording_choice(options, options.recording)
    recording = recording_of_choice(choice, model.layout.joint_names)
    whole = whole_turns(recording, model.limits.is_continuous)
    found = commissioned(model, whole, options.period)
    proposal = {'joints': found.joints, 'sensing': {'torque': found.torque}}
    if options.proposal is not None:
        head = (
            f'# Measured in {options.recording}, for config/robots/{model.name}.yaml.\n'
            '# Errors are the least that there are, not their bounds: look at each.\n'
        )
        options.proposal.write_text(head + yaml_text(proposal), encoding='utf-8')
    if options.json:
        findings = [
            {'what': f.what, 'agreement': f.agreement.name, 'said': f.said} for f in found.findings
        ]
        print(json.dumps({'findings': findings, 'proposal': proposal}))
    else:
        print('\n'.join(map(str, found.findings)))
    return DIFFERS if found.differs else 0
