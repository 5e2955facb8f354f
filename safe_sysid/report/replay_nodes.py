"""`safe-sysid replay`: `safe-sysid run replay` with a bag, until its end."""

from __future__ import annotations

import argparse

from safe_sysid.report import run


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid replay`."""
    chosen = argparse.Namespace(
        name='replay',
        robot=options.robot,
        config=options.config,
        world='',
        payload='',
        record='',
        bag=options.bag,
        lockstep=options.lockstep,
        once=True,
        extra=[f'replay_bridge:speed:={options.speed}', *options.extra],
    )
    return run.command(chosen)
