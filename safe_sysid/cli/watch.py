"""Command line of `safe-sysid watch`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import closing
import os
import signal
import sys

from safe_sysid.cli.inputs import bag
from safe_sysid.cli.values import port

HELP = 'show a loop in a browser while it runs, or one that was recorded; on this computer only'
POLITE = 10  # added to the niceness: whoever plans and controls comes first


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which loop or bag, and where the page is."""
    parser.add_argument(
        'bag',
        metavar='BAG',
        nargs='?',
        type=bag,
        help='folder or file of a recorded loop; default: the loop that runs on the ROS domain of '
        'this terminal, which `safe-sysid run` tells how to join',
    )
    parser.add_argument(
        '--namespace', metavar='NAME', default='', help='of the loop, where it has one'
    )
    parser.add_argument(
        '--port', metavar='N', type=port, default=0, help='of the page; default: a free one'
    )


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid watch`: serve a page until Ctrl-C or SIGTERM, its usual end.

    Before there is a page they interrupt it, as they do any other command.
    """
    from safe_sysid.cli.warm_up import warmed_up

    is_shown = False

    def say(address: str) -> None:
        nonlocal is_shown
        is_shown = True
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # from here on as Ctrl-C
        print(f'{address}  (Ctrl-C ends it)', flush=True)

    watch = _watch_topics if options.bag is None else _watch_bag
    try:
        warmed_up()
        watch(options, say)
    except KeyboardInterrupt:
        if not is_shown:
            raise
    return 0


def _watch_bag(options: argparse.Namespace, say: Callable[[str], None]) -> None:
    from safe_sysid.live.page import recorded_page
    from safe_sysid.live.server import PageServer
    from safe_sysid.report.html_page import html_of

    print(f'certifying the plans of {options.bag} again', file=sys.stderr, flush=True)
    page = html_of(recorded_page(options.bag))
    with closing(PageServer(page, options.port)) as server:
        say(server.address)
        while True:
            signal.pause()


def _watch_topics(options: argparse.Namespace, say: Callable[[str], None]) -> None:
    from safe_sysid.bringup.isolation import where
    from safe_sysid.bringup.processes import namespace_of
    from safe_sysid.live.heard_run import HeardRun
    from safe_sysid.live.loop_listener import LoopListener
    from safe_sysid.live.page import live_page
    from safe_sysid.live.server import PageServer

    namespace = namespace_of(options.namespace)
    place = where({}, os.environ)
    place += f' in the namespace {namespace}' if namespace else ''
    with (
        closing(LoopListener(namespace)) as listener,
        closing(PageServer(live_page(place), options.port)) as server,
    ):
        print(f'listening {place}', file=sys.stderr, flush=True)
        os.nice(POLITE)
        say(server.address)
        run = HeardRun(server.tell)
        for heard in listener:
            run.take(heard)
