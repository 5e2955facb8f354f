"""The `safe-sysid` command: which subcommand does what, and how errors reach a terminal.

Every subcommand is a file with HELP, add_arguments and command. Only `command` imports numeric
libraries, as --help needs none of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from errno import ENOENT
import io
import os
import sys
from types import ModuleType

from safe_sysid.cli import (
    bench,
    calibrate,
    calibrate_drift,
    calibrate_gains,
    calibrate_kinematics,
    commission,
    completion,
    excite,
    experiment,
    export_gazebo,
    export_model,
    hand_over,
    identifiability,
    identify,
    new_arm,
    replay,
    run,
    security_policy,
    warm_up,
    watch,
)
from safe_sysid.cli.command_line import WRONG_USE, CommandLine
from safe_sysid.cli.demo import command as demo
from safe_sysid.cli.doctor import command as doctor
from safe_sysid.errors import SafeSysidError
from safe_sysid.report.terminal_lines import terminal_width, wrapped

ONE_THREAD = ('identify', 'calibrate-gains', 'run', 'replay')  # small matrices: threads only fight
INTERRUPTED = 130  # what a shell reports for Ctrl-C
NOT_READ = 141  # and for a pipe that was closed
NEAR = 40  # letters around what cannot be written that are shown
PURPOSE = 'Identify what a robot arm holds, with guaranteed bounds, while it moves safely.'
MORE = '`safe-sysid COMMAND --help` tells more, docs/glossary.md what the words mean.'

GROUPS: dict[str, dict[str, ModuleType]] = {  # heading of --help: subcommands and their files
    'to start with': {
        'demo': demo,
        'doctor': doctor,
        'new-arm': new_arm,
        'warm-up': warm_up,
    },
    'before a recording': {'identifiability': identifiability, 'excite': excite},
    'recordings': {
        'identify': identify,
        'calibrate': calibrate,
        'calibrate-kinematics': calibrate_kinematics,
        'calibrate-gains': calibrate_gains,
        'calibrate-drift': calibrate_drift,
    },
    'for other programs': {'export-model': export_model, 'export-gazebo': export_gazebo},
    'on a robot or a simulator': {
        'commission': commission,
        'hand-over': hand_over,
        'run': run,
        'watch': watch,
        'replay': replay,
        'security-policy': security_policy,
    },
    'figures': {'bench': bench, 'experiment': experiment},
    'for the shell': {'completion': completion},
}
COMMANDS = {name: file for files in GROUPS.values() for name, file in files.items()}
FORMER = {'observability': 'identifiability'}  # names that are accepted until 0.2


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command line; the status is 0, 1 for a bad finding, 2 for misuse."""
    if completion.ASKED in os.environ:
        completion.answer(parser(os.environ.get('COMP_LINE', '').split()))
    words = sys.argv[1:] if arguments is None else arguments
    if sys.stdout is None:
        print('safe-sysid: standard output is closed', file=sys.stderr)
        return WRONG_USE
    _print_whatever_the_terminal_can()
    try:
        return _carried_out(words)
    except SafeSysidError as error:
        print(f'safe-sysid: {error}', file=sys.stderr)
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOT_READ
    except OSError as error:
        print(f'safe-sysid: {_of_system(error)}', file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left of it
        return WRONG_USE
    except (MemoryError, UnicodeEncodeError) as error:
        print(f'safe-sysid: {_of_data(error)}', file=sys.stderr)
        return WRONG_USE


def _carried_out(words: Sequence[str]) -> int:
    """Status of a command line whose output has reached whoever reads it."""
    try:
        if not words:
            parser(words).print_help()
            return 0
        if words[0] in ONE_THREAD:
            os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # read when numpy is imported
        options = _options(words)
        name = FORMER.get(options.subcommand, options.subcommand)
        return int(COMMANDS[name].command(options))
    finally:
        sys.stdout.flush()


def _print_whatever_the_terminal_can() -> None:
    """Have question marks where a locale has no bars and signs, and no error."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors='replace')


def _options(words: Sequence[str]) -> argparse.Namespace:
    """Read a command line; end the program where something is wrong with it."""
    whole = parser(words)
    options, unknown = whole.parse_known_args(words)
    of_command: CommandLine = options.parser
    of_command.refuse_unknown(unknown)
    return options


def _of_system(error: OSError) -> str:
    """Sentence about a file or device that the system refused."""
    if error.filename is not None:
        where = f"'{error.filename}'"
    else:
        where = 'the current folder' if error.errno == ENOENT else 'standard output'
    return f'{where}: {error.strerror or error}'


def _of_data(error: MemoryError | UnicodeEncodeError) -> str:
    """Sentence about data that there is no room for, or no way to write."""
    if isinstance(error, MemoryError):
        reason = f' ({error})' if str(error) else ''
        return f'there is not enough memory{reason}; free some, or give it less at a time'
    wrong = error.object[error.start : error.end]
    near = error.object[max(error.start - NEAR, 0) : error.end + NEAR]
    return (
        f'{wrong!r} in {near!r} cannot be written as {error.encoding}: it is no text. Where it is '
        'in the name of a file, give that another name'
    )


def parser(words: Sequence[str]) -> CommandLine:
    """Return what the command line may say; only the command that it names has its options."""
    named = next((word for word in words if word in COMMANDS or word in FORMER), None)
    width = terminal_width()
    whole = CommandLine(
        prog='safe-sysid',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=wrapped(f'{PURPOSE}\n\n{_contents()}', width),
        epilog=wrapped(MORE, width),
    )
    whole.add_argument('--version', action=_Version, nargs=0, help='print the version, and end')
    choices = whole.add_subparsers(metavar='COMMAND', dest='subcommand', required=True)
    choices.help = 'one of those above'
    for name, declared in COMMANDS.items():
        former = [old for old, new in FORMER.items() if new == name]
        of_command = choices.add_parser(name, aliases=former, description=declared.HELP)
        if named in (name, *former):
            declared.add_arguments(of_command)
            of_command.words = words
            of_command.set_defaults(parser=of_command)
    return whole


class _Version(argparse.Action):
    """Looks for the version only where it is asked for: that takes longer than the help."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from safe_sysid.versions import version

        print('safe-sysid', version('safe_sysid') or 'of a folder, not installed')
        parser.exit()


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
