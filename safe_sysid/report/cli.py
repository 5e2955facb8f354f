"""The `safe-sysid` command: which subcommand does what, and how errors reach a terminal."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import importlib
from pathlib import Path
import sys

from safe_sysid.errors import SafeSysidError
from safe_sysid.report.bench_members import MEMBERS

WRONG_USE = 2
INTERRUPTED = 130  # what a shell reports for Ctrl-C

COMMANDS = {  # subcommand: module whose `command(options) -> exit status` carries it out
    'demo': 'safe_sysid.report.demo',
    'doctor': 'safe_sysid.report.doctor',
    'bench': 'safe_sysid.report.bench',
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command line; the status is 0, 1 for a bad finding, 2 for misuse."""
    options = _parser().parse_args(arguments)
    try:
        # Loaded only now: --help needs none of the numeric libraries.
        return int(importlib.import_module(COMMANDS[options.subcommand]).command(options))
    except SafeSysidError as error:
        print(f'safe-sysid: {error}', file=sys.stderr)
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='safe-sysid',
        description='Identify what a robot arm holds, with guaranteed bounds, '
        'while it moves safely.',
        epilog='`safe-sysid COMMAND --help` tells more about one command.',
    )
    commands = parser.add_subparsers(
        title='commands', metavar='COMMAND', dest='subcommand', required=True
    )
    _add_demo(commands)
    _add_doctor(commands)
    _add_bench(commands)
    return parser


_Commands = argparse._SubParsersAction  # argparse has no public name for it


def _add_demo(commands: _Commands[argparse.ArgumentParser]) -> None:
    text = 'a first look: an arm, and its dynamics computed in two independent ways'
    commands.add_parser('demo', help=text, description=text)


def _add_doctor(commands: _Commands[argparse.ArgumentParser]) -> None:
    text = 'is this machine ready? libraries, Ipopt solvers, ROS 2, and the files of an arm'
    parser = commands.add_parser('doctor', help=text, description=text)
    parser.add_argument(
        '--robot',
        metavar='NAME|URDF',
        help='also check an arm: a name such as kinova_gen3, or a URDF',
    )
    parser.add_argument(
        '--config', metavar='YAML', type=Path, help='the facts of the arm, when --robot is a URDF'
    )
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a list')


def _add_bench(commands: _Commands[argparse.ArgumentParser]) -> None:
    text = 'figures of one part: speed, scaling, tightness, with the seed that reproduces them'
    parser = commands.add_parser('bench', help=text, description=text)
    parser.add_argument('name', choices=list(MEMBERS), metavar='NAME', help=', '.join(MEMBERS))
    parser.add_argument('--trials', metavar='N', type=_count, help='random trials')
    parser.add_argument('--seed', metavar='S', type=int, default=1, help='default: 1')
    parser.add_argument('--quick', action='store_true', help='less of everything, under 40 s')
    parser.add_argument(
        '--table4', action='store_true', help='identify: only the condition numbers of Table IV'
    )
    parser.add_argument('--plots', metavar='DIR', type=Path, help='draw the plots into DIR')
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a table')


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of 1 or more")
    return int(text)


if __name__ == '__main__':
    sys.exit(main())
