"""CommandLine: an argparse parser whose refusals are short and guess what was meant."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
import sys
from typing import Any, NoReturn

WRONG_USE = 2
ARMS = {'.urdf', '.xacro', '.yaml'}  # files that describe one


class CommandLine(argparse.ArgumentParser):
    """Says what is wrong in one sentence, where argparse prints every option before it."""

    words: Sequence[str] = ()  # of the command line

    def error(self, message: str) -> NoReturn:
        """End with the status of misuse."""
        if message.startswith('the following arguments are required'):
            self.refuse_unknown([word for word in self.words if self._is_unknown(word)])
        said = f'{self.prog}: {message}\n'
        self.exit(WRONG_USE, f'{said}`{self.prog} --help` lists what there is\n')

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write, and say where that fails; argparse is silent."""
        (file or sys.stderr).write(message)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError:
            words = [str(choice) for choice in action.choices or ()]
            listed = ', '.join(words)
            said = f"there is no '{value}'{_guess(str(value), words)} (there are: {listed})"
            raise argparse.ArgumentError(action, said) from None

    def refuse_unknown(self, words: Sequence[str]) -> None:
        """End where words are left that no option has taken."""
        if not words:
            return
        self.error(f"'{words[0]}' is not understood{self._meant(words[0])}")

    def _meant(self, word: str) -> str:
        """Guess at an option, or at an arm that is asked for in the other way."""
        name = word.partition('=')[0]
        places = [x.metavar for x in self._actions if not x.option_strings]
        if name == '--robot' and 'ROBOT' in places:
            return '; the arm is ROBOT, without an option before it'
        if '--robot' in self._options() and Path(word).suffix in ARMS:
            return f"; did you mean '--robot {word}'?"
        return _guess(name, self._options())

    def _is_unknown(self, word: str) -> bool:
        name = word.partition('=')[0]
        return name.startswith('--') and not any(x.startswith(name) for x in self._options())

    def _options(self) -> Iterator[str]:
        for action in self._actions:
            yield from action.option_strings


def _guess(word: str, words: Iterable[str]) -> str:
    near = get_close_matches(word, list(words), 1)
    return f"; did you mean '{near[0]}'?" if near else ''
