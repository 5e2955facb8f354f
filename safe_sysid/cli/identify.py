"""`safe-sysid identify`: a recording in, bounds on the payload or the reason for none out."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import sys
from typing import TYPE_CHECKING

from safe_sysid.cli.inputs import (
    add_config,
    existing,
    new_file,
    new_folder,
    payload,
    robot,
    settings_file,
)
from safe_sysid.cli.output import print_to_error, print_wrapped
from safe_sysid.cli.progress import ProgressBar
from safe_sysid.cli.recording import add_recording, arm_of_options, recording_choice
from safe_sysid.cli.values import export, known_kind, known_links
from safe_sysid.errors import ConfigError
from safe_sysid.export.formats import FORMATS
from safe_sysid.input_file import is_there
from safe_sysid.model.parameter_kinds import KINDS

if TYPE_CHECKING:
    from safe_sysid.api.payload import PayloadResult
    from safe_sysid.api.payload_difference import DifferenceResult
    from safe_sysid.identify.recording_settings import RecordingSettings
    from safe_sysid.model.arm import Arm

HELP = 'guaranteed bounds on a payload from a recording: rosbag2 (sqlite3, mcap) or CSV'
REFUSED = 1
KNOWN = {  # field: option and its former names, which are accepted until 0.2
    'payload_mass': ('--payload-mass',),
    'payload_reach': ('--payload-reach',),
    'torque_error': ('--torque-error', '--torque-noise'),
    'position_error': ('--position-error',),
    'velocity_error': ('--velocity-error',),
    'torque_signal': ('--torque-signal',),
    'window': ('--window',),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which recording of which arm, what is known before, and how to answer."""
    parser.add_argument(
        'recording', metavar='RECORDING', type=existing,
        help='folder of a bag, a .db3 or .mcap file, or a .csv with named columns',
    )  # fmt: skip
    parser.add_argument(
        '--robot', required=True, metavar='NAME|YAML|URDF', type=robot,
        help='an arm that comes with the package, its settings, or just a URDF',
    )  # fmt: skip
    add_config(parser)
    recording = parser.add_argument_group('the recording')
    add_recording(recording)
    _add_part(recording)
    _add_empty(parser.add_argument_group('the same arm, empty'))
    _add_known(parser.add_argument_group('what is known before'))
    _add_answer(parser.add_argument_group('the answer'))


def _add_part(group: argparse._ArgumentGroup) -> None:
    from safe_sysid.cli.setting_options import add_setting
    from safe_sysid.identify.recording_settings import RecordingSettings

    add_setting(group, RecordingSettings, 'begin', '--payload-from')
    add_setting(group, RecordingSettings, 'end', '--to')


def _add_empty(group: argparse._ArgumentGroup) -> None:
    from safe_sysid.cli.setting_options import add_setting
    from safe_sysid.identify.recording_settings import RecordingSettings

    group.add_argument(
        '--empty', metavar='RECORDING', type=existing, nargs='+', default=[],
        help='recordings without the payload: the arm is then unknown, and the payload is what '
        'differs. Nothing need be known of links and friction, and there are two intervals. '
        'Default: those that calibrate left beside the arm, unless links, friction, errors '
        'of readings or what may be held are stated',
    )  # fmt: skip
    group.add_argument(
        '--self-test', action='store_true',
        help='add bodies to pieces of the empty recordings, identify them, and print how often '
        'the intervals contain them; status 1 if they do not',
    )  # fmt: skip
    add_setting(group, RecordingSettings, 'confidence', '--confidence', metavar='SHARE')
    add_setting(group, RecordingSettings, 'gain_error', '--gain-error', metavar='SHARE')
    add_setting(group, RecordingSettings, 'gains', '--gains', metavar='YAML', type=settings_file)
    add_setting(group, RecordingSettings, 'inertia_prior', '--inertia-prior')
    add_setting(group, RecordingSettings, 'sensor', '--sensor', metavar='LINK')
    add_setting(group, RecordingSettings, 'sensor_topic', '--sensor-topic', metavar='TOPIC')
    add_setting(group, RecordingSettings, 'poses', '--poses')


