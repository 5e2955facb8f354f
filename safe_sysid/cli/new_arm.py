"""`safe-sysid new-arm`: from a URDF to the settings of an arm, its loop, payload and world."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
import json
from pathlib import Path
from typing import TypeVar

from safe_sysid.cli.inputs import add_package_path, existing, new_folder, urdf
from safe_sysid.cli.output import print_wrapped
from safe_sysid.cli.values import count, number, positive

Given = TypeVar('Given', float, str)
HELP = 'make an arm of a URDF or xacro: capsules, pairs, held joints, unknown figures'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which description, which joints of it, how torques are measured, and where to."""
    parser.add_argument(
        'description',
        metavar='URDF|XACRO|TOPIC',
        type=_description,
        help='description of the robot; a topic such as /robot_description is read for 5 s',
    )
    parser.add_argument(
        '--kind',
        required=True,
        choices=('torque-sensor', 'current', 'direct'),
        help='how torques are measured: at the joint, as motor current, or by direct drives '
        '(servos); decides how wrong they count as',
    )
    parser.add_argument(
        '--tip', metavar='LINK', help='last link of the arm; default: the only end'
    )
    parser.add_argument('--base', metavar='LINK', help='link the arm begins at; default: the root')
    for option, value, about in (
        ('--hold', number, 'where a joint beside the arm is kept [rad or m]; repeatable'),
        ('--effort', positive, 'torque limit [N m] instead of that of the URDF; repeatable'),
        ('--velocity', positive, 'speed limit [rad/s] instead of that of the URDF; repeatable'),
    ):
        parser.add_argument(
            option,
            metavar='JOINT=VALUE',
            action='append',
            default=[],
            type=_assignment(value),
            help=about,
        )
    _add_choices_of_shape(parser)
    parser.add_argument(
        '--tool',
        metavar='NAME|YAML',
        help='gripper at the tip that the URDF lacks, such as robotiq_2f85 or franka_hand',
    )
    parser.add_argument(
        '--trust',
        metavar='RULE',
        action='append',
        default=[],
        help='do not doubt figures by this rule; `new-arm` names the rules that apply; repeatable',
    )
    parser.add_argument('--srdf', metavar='FILE', type=existing, help='disabled pairs to compare')
    parser.add_argument(
        '--xacro-arg',
        metavar='NAME:=VALUE',
        action='append',
        default=[],
        type=_xacro_argument,
        help='argument of a xacro; repeatable',
    )
    _add_answer(parser)


def _add_answer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--out',
        metavar='DIR',
        type=new_folder,
        default=Path(),
        help='folder to write to; default: here',
    )
    parser.add_argument('--force', action='store_true', help='replace files that are there')
    parser.add_argument('--json', action='store_true', help='print what was found as JSON')


def _add_choices_of_shape(parser: argparse.ArgumentParser) -> None:
    add_package_path(parser)
    parser.add_argument(
        '--from',
        dest='shapes',
        choices=('both', 'visual', 'collision'),
        default='both',
        help='shapes that capsules contain; default: both',
    )
    parser.add_argument(
        '--capsules', metavar='N', type=count, help='for each body; default: as many as it takes'
    )
    parser.add_argument(
        '--grip',
        choices=('both', 'held'),
        default='both',
        help='cover fingers open and closed (default), or where they are held',
    )
    parser.add_argument(
        '--hard-limits', action='store_true', help='ignore the soft limits of the description'
    )


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid new-arm`."""
    from safe_sysid.api.new_arm import Existing, new_arm
    from safe_sysid.export.new_arm_files import as_mapping
    from safe_sysid.model.description.described_arm import NewArmSettings

    settings = NewArmSettings(
        kind=options.kind,
        tip=options.tip,
        base=options.base,
        hold=_by_name('--hold', options.hold),
        package_paths=tuple(options.package_path),
        shapes=options.shapes,
        capsules=options.capsules,
        grip=options.grip,
        limits='hard' if options.hard_limits else 'soft',
        effort=_by_name('--effort', options.effort),
        velocity=_by_name('--velocity', options.velocity),
        trust=tuple(options.trust),
        srdf=options.srdf,
        xacro_arguments=_by_name('--xacro-arg', options.xacro_arg),
        tool=options.tool,
    )
    there: Existing = 'replaced' if options.force else 'kept'
    made = new_arm(options.description, settings, options.out, there)
    if options.json:
        standing = '' if made.standing is None else str(made.standing)
        files = {key: str(path) for key, path in made.files.items()}
        whole = {**as_mapping(made.described), 'files': files, 'standing': standing}
        print(json.dumps(whole, indent=2))
    else:
        print_wrapped(made)
    return 0


def _by_name(option: str, pairs: Sequence[tuple[str, Given]]) -> dict[str, Given]:
    """Refuse a name that is given twice: only one of its values could count."""
    from safe_sysid.errors import ConfigError

    found: dict[str, Given] = {}
    for name, value in pairs:
        if name in found:
            raise ConfigError(f"{option}: '{name}' is given twice, as {found[name]} and {value}")
        found[name] = value
    return found


def _description(text: str) -> str:
    """Return the name of a file that is there, or of a topic."""
    from safe_sysid.api.robot_description import is_topic

    if is_topic(text):
        return text
    return str(existing(text) if Path(text).suffix == '.xacro' else urdf(text))


def _assignment(value: Callable[[str], float]) -> Callable[[str], tuple[str, float]]:
    """Return what reads JOINT=VALUE as a pair."""

    def pair(text: str) -> tuple[str, float]:
        name, is_given, given = text.partition('=')
        if not (name and is_given):
            raise argparse.ArgumentTypeError(f"'{text}' is not JOINT=VALUE")
        return name, value(given)

    return pair


def _xacro_argument(text: str) -> tuple[str, str]:
    name, is_given, value = text.partition(':=')
    if not (name and is_given):
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME:=VALUE")
    return name, value
