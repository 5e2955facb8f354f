"""Heartbeats: what the nodes of a loop said last on /diagnostics, and who has fallen silent.

The last word of a node counts as long as it has no other, so none is forgotten for another one.
Names beyond `MOST` are not listened to, and are a fault: they may say something that matters.
"""

from __future__ import annotations

from safe_sysid.ros.watch.health import NodeStatus
from safe_sysid.track.supervisor import Cause

MOST = 100  # nodes of a loop; it has about ten
OVERLAP = 1.0  # [s] in which two processes of one name must not both be heard


class Heartbeats:
    """Keeps the newest status of every node in one namespace, except the supervisor's own."""

    def __init__(self, namespace: str, silence: float) -> None:
        self._prefix = namespace.rstrip('/') + '/'
        self._silence = silence
        self._heard: dict[
            str, tuple[NodeStatus, float]
        ] = {}  # by name: status and when it came [s]
        self._pids: dict[str, dict[str, float]] = {}  # by name: processes heard lately
        self._now = 0.0
        self._beyond = ''  # the first name that was one too many

    def hear(self, heard: NodeStatus, now: float) -> None:
        """Take a status; `now` is on a steady clock [s]."""
        self._now = now
        name = heard.name.removeprefix(self._prefix)
        if not heard.name.startswith(self._prefix) or '/' in name:
            return  # a node of another arm
        if name not in self._pids and len(self._pids) >= MOST:
            self._beyond = self._beyond or name
            return
        pids = self._pids.get(name, {})
        lately = {pid: at for pid, at in pids.items() if now - at < OVERLAP}
        self._pids[name] = lately | {heard.pid: now}
        if name != 'supervisor':
            self._heard[name] = heard, now

    def faults(self) -> frozenset[Cause]:
        """All that any node sees; of nodes that are silent, the last word counts."""
        faults = {cause for heard, _ in self._heard.values() for cause in heard.faults}
        is_doubtful = bool(self._beyond or self.doubles())
        return frozenset(faults | ({Cause.SECOND_PUBLISHER} if is_doubtful else set()))

    def doubles(self) -> list[str]:
        """Names under which two processes were heard just now."""
        return [
            name
            for name, pids in self._pids.items()
            if sum(self._now - at < OVERLAP for at in pids.values()) > 1
        ]

    def sentence(self, cause: Cause) -> str:
        """Return what the nodes that see a fault say about it."""
        said = [f'{n}: {h.trouble}' for n, (h, _) in self._heard.items() if cause in h.faults]
        if cause is Cause.SECOND_PUBLISHER:
            said += [f'{name} runs more than once' for name in self.doubles()]
            said += [
                f'{name} is one node too many, {MOST} were heard of this loop; end those that '
                'are none of it, and start the supervisor again'
                for name in ([self._beyond] if self._beyond else [])
            ]
        return '; '.join(said)

    def silent(self, now: float) -> list[str]:
        """Nodes that were heard and are not any more."""
        return [name for name, (_, at) in self._heard.items() if now - at > self._silence]

    def unheard(self, now: float) -> list[str]:
        """Return a sentence about them; none where there are none."""
        silent = self.silent(now)
        return [f'not heard any more: {", ".join(silent)}'] if silent else []

    def figure(self, name: str, key: str) -> str | None:
        """Return a figure of one node."""
        heard = self._heard.get(name)
        return None if heard is None else heard[0].figures.get(key)

    def figures(self, key: str) -> dict[str, str]:
        """Return a figure of every node that has it, by its name."""
        said = {name: heard.figures for name, (heard, _) in self._heard.items()}
        return {name: figures[key] for name, figures in said.items() if key in figures}

    def any_figure(self, key: str) -> str | None:
        """Return a figure of whichever node has it; of one that is silent where no other has.

        A bridge that has gone says for ever what it said of the arm last.
        """
        silent = self.silent(self._now)
        said = sorted(self.figures(key).items(), key=lambda each: each[0] in silent)
        return next((figure for _, figure in said), None)
