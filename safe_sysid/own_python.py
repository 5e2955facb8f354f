"""The environment of a Python of ours, which finds no module in the folder that the user is in."""

from __future__ import annotations

from contextlib import suppress
import os
from pathlib import Path

PACKAGE = Path(__file__).parent


def own_environment() -> dict[str, str]:
    """Return ours, with the option for it that Python has from 3.11 on.

    Else `python -m` would look there first: a `xacro.py` beside a robot would be run. Where the
    user is in the folder of this package itself, it stays importable.
    """
    environment = {**os.environ, 'PYTHONSAFEPATH': '1'}
    with suppress(FileNotFoundError):  # of a folder that was deleted meanwhile
        if Path.cwd() == PACKAGE.parent:
            known = os.environ.get('PYTHONPATH')
            paths = [str(PACKAGE.parent), *([known] if known else [])]
            environment['PYTHONPATH'] = os.pathsep.join(paths)
    return environment
