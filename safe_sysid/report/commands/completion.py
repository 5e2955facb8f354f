"""Command line of `safe-sysid completion`."""

import argparse

HELP = 'a script that lets a shell complete commands and options: bash, zsh or fish'
CARRIED_OUT_BY = 'safe_sysid.report.completion'
SHELLS = ('bash', 'zsh', 'fish')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which shell."""
    parser.add_argument('shell', choices=SHELLS, help='the shell that reads the script')
    parser.epilog = (
        'In bash and zsh: eval "$(safe-sysid completion bash)", in a start-up file to keep it. '
        'In fish: safe-sysid completion fish | source'
    )
