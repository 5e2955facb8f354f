"""PathTask: leads along a path from knot to knot, and says why it ends before its end.

It goes on only from a state of the path. Where a plan along it is not found, or not followed, the
arm stops beside it on the plan before: then the path is given up, as its times are over.
"""

from __future__ import annotations

from safe_sysid.plan.path.joint_path import JointPath, PathError, Traverse
from safe_sysid.plan.purpose import Ahead
from safe_sysid.plan.result import SearchFinding, SearchOutcome

TRIES = 3  # searches in a row that may end without time


class PathTask:
    """One path that somebody asked for."""

    def __init__(self, path: JointPath) -> None:
        self._path = path
        self._knot = self._before = 0  # where the next plan begins, and where the last one did
        self._trouble = ''  # of the last search
        self._tries = 0
        self.given_up = ''

    @property
    def count(self) -> int:
        """Pieces that were asked for."""
        return self._path.count

    @property
    def certified(self) -> int:
        """How many of them are certified all along, by plans that may be followed."""
        if self._knot == self._path.last:
            return self.count
        return int(self._path.asked[self._knot])

    def due(self, ahead: Ahead) -> Traverse | None:
        """Return the next part of the path; None at its end, or where it is given up."""
        if self.given_up:
            return None
        curve = ahead.problem.horizon.curve
        if self._knot == 0:  # it may stand elsewhere than when it was asked last
            if curve.qd0.any() or curve.qdd0.any():
                self.given_up = 'a path begins at rest, and the arm is in motion'
                return None
            try:
                self._path = self._path.beginning_at(curve.q0)
            except PathError as error:
                self.given_up = str(error)
                return None
        state = curve.q0, curve.qd0, curve.qdd0
        for knot in (self._knot, self._before):
            if self._path.passes(knot, state):
                self._knot = knot
                return None if knot == self._path.last else Traverse(self._path, knot)
        why = self._trouble or 'the plan for the next piece was not followed'
        self.given_up = f'{why}; the arm has stopped beside the path'
        return None

    def note(self, finding: SearchFinding) -> None:
        """Take what was found along the path."""
        if finding.outcome is SearchOutcome.FOUND:
            self._before, self._knot = self._knot, finding.reaches
            self._trouble, self._tries = '', 0
            return
        self._trouble, self._tries = str(finding), self._tries + 1
        without_time = (SearchOutcome.OUT_OF_TIME, SearchOutcome.CANCELLED)
        if finding.outcome not in without_time or self._tries == TRIES:
            self.given_up = self._trouble
