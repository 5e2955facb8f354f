"""RunEnding: who asked for the end of a run, and when the supervisor may leave after it."""

from __future__ import annotations

from collections.abc import Sequence
import re

from safe_sysid.ros.process.words import say
from safe_sysid.ros.watch.heartbeats import Heartbeats
from safe_sysid.track.supervisor import Mode

LARGEST = 255  # exit status
PERIOD = 0.05  # [s] between two looks at the situation
LATE_READERS = 10  # looks for which the last word is repeated
STANDS = 600  # looks at a time that stands still, until the guard of the bridge acts alone
PATIENCE = 120  # looks at a bridge that is gone, or that cannot hand the arm over
REQUEST = re.compile(r'([0-9]{1,3}) (\S+: .*)', re.DOTALL)
LEFT = 'the driver goes on with the last torque that it got'


class RunEnding:
    """Counts looks, not seconds: a process that had to wait has not been patient meanwhile.

    Nor has one for whose arm hardly any time went by, as it does where time waits for answers:
    there samples are far between, and silence counts only if it lasts.
    """

    may_be_killed = False

    def __init__(self, nodes: Heartbeats) -> None:
        self._nodes = nodes
        self._said = 0  # looks since the end
        self._waited = 0  # looks in which time went on for the arm
        self._unheard = 0  # looks in a row, without a sample for long
        self._stamp: int | None = None  # [ns] of the newest sample, when time went on last
        self._stood, self._stood_at = 0, 0  # looks in a row at one stamp [ns] while it was waited
        self.stuck = ''  # for whom, for too long
        self.status, self.why = 0, ''
        self.is_asked_for = False

    def ask(self, why: str, times: int) -> None:
        """Take a signal; a second one is answered with what is going on."""
        self.hear(f'0 supervisor: {why}')
        if times > 1:
            say(self.progress())

    def is_due(self) -> bool:
        """Return the supervisor leaves with the exit status of the run, which it gives itself."""
        return False

    def hear(self, request: str) -> None:
        """Take `<exit status> <node>: <why>`; the first one counts, and nothing else does."""
        if self.is_asked_for:
            return
        told = REQUEST.fullmatch(request)
        if told is None or int(told[1]) > LARGEST:
            say(
                f'supervisor: end_requested is {request!r}, so the run goes on; '
                f"'<exit status, 0 to {LARGEST}> <node>: <why>' is needed"
            )
            return
        self.status, self.why, self.is_asked_for = int(told[1]), told[2], True

    def watch(self, stamp: int, silent: Sequence[str]) -> None:
        """Notice that an arm whose time waits for answers never comes to rest; once per look.

        `silent` are nodes that are not heard any more: who only takes long is waited for.
        """
        waits = self.is_asked_for and bool(silent) and stamp == self._stood_at
        self._stood, self._stood_at = self._stood + 1 if waits else 0, stamp
        self.stuck = ''
        if self._stood > STANDS:
            self.stuck = f'time stands still, as {", ".join(silent)} does not answer'

    def is_released(self, mode: Mode) -> bool:
        """Whether the bridge says that the arm is in other hands, as it was asked to."""
        return mode is Mode.RELEASING and self._nodes.any_figure('released') == 'True'

    def is_over(self, mode: Mode, is_stale: bool, stamp: int | None) -> bool:
        """Whether nobody waits for the supervisor any more; asked once per look.

        `stamp` [ns] is of the newest sample, None where none has come for long.
        """
        if mode is Mode.ENDED:
            self._said += 1
            return self._said > LATE_READERS
        waits = mode is Mode.RELEASING or is_stale
        self._waited = self._waited + self._has_gone_on(stamp) if waits else 0
        self._unheard = self._unheard + 1 if stamp is None else 0
        if max(self._waited, self._unheard) <= PATIENCE:
            return False
        is_gone = stamp is None or is_stale or mode is not Mode.RELEASING
        say(f'supervisor: {LEFT if is_gone else self.progress()}')
        return True

    def _has_gone_on(self, stamp: int | None) -> bool:
        """Whether half the time of a look went by for the arm, as far as it is heard of."""
        if stamp is None:
            return False
        if self._stamp is not None and 0 <= stamp - self._stamp < 0.5e9 * PERIOD:
            return False
        self._stamp = stamp
        return True

    def progress(self) -> str:
        """Return what the arm does now, and what comes next."""
        rest = self._nodes.any_figure('at rest in [s]')
        hands = self._nodes.any_figure('hands')
        if rest is None:
            return 'no bridge has been heard'
        return f'at rest in at most {rest} s, nothing is cut short; the arm is {hands}'