def _add_known(group: argparse._ArgumentGroup) -> None:
    from safe_sysid.cli.setting_options import add_setting
    from safe_sysid.identify.recording_settings import RecordingSettings

    add_setting(
        group, RecordingSettings, 'known_links', '--known-links',
        metavar='SHARE[,M]', type=known_links,
    )  # fmt: skip
    add_setting(
        group, RecordingSettings, 'known_friction', '--known-friction', metavar='SHARE|unknown'
    )
    group.add_argument(
        '--known', metavar='KIND=WIDTH', type=known_kind, action='append', default=[],
        help='how well one kind of parameter is known: 5%%, 0.5 in its SI unit, or both as in '
        f'5%%+0.5; one for all joints or one each, after commas. Kinds: {", ".join(KINDS)}. '
        'Instead of what the settings of the arm state',
    )  # fmt: skip
    add_setting(group, RecordingSettings, 'torque_ratio', '--torque-ratio', metavar='SHARE')
    add_setting(group, RecordingSettings, 'unmodelled_torque', '--unmodelled-torque')
    add_setting(group, RecordingSettings, 'slosh_force', '--slosh-force')
    group.add_argument(
        '--library', dest='RecordingSettings.library', default=argparse.SUPPRESS, nargs='+',
        metavar='PAYLOAD', type=payload,
        help='payloads that may be held, by name or as YAML: the report says how probable each '
        'is, "none of these" among them. No bound rests on it',
    )  # fmt: skip
    for field, flags in KNOWN.items():
        add_setting(group, RecordingSettings, field, *flags)


