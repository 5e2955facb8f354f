"""One loop of any cell, and a search among them for the smallest margin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from safe_sysid.experiment.falsify.cell import EXACT, Cell, Draw, Part, parts_of
from safe_sysid.experiment.falsify.exact_loop import arm_of, exact_margins
from safe_sysid.experiment.falsify.late_loop import late_margins
from safe_sysid.experiment.falsify.search import BEYOND, AtRandom, Search
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.drake import DrakeBody
from safe_sysid.simulate.mujoco import MujocoBody
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.simulate.simulated_arm import Dynamics

PROMISES = (
    *('V', 'r', 'e', 'de', 'torque', 'position', 'velocity', 'limits', 'self', 'obstacle'),
    *('rows', 'answer'),
)
EPISODE = 50  # loops of a search, then another one begins
AIMS = ('', 'V', 'V', 'e', 'torque', 'self', 'obstacle', 'rows')  # of one; '': all promises
BODIES: dict[str, Callable[[RobotModel], Dynamics]] = {
    'rigid_body': RigidBody,
    'drake': DrakeBody,
    'mujoco': MujocoBody,
}


def margins_of(cell: Cell, draw: Draw) -> dict[str, float] | str:
    """Return what a loop left of each promise, below 0 what it broke; or why none was made."""
    carried_out = exact_margins if cell.readings == EXACT else late_margins
    return carried_out(cell, draw, BODIES[cell.simulator])


def parts_in(cell: Cell) -> tuple[Part, ...]:
    """Return what a draw of a cell says."""
    return parts_of(cell, arm_of(cell).model.n)


@dataclass
class Found:
    """Loops of a search, and the smallest margin of each promise with its draw."""

    loops: int = 0
    refused: Counter[str] = field(default_factory=Counter)  # by the first words of the reason
    violations: int = 0  # loops
    first: int = 0  # number of the loop that first broke a promise; 0: none did
    least: dict[str, tuple[float, Draw]] = field(default_factory=dict)

    def add(self, draw: Draw, margins: dict[str, float] | str) -> None:
        """Count one loop."""
        self.loops += 1
        if isinstance(margins, str):
            self.refused[margins.partition(' of ')[0][:60]] += 1
            return
        for promise, left in margins.items():
            if promise not in self.least or left < self.least[promise][0]:
                self.least[promise] = left, draw
        if min(margins.values()) < 0.0:
            self.violations += 1
            self.first = self.first or self.loops


def look(
    cell: Cell,
    rng: np.random.Generator,
    loops: int,
    way: type[Search] | type[AtRandom] = Search,
    until: Callable[[Found], bool] = lambda _: False,
) -> Found:
    """Look for small margins in that many loops or until then, of another promise now and then."""
    parts, found = parts_in(cell), Found()
    search, aim = way(rng, parts), ''
    while found.loops < loops and not until(found):
        if found.loops % EPISODE == 0:
            search, aim = way(rng, parts), AIMS[int(rng.integers(len(AIMS)))]
        draw = search.ask()
        margins = margins_of(cell, draw)
        found.add(draw, margins)
        search.tell(draw, _value(margins, aim))
    return found


def _value(margins: dict[str, float] | str, aim: str) -> float:
    """Return the margin that is looked at, or the least of all."""
    if isinstance(margins, str):
        return BEYOND
    return margins.get(aim, min(margins.values()))
