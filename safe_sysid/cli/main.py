"""The `safe-sysid` command: which subcommand does what, and how errors reach a terminal.

Every subcommand is a file with HELP, add_arguments and command. Only `command` imports numeric
libraries, as --help needs none of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import os
import sys
from types import ModuleType

from safe_sysid.cli import (
    bench,
    calibrate,
    calibrate_drift,
    calibrate_gains,
    calibrate_kinematics,
    completion,
    excite,
    export_model,
    identifiability,
    identify,
    replay,
    run,
)
from safe_sysid.cli.demo import command as demo
from safe_sysid.cli.doctor import command as doctor
from safe_sysid.errors import SafeSysidError

WRONG_USE = 2
INTERRUPTED = 130  # what a shell reports for Ctrl-C
NOT_READ = 141  # and for a pipe that was closed

GROUPS: dict[str, dict[str, ModuleType]] = {  # heading of --help: subcommands and their files
    'to start with': {'demo': demo, 'doctor': doctor},
    'before a recording': {'identifiability': identifiability, 'excite': excite},
    'recordings': {
        'identify': identify,
        'calibrate': calibrate,
        'calibrate-kinematics': calibrate_kinematics,
        'calibrate-gains': calibrate_gains,
        'calibrate-drift': calibrate_drift,
    },
    'for other programs': {'export-model': export_model},
    'on a robot or a simulator': {'run': run, 'replay': replay},
    'figures': {'bench': bench},
    'for the shell': {'completion': completion},
}
COMMANDS = {name: file for files in GROUPS.values() for name, file in files.items()}
FORMER = {'observability': 'identifiability'}  # names that are accepted until 0.2


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command line; the status is 0, 1 for a bad finding, 2 for misuse."""
    if completion.ASKED in os.environ:
        completion.answer(parser(os.environ.get('COMP_LINE', '').split()))
    words = sys.argv[1:] if arguments is None else arguments
    options = parser(words).parse_args(words)
    try:
        name = FORMER.get(options.subcommand, options.subcommand)
        return int(COMMANDS[name].command(options))
    except SafeSysidError as error:
        print(f'safe-sysid: {error}', file=sys.stderr)
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOT_READ


def parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Return what the command line may say; only the command that it names has its options."""
    named = next((word for word in words if word in COMMANDS or word in FORMER), None)
    whole = argparse.ArgumentParser(
        prog='safe-sysid',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description='Identify what a robot arm holds, with guaranteed bounds, '
        f'while it moves safely.\n\n{_contents()}',
        epilog='`safe-sysid COMMAND --help` tells more about one command, docs/glossary.md what '
        'the words mean.',
    )
    choices = whole.add_subparsers(metavar='COMMAND', dest='subcommand', required=True)
    choices.help = 'one of those above'
    for name, declared in COMMANDS.items():
        former = [old for old, new in FORMER.items() if new == name]
        of_command = choices.add_parser(name, aliases=former, description=declared.HELP)
        if named in (name, *former):
            declared.add_arguments(of_command)
    return whole


def _contents() -> str:
    """All subcommands by their purpose, a line each."""
    width = max(map(len, COMMANDS))
    groups = (
        '\n'.join(
            [f'  {heading}']
            + [f'    {name:<{width}}  {file.HELP}' for name, file in files.items()]
        )
        for heading, files in GROUPS.items()
    )
    return '\n\n'.join(groups)


if __name__ == '__main__':
    sys.exit(main())