def _add_answer(group: argparse._ArgumentGroup) -> None:
    from safe_sysid.cli.setting_options import add_setting
    from safe_sysid.identify.recording_settings import RecordingSettings

    add_setting(group, RecordingSettings, 'flange', '--flange', metavar='LINK')
    add_setting(group, RecordingSettings, 'hold_out', '--hold-out', metavar='SHARE')
    add_setting(group, RecordingSettings, 'filter_hz', '--cutoff', '--filter')
    group.add_argument(
        '--export', metavar='FORMAT=FILE', type=export, action='append',
        help='; '.join(f'{name}: {what}' for name, what in FORMATS.items())
        + '. Bounds are comments. Not written after a refusal; may be given several times',
    )  # fmt: skip
    group.add_argument(
        '--export-undetermined', action='store_true',
        help='export although the motion has not determined every row; those are marked',
    )  # fmt: skip
    group.add_argument(
        '--html', metavar='FILE', type=new_file, help='a page to look at and hand on'
    )
    group.add_argument(
        '--plots', metavar='DIR', type=new_folder, help='the plots of that page as PNG and SVG'
    )
    form = group.add_mutually_exclusive_group()
    form.add_argument('--json', action='store_true', help='one JSON object instead of a table')
    form.add_argument('--yaml', action='store_true', help='the same as YAML')


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid identify`; the exit status is 1 after a refusal, of an export too."""
    _look_at_recordings(options)
    from safe_sysid.api.payload import identify_payload
    from safe_sysid.config import yaml_text

    with print_to_error():
        arm = arm_of_options(options)
    if options.empty or _is_promised(options, arm):
        return _against_empty(options, arm)
    with print_to_error():
        if options.self_test:
            raise ConfigError('--self-test is of recordings without the payload; give --empty')
        choice = recording_choice(options, options.recording)
        bar = ProgressBar('identifying')
        result = identify_payload(choice, arm, settings_of(options), bar.show)
        bar.end()
    if options.json:
        print(json.dumps(result.as_dict(), allow_nan=False))
    elif options.yaml:
        print(yaml_text(result.as_dict()), end='')
    else:
        print_wrapped(result)
    complete = _write_files(options, result)
    return 0 if result.refused is None and complete else REFUSED


def _look_at_recordings(options: argparse.Namespace) -> None:
    """Refuse what is no recording before numeric libraries are loaded, which takes longer."""
    from safe_sysid.cli.setting_options import chosen
    from safe_sysid.identify.recording_settings import RecordingSettings
    from safe_sysid.measure.recorded_file import check_recorded

    if chosen(options, RecordingSettings).get('poses'):
        return  # tables of any name
    for path in (options.recording, *options.empty):
        if path.suffix != '.npz':  # a promise, which holds recordings
            check_recorded(path)


def _is_promised(options: argparse.Namespace, arm: Arm) -> bool:
    """Whether `calibrate` left empty recordings beside the arm, and nothing else is stated."""
    from safe_sysid.identify.unused_settings import ONE_RECORDING
    from safe_sysid.model.promise_file import promise_path

    if {'sensor', 'poses', *ONE_RECORDING} & {*settings_of(options).stated}:
        return False
    path = promise_path(arm.urdf)
    options.empty = [path] if is_there(path) else []
    return bool(options.empty)


def _against_empty(options: argparse.Namespace, arm: Arm) -> int:
    """Compare with recordings without the payload."""
    from safe_sysid.api.payload import identify_payload
    from safe_sysid.config import yaml_text

    with print_to_error():
        bar = ProgressBar('identifying')
        result = identify_payload(
            recording_choice(options, options.recording), arm, settings_of(options), bar.show,
            empty=[recording_choice(options, path) for path in options.empty],
        )  # fmt: skip
        bar.end()
        tests = result.self_test() if options.self_test else []
    content = {**result.as_dict(), 'self_test': [test.as_mapping() for test in tests]}
    if options.json:
        print(json.dumps(content, allow_nan=False))
    elif options.yaml:
        print(yaml_text(content))
    else:
        print_wrapped('\n\n'.join([str(result), *map(str, tests)]))
    complete = _write_files(options, result)
    doubted = any(test.warning for test in tests)
    return 0 if result.refused is None and complete and not doubted else REFUSED


def settings_of(options: argparse.Namespace) -> RecordingSettings:
    """Return what the command line says of the part, of what is known, and of the answer."""
    from safe_sysid.cli.setting_options import chosen
    from safe_sysid.identify.recording_settings import RecordingSettings
    from safe_sysid.model.uncertainty import Uncertainty, Width

    said = chosen(options, RecordingSettings)
    known = Uncertainty(**{kind: Width(*widths) for kind, *widths in options.known})
    stated = (*said, *(['known'] if options.known else []))
    return RecordingSettings(known=known, stated=stated, **said)


def _write_files(options: argparse.Namespace, result: PayloadResult | DifferenceResult) -> bool:
    """Write what was asked for, once the answer was printed; whether all of it was."""
    sys.stdout.flush()
    with print_to_error():
        if options.html is not None:
            result.report(options.html)
        if options.plots is not None:
            result.figures(options.plots)
        undetermined = options.export_undetermined
        return _write_exports(options.export, result, undetermined=undetermined)


def _write_exports(
    wanted: list[tuple[str, Path]] | None,
    result: PayloadResult | DifferenceResult,
    *,
    undetermined: bool,
) -> bool:
    """Write the exports that were asked for; whether all were."""
    if wanted and result.refused is not None:
        print('refused, so nothing is exported', file=sys.stderr)
        return False
    complete = True
    for form, path in wanted or ():
        guesses = result.undetermined(form)
        if guesses and not undetermined:
            complete = False
            print(
                f'{path} is not written: the motion has not determined {", ".join(guesses)}. Move '
                'joints that show them, or give --export-undetermined, which writes a compact '
                'body in their place and marks them',
                file=sys.stderr,
            )
            continue
        result.export(form, path, undetermined='compact')
    return complete
