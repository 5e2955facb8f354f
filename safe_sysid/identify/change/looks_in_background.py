"""LooksInBackground: samples are looked at in a second process, which nobody waits for."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
import pickle
import socket

from safe_sysid.identify.change.change_test import ChangeSettings
from safe_sysid.identify.change.change_watch import LookedAt, NoticedChange, WatchEndedError
from safe_sysid.identify.change.known_objects import KnownObject
from safe_sysid.identify.change.rigidity_watch import Batch
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.worker import Worker

LONGEST_MESSAGE = 1 << 20  # bytes
RECOGNISES = 10  # windows between two looks at which known object is held
NICENESS = 5  # it may come later than torques and samples, not later than bounds


class LooksInBackground:
    """Looks in a second process; every call here returns within microseconds.

    Samples that it has no room for are left out: the test then sees a little less.
    """

    def __init__(
        self,
        model: RobotModel,
        prior: ParameterEstimate,
        observation: ObservationSettings,
        settings: ChangeSettings,
        objects: Sequence[KnownObject] = (),
    ) -> None:
        self._worker = Worker(serve, socket.SOCK_SEQPACKET, NICENESS)
        self._socket = self._worker.socket
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST_MESSAGE)
        self._episode = 0
        self._is_running = True
        self._found: NoticedChange | None = None
        self._known: Mapping[str, float] = {}
        self._not_rigid = ''
        self._waiting: deque[tuple[object, ...]] = deque()  # requests without room
        self._tell('begin', model, prior, observation, settings, objects)

    def add(self, batch: Batch) -> None:
        """Take some samples, unless there is no room for them."""
        self._send_waiting()
        if not self._waiting:
            self._send(('add', self._episode, batch))
        if not self._is_running:
            raise WatchEndedError(
                'the process that looks for changes of what is held has ended (exit code '
                f'{self._worker.process.poll()}); nobody would notice one until the identifier is '
                'started again'
            )

    def found(self) -> NoticedChange | None:
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
            episode, change, known, not_rigid = pickle.loads(message)
            if episode == self._episode:
                self._found, self._known = change, known or self._known
                self._not_rigid = not_rigid
        return self._found

    def judged(self) -> NoticedChange | None:
        """Return the same, which is judged anew with every batch."""
        return self.found()

    def recognised(self) -> Mapping[str, float]:
        """Return what was told last."""
        self.found()
        return self._known

    def not_rigid(self) -> str:
        """Return what was told last."""
        self.found()
        return self._not_rigid

    def suspect(self) -> None:
        """Take it as proven that something has changed."""
        self._tell('suspect')

    def trust(self) -> None:
        """Forget samples that may be of a grasp that was called off."""
        self._episode, self._not_rigid = self._episode + 1, ''
        self._tell('trust')

    def new_payload(self, body: Interval, since: int) -> None:
        """Another body is in hand, in windows that begin at a stamp [ns] or later."""
        self._episode, self._found, self._known = self._episode + 1, None, {}
        self._not_rigid = ''
        self._tell('new_payload', body, since)

    def close(self) -> None:
        """End the process."""
        self._worker.close()

    def _tell(self, *message: object) -> None:
        """Send what must not get lost: what has to wait for room comes before later samples."""
        self._waiting.append(message)
        self._send_waiting()

    def _send_waiting(self) -> None:
        while self._waiting and self._send(self._waiting[0]):
            self._waiting.popleft()

    def _send(self, message: object) -> bool:
        """Whether there was room for it, or nobody is there any more."""
        try:
            self._socket.send(pickle.dumps(message), socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except (BrokenPipeError, ConnectionResetError):
            self._is_running = False
        return True


def serve(connection: socket.socket) -> None:
    """Look at samples for another process until it closes the connection."""
    looked: LookedAt | None = None
    count = 0
    beside = ThreadPoolExecutor(1)  # a change is noticed while what is held is tested
    while message := connection.recv(LONGEST_MESSAGE):
        kind, *content = pickle.loads(message)
        if kind == 'begin':
            model, prior, observation, settings, objects = content
            looked = LookedAt(model, prior, observation, settings, objects, beside.submit)
        elif looked is None:
            return
        elif kind == 'add':
            episode, batch = content
            looked.add(batch)
            change, count = looked.judged(), count + 1
            known = looked.recognised() if count % RECOGNISES == 0 else {}
            not_rigid = looked.not_rigid()
            if change is not None or known or not_rigid:
                connection.send(pickle.dumps((episode, change, known, not_rigid)))
        else:
            getattr(looked, kind)(*content)
