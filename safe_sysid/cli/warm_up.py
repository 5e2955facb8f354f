"""Command line of `safe-sysid warm-up`."""

import argparse

HELP = 'compile all kernels now, in a minute or two, so that no command has to wait for them'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing can be chosen: kernels are the same for every arm."""


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid warm-up`."""
    del options
    print(warmed_up())
    return 0


def warmed_up() -> object:
    """Compile what is not compiled, with a bar for whoever waits."""
    from safe_sysid.api.warm_up import warm_up
    from safe_sysid.cli.progress import ProgressBar

    bar = ProgressBar('compiling')
    try:
        return warm_up(bar.show)
    finally:
        bar.end()
