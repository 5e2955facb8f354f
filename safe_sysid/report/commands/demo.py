"""Command line of `safe-sysid demo`."""

import argparse

HELP = 'a first look: an arm, and its dynamics computed in two independent ways'
CARRIED_OUT_BY = 'safe_sysid.report.demo'


def add_arguments(_: argparse.ArgumentParser) -> None:
    """Nothing to choose."""
