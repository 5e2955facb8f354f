"""LoopListener: what a loop says while it runs, heard by a process that knows ROS."""

from __future__ import annotations

import base64
from collections.abc import Iterator
import importlib.util
import json
import subprocess
import sys
import tempfile
from typing import IO, NamedTuple

from safe_sysid.errors import MeasurementError
from safe_sysid.measure.bag.messages import BagMessage, decoded
from safe_sysid.own_python import own_environment

PROBE = 'safe_sysid.ros.probes.heard_loop'
LEAVE = 5.0  # [s] for the process to end


class Parameters(NamedTuple):
    """Those of one node, as the text of a parameter file."""

    text: str


class Nodes(NamedTuple):
    """All nodes in the namespace of the loop, which are others than before."""

    names: tuple[str, ...]


Heard = BagMessage | Parameters | Nodes


class LoopListener:
    """Iterates over what is heard until it is closed; topics come without the namespace."""

    def __init__(self, namespace: str) -> None:
        if importlib.util.find_spec('rclpy') is None:
            raise MeasurementError(
                'rclpy is not installed, so no topic can be heard; source the setup.bash of a ROS '
                '2, or name a bag'
            )
        self._namespace = '/' + namespace.strip('/') if namespace.strip('/') else ''
        # Its words go into a file: a pipe that nobody reads would stop it.
        self._words: IO[str] = tempfile.TemporaryFile('w+')  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, '-m', PROBE, self._namespace],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            env=own_environment(),
            start_new_session=True,  # a Ctrl-C of the terminal is for whoever reads this
            text=True,
        )

    def __iter__(self) -> Iterator[Heard]:
        """Whatever is heard; an error if the process ends by itself."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            heard = self._heard(json.loads(line))
            if heard is not None:
                yield heard
        if self._process.wait():
            self._words.seek(0)
            said = self._words.read().strip().splitlines() or ['it said nothing']
            raise MeasurementError(f'the process that hears the topics has ended: {said[-1]}')

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(LEAVE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._words.close()

    def _heard(self, told: dict[str, str]) -> Heard | None:
        if 'nodes' in told:
            return Nodes(tuple(told['nodes']))
        if 'parameters' in told:
            text, own = told['parameters'], f'{self._namespace}/'
            is_own = text.startswith(own) and '/' not in text[len(own) : text.index(':')]
            return Parameters(text) if is_own else None
        topic, data = told['topic'], base64.b64decode(told['cdr'])
        short = topic.removeprefix(self._namespace)
        return BagMessage(short, 0, decoded(topic, told['type'], data))
