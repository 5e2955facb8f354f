"""What `safe-sysid` starts: Ctrl-C ends it without a word while the command is being loaded."""

import os
import signal
import sys

INTERRUPTED = 130  # what a shell reports for Ctrl-C


def start() -> int:
    """Load the command, and carry it out."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    from safe_sysid.cli.main import main

    signal.signal(signal.SIGINT, signal.default_int_handler)  # from here on an exception
    status = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done but what Python takes down
    return status


if __name__ == '__main__':
    sys.exit(start())
