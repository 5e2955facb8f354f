"""ChangeWatch: windows of an identifier go to a `ChangeTest`, and what it notices gets stamps.

Beside the rows of a window the test is told the pose in its middle, and how much of the friction
of a joint may have had either sign: for as long as it moved no faster than `SLOW` beyond the error
of its velocity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import os
import pickle
import socket
from typing import Protocol

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.change.change_kinds import Explanation, Kind
from safe_sysid.identify.change.change_test import Change, ChangeSettings, ChangeTest
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.identify.observation import Observation, packed, unpacked
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.worker import Worker

SLOW = 0.01  # [rad/s] of a joint whose friction may have either sign, beside what readings hide
LONGEST_MESSAGE = 1 << 20  # bytes
NICENESS = 5  # it may come later than torques and samples, not later than bounds


@dataclass(frozen=True)
class NoticedChange:
    """What was noticed from torques, on the clock of the samples; statistics."""

    noticed: int  # [ns]
    after: int  # [ns] it happened after this
    before: int  # [ns] and before this
    explanations: tuple[Explanation, ...]  # that explain it about equally well, the best first
    is_explained: bool  # whether a load that stays explains all samples since

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What it may have been, the likeliest first."""
        return tuple(each.kind for each in self.explanations)

    @property
    def delay(self) -> float:
        """Time from when it happened at the earliest until it was noticed [s]."""
        return (self.noticed - self.after) * 1e-9

    def __str__(self) -> str:
        kinds = ' or '.join(str(each) for each in self.explanations)
        rest = '' if self.is_explained else '; no load that stays explains all samples since'
        return (
            f'{kinds}, between {_seconds(self.after)} and {_seconds(self.before)}, noticed at '
            f'{_seconds(self.noticed)}{rest}'
        )


def _seconds(stamp: int) -> str:
    """Stamp in seconds, to the millisecond."""
    return f'{stamp // 1_000_000_000}.{stamp % 1_000_000_000 // 1_000_000:03d} s'


class Looks(Protocol):
    """Where a `ChangeTest` runs."""

    def add(self, rows: Observation, position: Array, dry: Array) -> None:
        """Take a window."""

    def poll(self) -> Change | None:
        """Return the change, if there is one, as it was judged first or later."""

    def judged(self) -> Change | None:
        """Return the change, judged by all windows since, as far as they were looked at."""

    def suspect(self) -> None:
        """Take it as proven that something has changed."""

    def new_payload(self, body: Interval) -> None:
        """Another body is in hand."""

    def close(self) -> None:
        """Release what is held."""


LooksFactory = Callable[[RobotModel, ParameterEstimate, int, ChangeSettings], Looks]


class LooksAtOnce:
    """Looks at every window as it comes, so that results do not depend on the machine."""

    def __init__(
        self, model: RobotModel, prior: ParameterEstimate, samples: int, settings: ChangeSettings
    ) -> None:
        self._test = ChangeTest(model, prior, samples, settings)

    def add(self, rows: Observation, position: Array, dry: Array) -> None:
        """Take a window."""
        self._test.add(rows, position, dry)

    def poll(self) -> Change | None:
        """Return the change, if there is one."""
        return self._test.change

    def judged(self) -> Change | None:
        """Return the change, judged by all windows since."""
        return self._test.judged()

    def suspect(self) -> None:
        """Take it as proven that something has changed."""
        self._test.suspect()

    def new_payload(self, body: Interval) -> None:
        """Another body is in hand."""
        self._test.new_payload(body)

    def close(self) -> None:
        """Nothing is held."""


