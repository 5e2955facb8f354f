"""The `safe-sysid` command: which subcommand does what, and how errors reach a terminal."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
import importlib
import os
import sys
from types import ModuleType

from safe_sysid.errors import SafeSysidError

WRONG_USE = 2
INTERRUPTED = 130  # what a shell reports for Ctrl-C
NOT_READ = 141  # and for a pipe that was closed

GROUPS = {  # heading of --help: subcommands, each with a file in report/commands/
    'to start with': ('demo', 'doctor'),
    'before a recording': ('observability', 'excite'),
    'recordings': (
        'identify',
        'calibrate',
        'calibrate-kinematics',
        'calibrate-gains',
        'calibrate-drift',
    ),
    'on a robot or a simulator': ('run', 'replay'),
    'figures': ('bench',),
    'for the shell': ('completion',),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command line; the status is 0, 1 for a bad finding, 2 for misuse."""
    options = parser().parse_args(arguments)
    try:
        # Loaded only now: --help needs none of the numeric libraries.
        carrier = _carrier(declaration(options.subcommand))
        return int(carrier.command(options))
    except SafeSysidError as error:
        print(f'safe-sysid: {error}', file=sys.stderr)
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOT_READ


def _carrier(declared: ModuleType) -> ModuleType:
    """The file that carries out a subcommand: the declaring one, or one that loads slowly."""
    name = getattr(declared, 'CARRIED_OUT_BY', None)
    return declared if name is None else importlib.import_module(name)


def declaration(name: str) -> ModuleType:
    """The file that declares a subcommand: HELP, CARRIED_OUT_BY and add_arguments."""
    return importlib.import_module(f'safe_sysid.report.commands.{name.replace("-", "_")}')


def commands() -> Iterator[str]:
    """Names of all subcommands, in the order of --help."""
    for names in GROUPS.values():
        yield from names


def parser() -> argparse.ArgumentParser:
    """What the command line may say."""
    whole = argparse.ArgumentParser(
        prog='safe-sysid',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description='Identify what a robot arm holds, with guaranteed bounds, '
        f'while it moves safely.\n\n{_contents()}',
        epilog='`safe-sysid COMMAND --help` tells more about one command.',
    )
    choices = whole.add_subparsers(metavar='COMMAND', dest='subcommand', required=True)
    choices.help = 'one of those above'
    for name in commands():
        declared = declaration(name)
        declared.add_arguments(choices.add_parser(name, description=declared.HELP))
    return whole


def _contents() -> str:
    """All subcommands by their purpose, a line each."""
    width = max(len(name) for name in commands())
    groups = (
        '\n'.join([f'  {heading}'] + [f'    {n:<{width}}  {declaration(n).HELP}' for n in names])
        for heading, names in GROUPS.items()
    )
    return '\n\n'.join(groups)


if __name__ == '__main__':
    sys.exit(main())
