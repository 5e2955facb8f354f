"""`safe-sysid completion`: what a shell needs to complete what the command line declares."""

from __future__ import annotations

import argparse

HELP = 'print the script for completion of commands and options: bash, zsh or fish'
PROGRAM = 'safe-sysid'
SHELLS = ('bash', 'zsh', 'fish')
ASKED = '_ARGCOMPLETE'  # variable of the environment in which a shell asks for completions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which shell."""
    parser.add_argument('shell', choices=SHELLS, help='the shell that reads the script')
    parser.epilog = (
        'In bash and zsh: eval "$(safe-sysid completion bash)", in a start-up file to keep it. '
        'In fish: safe-sysid completion fish | source'
    )


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid completion`."""
    from argcomplete.shell_integration import shellcode

    print(shellcode([PROGRAM], shell=options.shell))
    return 0


def answer(command_line: argparse.ArgumentParser) -> None:
    """Tell the shell that asks what can come next, and end."""
    from argcomplete import autocomplete
    from argcomplete.completers import ChoicesCompleter

    from safe_sysid.cli.inputs import READ, named_robot, robot, robot_or_mechanism
    from safe_sysid.share import robot_names

    subcommands = (a for a in command_line._actions if isinstance(a, argparse._SubParsersAction))
    for parser in next(subcommands).choices.values():
        for action in parser._actions:
            if action.type in (robot, named_robot, robot_or_mechanism):
                action.completer = ChoicesCompleter(dict.fromkeys(robot_names(), ''))
            if action.type in READ:
                action.type = str  # a command line may be completed whose files come later
    autocomplete(command_line)
