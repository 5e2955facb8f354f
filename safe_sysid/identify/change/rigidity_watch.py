"""RigidityWatch: samples of an arm in motion, tested for a rigid body some seconds at a time.

What sloshes, swings or flexes in the hand pulls with a force that no theta explains, so bounds on
theta, and certificates with them, are none on it. The test is that of a recording (`rigidity`),
for each `SECONDS` of samples by itself. A joint that stands, or nearly so, may have any dry
friction up to its bound, and says nothing here; nor does a window in which too few joints move.

What pulls hard enough is noticed as a change of what is held, and the arm brakes. Samples before
and since are then tested apart, once it is at rest: were it a change, either body would be rigid.

The rate of false alarms of an hour is shared among its parts. That is statistics, as in
`ChangeTest`, and no bound rests on it: what is not seen may still swing.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.change.change_test import ChangeSettings
from safe_sysid.identify.change.rigidity import Rigidity
from safe_sysid.identify.held_object import RecordedObject
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.identify.recorded_windows import MOVING
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel

SECONDS = 8.0  # that are tested together
NANO = 1_000_000_000
MOST_PARTS = 2000  # that are kept while a test goes on
GAP = NANO // 2  # [ns] from which on samples are lost, or a clock was set

Batch = tuple[Array | IntArray, Array]  # stamps (N,) [ns] and rows q, qd, tau (N, 3, n)
Stamps = tuple[int, int]  # [ns] after and before which it was
Submit = Callable[[Callable[[], Rigidity | None]], 'Future[Rigidity | None]']


def at_once(task: Callable[[], Rigidity | None]) -> Future[Rigidity | None]:
    """Do it now, so that results do not depend on the machine."""
    done: Future[Rigidity | None] = Future()
    done.set_result(task())
    return done


class RigidityWatch:
    """Keeps samples until there are enough of them, and what the last test of them said."""

    def __init__(
        self,
        model: RobotModel,
        prior: ParameterEstimate,
        settings: ChangeSettings,
        submit: Submit = at_once,
    ) -> None:
        """`submit` does a test now, or while other samples are taken."""
        self._model, self._prior, self._submit = model, prior, submit
        self._noise = settings.unmodelled_torque
        self._probability = settings.false_alarms * SECONDS / 3600.0
        self._since = -1  # [ns] samples up to it are of the body before
        self._begin()

    def _begin(self) -> None:
        self._parts: list[Batch] = []
        self._judging: Future[Rigidity | None] | None = None
        self._found: Rigidity | None = None
        self._is_over = False  # after a change there is no other test until somebody answers it
        self.tests = 0  # that could tell

    def add(
        self,
        batch: Batch,
        observation: ObservationSettings,
        change: Callable[[], Stamps] | None = None,
    ) -> None:
        """Take samples, and the errors that are expected of them; a test may be due.

        `change` says between which stamps [ns] what is held has changed, where it was noticed.
        """
        times, samples = batch
        if self._is_over or times[0] <= self._since or np.any(np.diff(times) <= 0):
            return
        if self._parts and not 0 < times[0] - self._parts[-1][0][-1] < GAP:
            self._parts = []
        self._parts.append(batch)
        span = times[-1] - self._parts[0][0][0]
        if change is None and span >= SECONDS * NANO:
            self._test(lambda log: self._judged(log, observation))
        elif change is not None and (span >= 2 * SECONDS * NANO or _rests(samples)):
            stamps = change()
            self._is_over = self._test(lambda log: self._judged_apart(log, observation, stamps))

    def _test(self, judged: Callable[[JointLog], Rigidity | None]) -> bool:
        """Whether all samples are tested now; not while the last test goes on."""
        self._take()
        if self._judging is not None:
            self._parts = self._parts[-MOST_PARTS:]
            return False
        parts, self._parts = self._parts, []
        self._judging = self._submit(lambda: judged(_log(parts)))
        return True

    @property
    def is_undecided(self) -> bool:
        """Whether a body before or since a change that was noticed is yet to be tested."""
        self._take()
        return not self._is_over or self._judging is not None

    def _judged(self, log: JointLog, observation: ObservationSettings) -> Rigidity | None:
        """Return what samples say; None where no row can be made of them, or no test."""
        held = RecordedObject(self._model, self._prior, observation, log, self._noise)
        try:
            return held.rigidity_in_motion(self._probability)
        except (MeasurementError, np.linalg.LinAlgError):
            return None

    def _judged_apart(
        self, log: JointLog, observation: ObservationSettings, change: Stamps
    ) -> Rigidity | None:
        """Return what is said of the body before a change or, where that was rigid, since."""
        after, before = np.searchsorted(log.stamp, change)
        bodies = (_part(log, slice(0, after)), _part(log, slice(before, None)))
        told = [self._judged(each, observation) for each in bodies if len(each) > 1]
        certain = [each for each in told if each is not None]
        return next((each for each in certain if each.rejects), certain[-1] if certain else None)

    def _take(self) -> None:
        """Learn what the test said, if there was one."""
        if self._judging is None or not self._judging.done():
            return
        found, self._judging = self._judging.result(), None
        self.tests += found is not None
        if found is not None and found.rejects and self._found is None:
            self._found = found

    def found(self) -> Rigidity | None:
        """Return what says that it is no rigid body; None: nothing does."""
        self._take()
        return self._found

    def forget(self, since: int) -> None:
        """Take samples up to a stamp [ns], and a test under way, for those of another body."""
        self._since = since
        self._begin()


def _rests(samples: Array) -> bool:
    """Whether no joint has moved, but for the noise of its readings."""
    return bool(np.abs(samples[:, 1].mean(axis=0)).max() <= MOVING)


def _log(parts: list[Batch]) -> JointLog:
    samples = np.concatenate([each[1] for each in parts])
    stamps = np.concatenate([each[0] for each in parts]).astype(np.int64)
    return JointLog(stamps, samples[:, 0], samples[:, 1], samples[:, 2])


def _part(log: JointLog, part: slice) -> JointLog:
    return JointLog(log.stamp[part], log.position[part], log.velocity[part], log.torque[part])
