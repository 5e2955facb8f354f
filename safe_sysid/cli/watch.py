"""Command line of `safe-sysid watch`."""

from __future__ import annotations

import argparse
from contextlib import closing
import os
import signal
import sys

from safe_sysid.cli.inputs import existing
from safe_sysid.cli.values import port

HELP = 'show a loop in a browser while it runs, or one that was recorded; on this computer only'
POLITE = 10  # added to the niceness: whoever plans and controls comes first


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which loop or bag, and where the page is."""
    parser.add_argument(
        'bag',
        metavar='BAG',
        nargs='?',
        type=existing,
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
    """Carry out `safe-sysid watch`: serve a page until Ctrl-C or SIGTERM, which are no errors."""
    from safe_sysid.cli.warm_up import warmed_up

    try:
        warmed_up()
        if options.bag is None:
            _watch_topics(options)
        else:
            _watch_bag(options)
    except KeyboardInterrupt:
        pass
    return 0


def _watch_bag(options: argparse.Namespace) -> None:
    from safe_sysid.live.page import recorded_page
    from safe_sysid.live.server import PageServer
    from safe_sysid.report.html_page import html_of

    print(f'certifying the plans of {options.bag} again', file=sys.stderr, flush=True)
    page = html_of(recorded_page(options.bag))
    with closing(PageServer(page, options.port)) as server:
        _say(server.address)
        while True:
            signal.pause()


def _watch_topics(options: argparse.Namespace) -> None:
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
        _say(server.address)
        run = HeardRun(server.tell)
        for heard in listener:
            run.take(heard)


def _say(address: str) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # from here on as Ctrl-C
    print(f'{address}  (Ctrl-C ends it)', flush=True)
