"""SaidCauses: what was said of the causes of a fault, of each when it came."""

from __future__ import annotations

from collections.abc import Callable

from safe_sysid.track.supervisor import Cause, Supervision


class SaidCauses:
    """The first cause of the fault that there is, and those that came with it."""

    def __init__(self) -> None:
        self._said: dict[Cause, str] = {}

    def __contains__(self, cause: Cause) -> bool:
        return cause in self._said

    @property
    def names(self) -> str:
        """Return them in the order in which they came."""
        return ', '.join(cause.name for cause in self._said)

    def note(
        self, first: Cause | None, present: frozenset[Cause], say: Callable[[Cause], str]
    ) -> bool:
        """Keep what is said of those that are new, if there are any; without a first, forget."""
        before = set(self._said)
        if first is None:
            self._said.clear()
            return bool(before)
        for cause in (first, *(each for each in Cause if each in present)):
            if cause not in self._said:
                self._said[cause] = say(cause)
        return set(self._said) != before

    def sentences(self, now: Supervision) -> list[str]:
        """Return the mode; of a fault its causes, the way back, and what was said of each."""
        said = [str(now)]
        for cause, sentence in self._said.items():
            if cause is not now.cause:
                said.append(f'also: {cause.value[0]}')
            said.append(sentence)
        return said
