"""Going: leads the arm to a goal, by the topics on which anybody may ask for one.

Whoever asks there meanwhile takes its place. Then this is over once the arm rests, without
success: figures of the planner, the distance among them, are about the other goal.

Where it ends without success its goal begins nothing later, however late the planner hears of it:
it is void for the supervisor, and withdrawn from the planner if it may have been heard.
"""

from __future__ import annotations

from collections.abc import Callable

from safe_sysid.ros.actions.asked import PATIENCE, Loop, Outcome, Why, rests
from safe_sysid.ros.messages.request_topics import (
    ANSWERED,
    AWAY,
    AWAY_AT,
    GIVEN_UP,
    LATELY,
    REFUSED,
    TAKEN,
    WAITING,
)
from safe_sysid.track.supervisor import Mode, Signal

BEGINS = (Mode.IDENTIFIED, Mode.HOLDING)
GONE = (Mode.RELEASING, Mode.ENDED)  # in which nobody may be there to answer
LEARNS = (Mode.PROBING, Mode.EXCITING)  # what is left to learn comes first


class Going:
    """One goal; `tell` publishes it with its stamp, `withdraw` that there is none."""

    def __init__(
        self, loop: Loop, stamp: int, tell: Callable[[int], None], withdraw: Callable[[int], None]
    ) -> None:
        self._loop, self._stamp, self._tell, self._withdraw = loop, stamp, tell, withdraw
        self._is_taken = self._has_begun = self._is_over = False
        self._is_told_of = self._is_withdrawn = self._is_forgotten = False
        self._looks = 0  # since anything came of it
        self._rests_since: int | None = None  # [ns] at the goal

    @property
    def distance(self) -> float:
        """How far some joint is from the goal [rad]; not a number unless the task leads there."""
        leads = self._is_taken and not self._ousted and self._is_told
        said = self._loop.figure(AWAY) if leads else ''
        return float(said) if said else float('nan')

    def take_back(self) -> None:
        """Come to rest along the plan in force."""
        if not self._is_over:
            self._is_over, self._looks = True, 0
            self._loop.void(self._stamp)

    def call_off(self) -> None:
        """See to it that the goal begins nothing later; one that is given up cannot."""
        if self._loop.figure(GIVEN_UP).partition(' ')[0] == str(self._stamp):
            return
        self._loop.void(self._stamp)
        if self._may_lead_there and not self._is_withdrawn:
            self._take_away()

    def step(self) -> Outcome | None:
        """Go on; how it came out, once the arm is at rest."""
        outcome = self._come_on()
        if outcome is not None and not outcome.success:
            self.call_off()
        return outcome

    def _come_on(self) -> Outcome | None:
        self._looks += 1
        if self._is_over:
            return self._come_to_rest()
        if not self._is_taken:
            return self._ask()
        mode = self._loop.mode
        if mode is Mode.TASK:
            self._has_begun = True
        if mode in LEARNS and not self._has_begun:
            self._looks = 0
            return None
        if mode in (Mode.TASK, Mode.BRAKING) or not rests(self._loop):
            return None
        if mode in BEGINS and not (self._has_begun or self._ousted):
            waits = self._looks <= PATIENCE
            return None if waits else Outcome(False, 'the task does not begin', Why.NOT_BEGUN)
        return self._outcome(mode)

    def _ask(self) -> Outcome | None:
        """Tell it until the planner has heard it, and wait for the answer."""
        if self._is_answered(self._stamp):
            stamp, _, reason = self._loop.figure(REFUSED).partition(' ')
            if stamp == str(self._stamp):
                return Outcome(False, f'refused: {reason}', Why.NOT_BEGUN)
            if self._loop.figure(ANSWERED) != str(self._stamp) and self._ousted:
                return Outcome(False, self._ousted, Why.NOT_BEGUN)
            self._is_taken, self._looks = True, 0
            return None
        if self._loop.mode not in BEGINS:
            names = ' or '.join(mode.value for mode in BEGINS)
            return Outcome(
                False,
                f'a goal has to wait for mode {names}; {self._loop.sentence()}. Nothing was begun',
                Why.NOT_BEGUN,
            )
        if self._looks > PATIENCE:
            why = 'the planner does not answer; nothing was begun'
            return Outcome(False, why, Why.NOT_BEGUN)
        if not self._waits(self._stamp):
            self._is_told_of = True
            self._tell(self._stamp)
        return None

    @property
    def _may_lead_there(self) -> bool:
        """Whether the planner leads there, or has yet to hear that it is to."""
        if self._is_taken or self._is_answered(self._stamp):
            return self._loop.figure(TAKEN) == str(self._stamp)
        return self._is_told_of

    def _is_answered(self, name: int) -> bool:
        """Whether the planner has answered a request, though others came since."""
        lately = self._loop.figure(LATELY).split()
        return str(name) in (self._loop.figure(ANSWERED), *lately)

    def _waits(self, name: int) -> bool:
        """Whether the planner has heard a request that it has not answered yet."""
        return str(name) in self._loop.figure(WAITING).split()

    def _take_away(self) -> None:
        self._is_withdrawn = True
        self._withdraw(self._stamp + 1)

    def _outcome(self, mode: Mode) -> Outcome | None:
        stamp, _, reason = self._loop.figure(GIVEN_UP).partition(' ')
        if stamp == str(self._stamp):
            return Outcome(False, f'given up: {reason}; the arm is at rest')
        if self._ousted:
            return Outcome(False, f'{self._ousted}; the arm is at rest')
        if mode is Mode.IDENTIFIED:
            return self._arrived()
        return Outcome(False, f'ended before it was reached: {self._loop.sentence()}')

    def _arrived(self) -> Outcome | None:
        """Wait until the planner tells how far the arm is from the goal now that it rests."""
        if self._rests_since is None:
            self._rests_since, self._looks = self._loop.now, 0
        if self._is_told:
            return Outcome(True, f'{self.distance:.3g} rad from the goal, at rest')
        if self._looks <= PATIENCE:
            return None
        return Outcome(True, 'at rest; the planner does not say how far from the goal')

    @property
    def _is_told(self) -> bool:
        """Whether a distance that the planner has told is not one from before the arm rested."""
        said = self._loop.figure(AWAY_AT)
        return self._rests_since is None or not said or int(said) >= self._rests_since

    @property
    def _ousted(self) -> str:
        """What the task leads to instead; empty: it leads to this goal."""
        leads_to = self._loop.figure(TAKEN)
        if leads_to == str(self._stamp):
            return ''
        if not leads_to:
            return 'the goal was taken away by somebody else, or forgotten by the planner'
        return f'another goal, of stamp {leads_to} ns, took its place'

    def _come_to_rest(self) -> Outcome | None:
        """Brake, and see to it that the goal begins nothing later.

        Where the arm is led to a goal of somebody else by now, that goes on, unless nobody hears
        the planner any more.
        """
        self._is_forgotten |= self._is_answered(self._stamp + 1)
        has_heard = self._is_taken or self._is_forgotten or self._is_answered(self._stamp)
        is_elsewhere = has_heard and self._loop.figure(TAKEN) not in ('', str(self._stamp))
        is_elsewhere = is_elsewhere and 'planner' not in self._loop.silent
        if self._loop.mode in (Mode.TASK, *LEARNS) and not is_elsewhere:
            self._loop.ask(Signal.BRAKE)
        is_done = self._is_forgotten or is_elsewhere or not self._is_told_of
        if not is_done and not self._waits(self._stamp + 1):
            self._take_away()
        moving = (Mode.TASK, Mode.BRAKING, *LEARNS)
        moves = self._loop.mode in moving or not rests(self._loop)
        waits = not is_done and self._looks <= PATIENCE and self._loop.mode not in GONE
        if moves or waits:
            return None
        ousted = f'{self._ousted}; ' if is_elsewhere else ''
        return Outcome(False, f'taken back; {ousted}at rest')