class LooksInBackground:
    """Looks in a second process; every call here returns within microseconds.

    A window that it has no room for is left out: the test then sees a little less.
    """

    def __init__(
        self, model: RobotModel, prior: ParameterEstimate, samples: int, settings: ChangeSettings
    ) -> None:
        self._worker = Worker(serve, socket.SOCK_SEQPACKET)
        self._socket = self._worker.socket
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST_MESSAGE)
        self._episode = self.left_out = 0
        self._is_running = True
        self._found: Change | None = None
        self._send(('test', model, prior, samples, settings))

    def add(self, rows: Observation, position: Array, dry: Array) -> None:
        """Take a window."""
        self._send((self._episode, packed(rows), position, dry))

    def poll(self) -> Change | None:
        """Return the change, if one was told by now."""
        while self._is_running:
            try:
                message = self._socket.recv(LONGEST_MESSAGE, socket.MSG_DONTWAIT)
            except BlockingIOError:
                break
            except ConnectionResetError:
                message = b''
            if not message:
                self._is_running = False
                break
            episode, change = pickle.loads(message)
            if episode == self._episode:
                self._found = change
        return self._found

    def judged(self) -> Change | None:
        """Return the same, which is judged anew with every window."""
        return self.poll()

    def suspect(self) -> None:
        """Take it as proven that something has changed."""
        self._send(('suspect', self._episode))

    def new_payload(self, body: Interval) -> None:
        """Another body is in hand."""
        self._episode, self._found = self._episode + 1, None
        self._send(('new_payload', self._episode, body))

    def close(self) -> None:
        """End the process."""
        self._worker.close()

    def _send(self, message: object) -> None:
        try:
            self._socket.send(pickle.dumps(message), socket.MSG_DONTWAIT)
        except BlockingIOError:
            self.left_out += 1
        except (BrokenPipeError, ConnectionResetError):
            self._is_running = False

    @property
    def is_running(self) -> bool:
        """Whether anybody looks."""
        return self._is_running and self._worker.process.poll() is None


def serve(connection: socket.socket) -> None:
    """Look at windows for another process until it closes the connection."""
    os.nice(NICENESS)
    test: ChangeTest | None = None
    episode = 0
    while message := connection.recv(LONGEST_MESSAGE):
        kind, *content = pickle.loads(message)
        if kind == 'test':
            test = ChangeTest(*content)
        elif test is None:
            return
        elif kind == 'new_payload':
            episode, body = content
            test.new_payload(body)
        elif kind == 'suspect':
            test.suspect()
        elif kind == episode:
            rows, position, dry = content
            test.add(unpacked(rows), position, dry)
            change = test.judged()
            if change is not None:
                connection.send(pickle.dumps((episode, change)))


class ChangeWatch:
    """Takes every sample of an identifier, and the rows of every window."""

    def __init__(
        self,
        model: RobotModel,
        prior: ParameterEstimate,
        observation: ObservationSettings,
        settings: ChangeSettings,
        looks: LooksFactory,
    ) -> None:
        self._origin = 0  # [ns]
        self._since = -np.inf  # [s] windows that began before are of the body before
        self._looks = looks(model, prior, observation.window, settings)
        errors = observation.readings(model)
        self._slow = errors.velocity + SLOW
        friction = prior.bounds[model.layout.joint_entries('Fc')].magnitude
        self._friction = friction + observation.torques(model).friction
        self._positions: list[Array] = []
        self._slowly = np.zeros(model.n)  # samples of a window in which a joint hardly moved

    def take(self, measurement: JointMeasurement, rows: Observation | None, origin: int) -> None:
        """Take a sample, and the rows of the window that ends with it, if one does.

        Times of rows count from the stamp `origin` [ns].
        """
        self._positions.append(measurement.position)
        self._slowly += np.abs(measurement.velocity) <= self._slow
        if rows is None:
            return
        count, self._origin = len(self._positions), origin
        share = self._slowly[rows.joint] / count
        dry = share * self._friction[rows.joint] * (rows.end - rows.start)
        if rows.start.min() >= self._since:
            self._looks.add(rows, self._positions[count // 2], dry)
        self._positions, self._slowly = [], np.zeros_like(self._slowly)

    @property
    def has_noticed(self) -> bool:
        """Whether what is held has changed, as far as torques tell."""
        return self._looks.poll() is not None

    def suspect(self) -> None:
        """Take it as proven that something has changed: less is enough to tell when and what."""
        self._looks.suspect()

    def judged(self) -> NoticedChange | None:
        """Return what was noticed, judged by all samples since; None: nothing."""
        change = self._looks.judged()
        if change is None:
            return None
        noticed, after, before = (
            self._origin + round(t * 1e9) for t in (change.noticed, change.after, change.before)
        )
        return NoticedChange(noticed, after, before, change.explanations, change.is_explained)

    def new_payload(self, body: Interval, since: float) -> None:
        """Another body is in hand, within these bounds, in windows that begin at a time [s]."""
        self._positions, self._slowly = [], np.zeros_like(self._slowly)
        self._since = since
        self._looks.new_payload(body)

    def close(self) -> None:
        """End what runs in the background."""
        self._looks.close()
