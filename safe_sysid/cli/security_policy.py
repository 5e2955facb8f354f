"""Command line of `safe-sysid security-policy`."""

from __future__ import annotations

import argparse

HELP = 'print the policy of SROS 2 for a way of running: what each process may say and hear'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which way, and where it is."""
    parser.add_argument('way', metavar='WAY', help='as of `safe-sysid run`, such as builtin_sim')
    parser.add_argument(
        '--namespace', metavar='NAME', default='', help='of the loop; default: that of the way'
    )


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid security-policy`."""
    from safe_sysid.bringup.security_policy import security_policy

    print(security_policy(options.way, options.namespace), end='')
    return 0
