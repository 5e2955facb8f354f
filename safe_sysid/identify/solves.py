"""Where bounds are computed: at once, or in a process of its own that never delays a sample."""

from __future__ import annotations

import pickle
import socket
from typing import Protocol

from safe_sysid.errors import SafeSysidError
from safe_sysid.identify.change.held_next import HeldNext
from safe_sysid.identify.earlier_payloads import EarlierRows
from safe_sysid.identify.log_cholesky_fit import rehearse
from safe_sysid.identify.observation import Observation, packed, unpacked
from safe_sysid.identify.payload_estimator import PayloadEstimator, Solution, SolveSettings
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.worker import Worker

_ROWS = b'R'  # first byte of rows, which a pickle never begins with
LONGEST_MESSAGE = 1 << 20  # bytes
NICENESS = 15  # bounds may come later; torques may not, and nor may plans, whose niceness is 5


class SolverProcessError(SafeSysidError):
    """The process that computes bounds ended or does not take work any more."""


class Solves(Protocol):
    """Takes rows, computes when asked, and gives each solution once."""

    def calibrate(self, rows: EarlierRows) -> None:
        """Take rows of the arm as it was calibrated, before anything else."""

    def add(self, rows: Observation) -> None:
        """Take the rows of a window."""

    def request(self) -> None:
        """Ask for bounds from all rows so far."""

    def poll(self) -> Solution | None:
        """Return the solution that was asked for, if it is there."""

    def wait(self) -> Solution:
        """Return the solution that was asked for, however long it takes."""

    def new_payload(self, until: float | None) -> None:
        """Forget everything asked for, and all rows but of the arm those by a time [s], if any."""

    def change(self, after: float, before: float, held: HeldNext) -> None:
        """Forget everything asked for; rows from a time [s] on are of another payload."""

    def close(self) -> None:
        """Release what is held."""


class SolvesAtOnce:
    """Computes inside `request`, so that results do not depend on the speed of the machine."""

    def __init__(
        self, model: RobotModel, prior: ParameterEstimate, settings: SolveSettings
    ) -> None:
        self._estimator = PayloadEstimator(model, prior, settings)
        self._solution: Solution | None = None

    def calibrate(self, rows: EarlierRows) -> None:
        """Take rows of the arm as it was calibrated."""
        self._estimator.calibrate(rows)

    def add(self, rows: Observation) -> None:
        """Take the rows of a window."""
        self._estimator.add(rows)

    def request(self) -> None:
        """Compute bounds from all rows so far."""
        self._solution = self._estimator.solve()

    def poll(self) -> Solution | None:
        """Return the solution, once."""
        solution, self._solution = self._solution, None
        return solution

    def wait(self) -> Solution:
        """Return the solution, once."""
        solution = self.poll()
        if solution is None:
            raise SolverProcessError('no solution was asked for, there is nothing to wait for')
        return solution

    def new_payload(self, until: float | None) -> None:
        """Forget all rows but of the arm those by a time [s], if any."""
        self._estimator.new_payload(until)
        self._solution = None

    def change(self, after: float, before: float, held: HeldNext) -> None:
        """Forget the solution; rows from a time [s] on are of another payload."""
        self._estimator.change(after, before, held)
        self._solution = None

    def close(self) -> None:
        """Nothing is held."""


class SolvesInBackground:
    """Computes in a second process; calls but `wait` and `calibrate` return within microseconds.

    With a thread the caller could wait as long as a switch interval (5 ms). Messages keep their
    bounds (SOCK_SEQPACKET), so that each takes one system call.
    """

    def __init__(
        self, model: RobotModel, prior: ParameterEstimate, settings: SolveSettings
    ) -> None:
        self._worker = Worker(serve, socket.SOCK_SEQPACKET, NICENESS)
        self._socket = self._worker.socket
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST_MESSAGE)
        self._buffer = bytearray(LONGEST_MESSAGE)
        self._episode = 0  # solutions of an earlier payload are not ours
        self._send(pickle.dumps(('prior', model, prior, settings)))
        nothing = Solution(prior.end_effector, prior.end_effector_bounds, None, None, 0, 0.0)
        pickle.loads(pickle.dumps((0, nothing)))  # what the first one needs is loaded now

    def calibrate(self, rows: EarlierRows) -> None:
        """Take rows of the arm as it was calibrated; waits until the process has begun to read."""
        self._send(pickle.dumps(('calibrate', rows)), flags=0)

    def add(self, rows: Observation) -> None:
        """Take the rows of a window."""
        self._send(_ROWS + packed(rows))

    def request(self) -> None:
        """Ask for bounds from all rows so far."""
        self._send(pickle.dumps(('solve', self._episode)))

    def poll(self) -> Solution | None:
        """Return the solution that was asked for, if it is there."""
        try:
            return self._receive(socket.MSG_DONTWAIT)
        except BlockingIOError:
            return None

    def wait(self) -> Solution:
        """Return the solution that was asked for, however long it takes."""
        solution = None
        while solution is None:
            solution = self._receive(0)
        return solution

    def _receive(self, flags: int) -> Solution | None:
        """Return the next solution, if it is of this payload."""
        try:
            size = self._socket.recv_into(self._buffer, 0, flags)
        except ConnectionResetError as error:
            raise self._ended() from error
        if size == 0:
            raise self._ended()
        episode, solution = pickle.loads(memoryview(self._buffer)[:size])
        return solution if episode == self._episode else None

    def new_payload(self, until: float | None) -> None:
        """Forget everything asked for, and all rows but of the arm those by a time [s], if any."""
        self._episode += 1
        self._send(pickle.dumps(('new_payload', until)))

    def change(self, after: float, before: float, held: HeldNext) -> None:
        """Forget everything asked for; rows from a time [s] on are of another payload."""
        self._episode += 1
        self._send(pickle.dumps(('change', after, before, held)))

    def close(self) -> None:
        """End the process."""
        self._worker.close()

    def _send(self, message: bytes, flags: int = socket.MSG_DONTWAIT) -> None:
        try:
            self._socket.send(message, flags)
        except BlockingIOError as error:
            raise SolverProcessError(
                'the process that computes bounds takes no more rows; it hangs or is far too '
                'slow for the rows that arrive. Make the window longer or the row budget smaller'
            ) from error
        except (BrokenPipeError, ConnectionResetError) as error:
            raise self._ended() from error

    def _ended(self) -> SolverProcessError:
        code = self._worker.process.poll()
        return SolverProcessError(
            f'the process that computes bounds has ended (exit code {code}); '
            'bounds stay as they are until the identifier is started again'
        )


def serve(connection: socket.socket) -> None:
    """Compute for another process until it closes the connection."""
    estimator: PayloadEstimator | None = None
    while True:
        try:
            message = connection.recv(LONGEST_MESSAGE)
        except ConnectionResetError:
            return
        if not message:
            return
        if message.startswith(_ROWS):
            if estimator is not None:
                estimator.add(unpacked(message[len(_ROWS) :]))
            continue
        kind, *content = pickle.loads(message)
        if kind == 'prior':
            estimator = PayloadEstimator(*content)
            rehearse()
        elif estimator is None:
            return
        elif kind != 'solve':
            getattr(estimator, kind)(*content)
        else:
            try:
                connection.send(pickle.dumps((content[0], estimator.solve())))
            except (BrokenPipeError, ConnectionResetError):
                return
