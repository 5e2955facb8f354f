"""Where the programs of the nodes begin: Ctrl-C waits until somebody listens.

A node imports for seconds before it can. Ctrl-C at a launch reaches it all the same, and would
interrupt an import somewhere. `main.py` lets it through.
"""

import importlib
from pathlib import Path
import signal
import sys


def main() -> int:
    """Run the node whose name this program has."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    name = Path(sys.argv[0]).stem
    folder = 'nodes' if name.endswith('_node') else 'bridges'
    status: int = importlib.import_module(f'safe_sysid.ros.{folder}.{name}').main()
    return status
