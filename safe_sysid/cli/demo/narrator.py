"""What a terminal shows while the demo runs: phases, plans, bounds on the mass as they close."""

from __future__ import annotations

from collections.abc import Mapping
import re
import sys
import time
from typing import Any, TextIO

from safe_sysid.report.terminal_lines import terminal_width, wrapped

WIDTH = 31  # characters of the scale: its line has 80
LEAST, MOST = 1.0, 5.5  # [kg] that it shows
STEP = 0.01  # [kg] by which a bound has to move to be shown again
STEPS = {  # of the errand: what is done in it
    'grasp': 'pick: standing is certified for every dumbbell that it may find; the hand closes',
    'lift': 'lift: motions that lead up, each certified for what the dumbbell may still be',
    'carry': 'carry: beside the shelf, learning on',
    'release': 'place: the hand opens, for which standing is certified again',
}
MARGIN = re.compile(r'smallest margin: (?P<what>.*?)(?: at t = .*? s)?: (?P<margin>[^:]*)')
WAITING = '·✢✳✶✳✢'


class Narrator:
    """Hears the words of the monitor."""

    def __init__(self, out: TextIO, steps: Mapping[str, str]) -> None:
        self.out = out
        self._steps = steps  # of an errand, and how they are told
        self._begin = time.monotonic()
        self._first: int | None = None  # stamp [ns]
        self._time = 0.0  # [s] of the arm
        self._shown = (0.0, 0.0)
        self._phase = 'starting the nodes'
        self._turn = 0
        self.fault = self.errand = ''
        self.has_heard = False

    def hear(self, said: dict[str, Any] | None) -> None:
        """Show what was said; None: nothing is new."""
        if said is None:
            self._wait()
            return
        self.has_heard = True
        self._advance(int(said.get('stamp', 0)))
        if 'mode' in said:
            self._phase = str(said['mode'])
        elif 'errand' in said:
            self._step(str(said['errand']))
        elif 'plan' in said:
            self._plan(str(said['plan']))
        elif 'mass' in said:
            self._mass(*said['mass'])
        elif 'trouble' in said:
            self._trouble(str(said['trouble']))

    def say(self, text: str = '') -> None:
        """Print a line of its own."""
        self._clear()
        print(wrapped(text, terminal_width()), file=self.out, flush=True)

    def work(self, what: str) -> None:
        """On a terminal: what goes on now."""
        self._phase = what
        self._wait()

    def end(self) -> None:
        """Leave a clean line."""
        self._clear()

    def _advance(self, stamp: int) -> None:
        if stamp:
            self._first = stamp if self._first is None else self._first
            self._time = (stamp - self._first) / 1e9

    def _step(self, step: str) -> None:
        self.errand = step
        if step in self._steps:
            self.say(f'\n{self._time:6.1f} s  {self._steps[step]}')

    def _plan(self, found: str) -> None:
        finding, _, now = found.rpartition('; ')
        margin = MARGIN.fullmatch(finding.removeprefix('new plan, '))
        if margin is not None:
            self.say(
                f'{self._time:6.1f} s  plan    certified, smallest margin {margin["margin"]}: '
                f'{margin["what"]}'
            )
        elif not finding.startswith('nothing is left'):
            self.say(f'{self._time:6.1f} s  no plan {finding} ({now})')

    def _mass(self, lower: float, nominal: float, upper: float) -> None:
        if max(abs(lower - self._shown[0]), abs(upper - self._shown[1])) < STEP:
            return
        self._shown = lower, upper
        self.say(
            f'{self._time:6.1f} s  mass    {LEAST:.0f} kg ┃{scale(lower, nominal, upper)}┃ '
            f'{MOST} kg   {lower:.2f} … {upper:.2f} kg'
        )

    def _trouble(self, sentence: str) -> None:
        if sentence.startswith('compiling'):
            self._phase = 'compiling what is used for the first time, kept for the next'
        elif sentence.startswith('fault: ') and not self.fault:
            self.fault = sentence.removeprefix('fault: ')
            self.say(f'{self._time:6.1f} s  fault   {self.fault.partition("; ")[0]}')

    def _wait(self) -> None:
        """On a terminal: something that moves."""
        if not self.out.isatty():
            return
        self._turn += 1
        mark = WAITING[self._turn % len(WAITING)]
        seconds = time.monotonic() - self._begin
        print(
            f'\r\033[K  {mark} {seconds:4.0f} s  {self._phase}', end='', file=self.out, flush=True
        )

    def _clear(self) -> None:
        if self.out.isatty():
            print('\r\033[K', end='', file=self.out)


def scale(lower: float, nominal: float, upper: float) -> str:
    """Where an interval is, and the nominal value in it."""
    cells = ['·'] * WIDTH
    for place in range(_cell(lower), _cell(upper) + 1):
        cells[place] = '━'
    cells[_cell(nominal)] = '●'
    return ''.join(cells)


def _cell(mass: float) -> int:
    return min(max(int((mass - LEAST) / (MOST - LEAST) * WIDTH), 0), WIDTH - 1)


def for_person(json: bool) -> TextIO:
    """Where progress goes: standard output is kept for the result if that is JSON."""
    return sys.stderr if json else sys.stdout
