"""Command line of `safe-sysid hand-over`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safe_sysid.cli.inputs import existing
from safe_sysid.cli.output import print_wrapped

if TYPE_CHECKING:
    from safe_sysid.export.hand_over import HandOver
    from safe_sysid.live.loop_payload import LoopPayload

HELP = 'hand an identified payload to a driver that runs: UR, Franka, MoveIt, InertiaStamped'
TARGETS = ('ur', 'ur-script', 'franka', 'moveit', 'inertia', 'kuka')
REFUSED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what was identified, to whom it goes, and how."""
    parser.add_argument(
        'found', metavar='FOUND.json', nargs='?', type=existing,
        help='what `identify --json` printed; or --from-loop',
    )  # fmt: skip
    parser.add_argument(
        '--from-loop', action='store_true',
        help='what the loop that runs on the ROS domain of this terminal has found by now. Where '
        'the robot adds the load to every torque (ur, ur-script, franka), so does the law of the '
        'loop: it has to be idle, and begins nothing until the robot has the load of before and '
        'supervisor/handed_over was called with false',
    )  # fmt: skip
    parser.add_argument(
        '--namespace', metavar='NAME', default='', help='of the loop, where it has one'
    )
    parser.add_argument(
        '--flange', metavar='LINK', default='',
        help="of the loop's arm, whose axes count; default: as the maker calls it, or the tip",
    )  # fmt: skip
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
    _check(options)
    found = {} if options.from_loop else _read(options.found)
    from safe_sysid.export.hand_over import Asked, body_of, handed_over
    from safe_sysid.live.driver_hand_over import hand_over

    asked = Asked(options.transition, options.object, options.link, options.frame)
    loop: dict[str, Any] = {}
    told: tuple[str, ...] = ()
    if options.from_loop:
        loop, payload = _heard(options)
        told = payload.sentences
        body = body_of(payload.found, options.to)
        payload.check_held(body)
    else:
        body = body_of(found, options.to)
    made = handed_over(options.to, body, asked)
    request = _request(made, options.name, loop)
    answer = {} if options.dry_run else hand_over(request, options.wait)
    lacking = answer.get('lacking', [])
    notes = [made.without_them] if lacking and made.without_them else []
    notes += [_waiting(options.namespace)] if answer.get('loop waits') else []
    sentences = [*made.sentences, *told, *notes]
    if options.json:
        request.pop('loop', None)
        print(json.dumps({**request, 'sentences': sentences, 'answer': answer}))
    else:
        print('\n'.join([f'{request["name"]} ({made.type}):', *_lines(made.fields)]))
        print_wrapped('\n'.join(f'# {sentence}' for sentence in sentences))
        print_wrapped(_verdict(answer, options.dry_run, made.is_service))
    return REFUSED if 'error' in answer else 0


def _check(options: argparse.Namespace) -> None:
    from safe_sysid.errors import ConfigError

    if not 0.0 <= options.transition < 60.0 or not 0.0 < options.wait < 3600.0:
        raise ConfigError(
            f'--transition is {options.transition} s and --wait {options.wait} s; from 0 to 60 s '
            'and above 0 are allowed'
        )
    if options.from_loop == (options.found is not None):
        raise ConfigError('give either FOUND.json or --from-loop')
    if not options.from_loop and (options.namespace or options.flange):
        raise ConfigError('--namespace and --flange are for --from-loop')


def _heard(options: argparse.Namespace) -> tuple[dict[str, Any], LoopPayload]:
    """Return what the loop is asked for its consent with, and the payload that it has found."""
    from safe_sysid.export.flange import FLANGES
    from safe_sysid.export.hand_over import COMPENSATES
    from safe_sysid.live.driver_hand_over import heard_estimate
    from safe_sysid.live.loop_payload import loop_payload

    namespace = _absolute(options.namespace)
    heard = heard_estimate(namespace, options.wait)
    payload = loop_payload(heard, options.flange, FLANGES.get(options.to, ''))
    adds_load = options.to in COMPENSATES
    if adds_load:
        payload.check_no_torque(options.to)
    consent = {
        'namespace': namespace,
        'numbers': heard['numbers'],
        'robot_adds_load': adds_load,
    }
    return consent, payload


def _absolute(namespace: str) -> str:
    from safe_sysid.bringup.processes import namespace_of

    return '/' + namespace_of(namespace)


def _request(made: HandOver, name: str, loop: dict[str, Any]) -> dict[str, Any]:
    from safe_sysid.errors import ConfigError

    name = name or made.name
    if loop and name == f'{loop["namespace"].rstrip("/")}/payload':
        raise ConfigError(
            f'{name} is where the loop itself tells its nominal payload, determined or not; give '
            'another topic with --name'
        )
    request = {
        'type': made.type,
        'name': name,
        'fields': dict(made.fields),
        'newer': list(made.newer),
        'others': [dict(each) for each in made.others],
    }
    return {**request, 'loop': loop} if loop else request


def _waiting(namespace: str) -> str:
    service = f'{_absolute(namespace).rstrip("/")}/supervisor/handed_over'
    return (
        'the robot may add the load to every torque now, as the law of the loop does: the loop '
        'begins nothing before the robot has the load of before and somebody said so, ros2 '
        f'service call {service} std_srvs/srv/SetBool "{{data: false}}"'
    )


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
