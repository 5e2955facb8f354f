"""`safe-sysid commission`: a driver of the empty arm at rest beside what the arm's file says."""

from __future__ import annotations

import argparse
from datetime import datetime, timezone
import json
from pathlib import Path
import sys
from typing import TYPE_CHECKING

from safe_sysid.cli.calibrate import add_arm
from safe_sysid.cli.inputs import bag_or_table, new_file, new_folder
from safe_sysid.cli.output import print_wrapped
from safe_sysid.cli.recording import add_recording, arm_of_options, recording_choice
from safe_sysid.cli.values import positive
from safe_sysid.output_file import write_text

if TYPE_CHECKING:
    from safe_sysid.measure.bag.driver_words import DriverWords
    from safe_sysid.measure.recording_choice import RecordingChoice

HELP = 'a driver before the first motion: rate, encoders, sign, scale, gravity, delay and noise'
DIFFERS = 1
STATES, COMMANDS = '/joint_states', '/forward_effort_controller/commands'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which recording of which arm, and where proposals go."""
    parser.add_argument(
        'recording', metavar='RECORDING', type=bag_or_table, nargs='?',
        help='of the empty arm that something else holds still, 10 s, in several poses if it '
        'can; what it does in between tells of velocities and encoders, and what it is commanded '
        'of delays; default: listen to the driver, command nothing, and keep what was heard',
    )  # fmt: skip
    add_arm(parser)
    parser.add_argument(
        '--period', metavar='SECONDS', type=positive, default=0.001,
        help='of the loop that is to run (%(default)s)',
    )  # fmt: skip
    parser.add_argument(
        '--proposal', metavar='YAML', type=new_file,
        help='write what was measured otherwise than stated here, for the file of the arm',
    )  # fmt: skip
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a list')
    parser.add_argument(
        '--commands', metavar='TOPIC', default=COMMANDS,
        help='on which the driver is told efforts (%(default)s)',
    )  # fmt: skip
    heard = parser.add_argument_group('without a recording')
    heard.add_argument(
        '--seconds', metavar='S', type=positive, default=10.0, help='to listen (%(default)s)'
    )
    heard.add_argument(
        '--record', metavar='FOLDER', type=new_folder,
        help='for the bag of what was heard (commission_ and the time)',
    )  # fmt: skip
    add_recording(parser.add_argument_group('the recording'))


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid commission`; the status is 1 where anything differs."""
    from safe_sysid.calibrate.commissioning import commissioned
    from safe_sysid.config import yaml_text
    from safe_sysid.measure.recording_choice import recording_of_choice
    from safe_sysid.measure.turns import whole_turns

    model = arm_of_options(options).model
    if options.recording is None:
        options.recording = _heard(options)
    choice = recording_choice(options, options.recording)
    recording = recording_of_choice(choice, model.layout.joint_names)
    whole = whole_turns(recording, model.limits.is_continuous)
    words = _words(choice, options.commands, model.n)
    found = commissioned(model, whole, options.period, words)
    proposal: dict[str, object] = {'joints': found.joints, 'sensing': {'torque': found.torque}}
    if found.effort:
        proposal['effort'] = found.effort
    if found.delay is not None:
        proposal['command'] = {'delay': list(found.delay)}
    if options.json:
        findings = [
            {'what': f.what, 'agreement': f.agreement.name, 'said': f.said} for f in found.findings
        ]
        proposed = {**proposal, 'bridge': found.command}
        print(json.dumps({'findings': findings, 'proposal': proposed}), flush=True)
    else:
        print_wrapped('\n'.join(map(str, found.findings)))
    if options.proposal is not None:
        head = (
            f'# Measured in {options.recording}, for {model.settings_file}.\n'
            '# Errors are the least that there are, not their bounds: look at each.\n'
        )
        text = head + yaml_text(proposal)
        if found.command:
            text += '# For `command` of the bridge, in the settings of the loop:\n#   '
            text += yaml_text(found.command).strip().replace('\n', '\n#   ') + '\n'
        write_text(options.proposal, text)
    return DIFFERS if found.differs else 0


def _heard(options: argparse.Namespace) -> Path:
    """Bag of what the driver says, as long as was asked for."""
    from safe_sysid.live.driver_recording import record_driver

    folder = options.record
    if folder is None:
        folder = Path(f'commission_{datetime.now(timezone.utc):%Y%m%d_%H%M%S}')
    topics = (options.topic or STATES, options.commands)
    said = f'listening to {topics[0]} for {options.seconds:g} s; nothing is commanded'
    print(said, file=sys.stderr, flush=True)
    record_driver(folder, topics, options.seconds)
    return Path(folder)


def _words(choice: RecordingChoice, commands: str, joints: int) -> DriverWords | None:
    """When states came and what the driver was told; a table says neither."""
    from safe_sysid.measure.bag.driver_words import driver_words
    from safe_sysid.measure.recorded_file import TABLES

    if choice.path.suffix.lower() in TABLES:
        return None
    return driver_words(choice.path, choice.topic, commands, joints)
