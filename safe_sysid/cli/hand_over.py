"""Command line of `safe-sysid hand-over`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
import json
from pathlib import Path

from safe_sysid.cli.inputs import existing

HELP = 'hand an identified payload to a driver that runs: UR, Franka, MoveIt, InertiaStamped'
TARGETS = ('ur', 'ur-script', 'franka', 'moveit', 'inertia', 'kuka')
REFUSED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what was identified, to whom it goes, and how."""
    parser.add_argument(
        'found', metavar='FOUND.json', type=existing, help='what `identify --json` printed'
    )
    parser.add_argument(
        '--to', required=True, choices=TARGETS,
        help='ur: service set_payload of the UR driver, with inertia and transition time where it '
        'has them; ur-script: set_target_payload by its script topic; franka: service set_load; '
        'moveit: weight of an attached object; inertia: geometry_msgs/InertiaStamped; kuka: says '
        'why not',
    )  # fmt: skip
    parser.add_argument(
        '--name', metavar='NAME', default='', help='of the service or topic; default: the usual'
    )
    parser.add_argument(
        '--transition', metavar='S', type=float, default=0.0,
        help='[s] over which a UR changes over; default: at once',
    )  # fmt: skip
    parser.add_argument(
        '--frame', metavar='FRAME', default='',
        help='the frame of the payload, if it is the flange under another name',
    )  # fmt: skip
    parser.add_argument('--object', metavar='ID', default='', help="of MoveIt's scene")
    parser.add_argument('--link', metavar='LINK', default='', help='that it is attached to')
    parser.add_argument(
        '--wait', metavar='S', type=float, default=10.0, help='[s] for the driver; default: 10'
    )
    parser.add_argument('--dry-run', action='store_true', help='print it, and ask nobody')
    parser.add_argument('--json', action='store_true', help='one JSON object instead of text')


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid hand-over`; the exit status is 1 where the driver does not take it."""
    from safe_sysid.errors import ConfigError
    from safe_sysid.export.hand_over import Asked, body_of, handed_over
    from safe_sysid.live.driver_hand_over import hand_over

    if not 0.0 <= options.transition < 60.0 or not 0.0 < options.wait < 3600.0:
        raise ConfigError(
            f'--transition is {options.transition} s and --wait {options.wait} s; from 0 to 60 s '
            'and above 0 are allowed'
        )
    asked = Asked(options.transition, options.object, options.link, options.frame)
    made = handed_over(options.to, body_of(_read(options.found), options.to), asked)
    request = {
        'type': made.type,
        'name': options.name or made.name,
        'fields': dict(made.fields),
        'newer': list(made.newer),
        'others': [dict(each) for each in made.others],
    }
    answer = {} if options.dry_run else hand_over(request, options.wait)
    lacking = answer.get('lacking', [])
    notes = [made.without_them] if lacking and made.without_them else []
    if options.json:
        print(json.dumps({**request, 'sentences': [*made.sentences, *notes], 'answer': answer}))
    else:
        print('\n'.join([f'{request["name"]} ({made.type}):', *_lines(made.fields)]))
        print('\n'.join(f'# {sentence}' for sentence in (*made.sentences, *notes)))
        print(_verdict(answer, options.dry_run, made.is_service))
    return REFUSED if 'error' in answer else 0


def _read(path: Path) -> dict[str, object]:
    from safe_sysid.errors import ConfigError
    from safe_sysid.input_file import text_of

    try:
        found = json.loads(text_of(path, ConfigError))
    except (ValueError, RecursionError) as error:  # ValueError: a number of too many digits
        raise ConfigError(f'{path} is not what `identify --json` prints: {error}') from error
    if not isinstance(found, dict):
        raise ConfigError(f'{path} is not what `identify --json` prints: no mapping')
    return found


def _lines(fields: Mapping[str, object]) -> list[str]:
    from safe_sysid.config import yaml_text

    return [f'  {line}' for line in yaml_text(fields).rstrip().splitlines()]


def _verdict(answer: dict[str, object], dry: bool, answered: bool) -> str:
    if dry:
        return 'Nobody was asked.'
    if 'error' in answer:
        return f'NOT HANDED OVER: {answer["error"]}'
    return 'The driver has taken it.' if answered else 'It was published, and somebody listens.'
