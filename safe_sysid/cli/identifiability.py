"""`safe-sysid identifiability`: what can be known of an arm, as a table, as JSON or as a page."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from safe_sysid.cli.inputs import robot_or_mechanism
from safe_sysid.cli.values import number

if TYPE_CHECKING:
    from fractions import Fraction

LARGEST_RATIO = 1_000_000  # of the speed of a rotor to that of its joint
HELP = 'decide exactly which inertial parameters of an arm are identifiable, without data'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which arm, on what, with which motors, and how to answer."""
    parser.add_argument(
        'urdf',
        metavar='URDF',
        type=robot_or_mechanism,
        help='a URDF, settings of an arm (YAML), or a name such as kinova_gen3 or puma560',
    )
    parser.add_argument('--floating', action='store_true', help='the base moves freely')
    seen = parser.add_mutually_exclusive_group()
    seen.add_argument(
        '--static', action='store_true', help='torques are measured at rest only, in any posture'
    )
    seen.add_argument('--no-gravity', action='store_true', help='nothing falls')
    parser.add_argument(
        '--gravity',
        nargs=3,
        type=number,
        metavar=('X', 'Y', 'Z'),
        help='direction of gravity in the frame of the base; default: 0 0 -1, or that of the name',
    )
    motors = parser.add_mutually_exclusive_group()
    motors.add_argument(
        '--rotors',
        metavar='N',
        type=ratio,
        help='each joint has a symmetric rotor on its axis, on the link below, N times as fast',
    )
    motors.add_argument(
        '--armature', action='store_true', help='each joint has a reflected inertia Ia'
    )
    parser.add_argument(
        '--known',
        nargs='+',
        default=[],
        metavar='LINK',
        help='links whose parameters are known, from drawings or because they have no mass',
    )
    parser.add_argument(
        '--tolerance',
        metavar='T',
        type=number,
        help='decide ranks in floating point with this tolerance (1e-7 is usual), not exactly',
    )
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument('--json', action='store_true', help='one JSON object instead of a table')
    answer.add_argument('--html', action='store_true', help='one page with a picture of the arm')


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid identifiability`."""
    from safe_sysid.api.identifiability import identifiable_parameters
    from safe_sysid.cli.output import print_to_error, print_wrapped
    from safe_sysid.identifiability.examination import Question
    from safe_sysid.identifiability.joint_conditions import Torques
    from safe_sysid.report.identifiability_page import page
    from safe_sysid.report.identifiability_text import as_text
    from safe_sysid.report.terminal_lines import terminal_width

    question = Question(
        torques=Torques.OF_GRAVITY if options.static else Torques.OF_MOTION,
        is_floating=options.floating,
        is_weightless=options.no_gravity,
        gravity=None if options.gravity is None else tuple(options.gravity),
        rotors=options.rotors,
        has_armature=options.armature,
        known=tuple(options.known),
        tolerance=options.tolerance,
    )
    with print_to_error():
        result = identifiable_parameters(options.urdf, question)
    if options.json:
        print(json.dumps(result.as_dict(), ensure_ascii=False))
    elif options.html:
        print(page(result.answer))
    else:
        print_wrapped(as_text(result.answer, terminal_width()))
    return 0


def ratio(text: str) -> Fraction:
    """Return a number that is not zero, as it was written."""
    from fractions import Fraction

    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        value = Fraction(0)
    if not 1 / LARGEST_RATIO <= abs(value) <= LARGEST_RATIO:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a number other than 0, from {-LARGEST_RATIO} to {LARGEST_RATIO}"
        )
    return value
