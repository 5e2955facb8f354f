"""largest_payload: how heavy what an arm holds may be, for a way to a goal to be certified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

from safe_sysid.api.arms import ArmLike, load_arm
from safe_sysid.api.loop_file import read_loop
from safe_sysid.api.motion import World, obstacles_of, resting_problem
from safe_sysid.api.shown_as_text import ShownAsText
from safe_sysid.arrays import Array
from safe_sysid.errors import SafeSysidError
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.path.route import Follow
from safe_sysid.plan.possible_payloads import (
    Bounds,
    LargestShare,
    exactly,
    known_to,
    largest_share,
    up_to,
)
from safe_sysid.plan.purpose import Ahead
from safe_sysid.plan.rest_of_route import RestOfRoute, ways_along
from safe_sysid.plan.search.best_plan import Budget

HEAVIER = 4.0  # times the prior's nominal payload, the heaviest one that is tried
SECONDS = 60.0  # of wall time at most, for a way among the obstacles


@dataclass(frozen=True, eq=False)
class LargestPayload(ShownAsText):
    """What may be held on a way to a goal; masses without the arm's own gripper."""

    prior_mass: tuple[float, float]  # [kg] that the prior says of what is held
    unknown: LargestShare  # of all that the prior allows: every payload up to this share of it
    exact: LargestShare  # of the prior's nominal payload, if it were known exactly
    width: LargestShare  # of the prior's half widths, about its nominal payload
    nominal_mass: float  # [kg] of the prior's nominal payload
    seconds: float  # that the way takes
    obstacles: Obstacles  # among which it is certified

    @property
    def mass(self) -> float:
        """How light must it be: the way is certified for every payload up to this mass [kg]."""
        return self.unknown.share * self.prior_mass[1]

    @property
    def known_mass(self) -> float:
        """Mass of the heaviest payload for which it is certified if it is known exactly [kg]."""
        return self.exact.share * self.nominal_mass

    @property
    def needed_half_width(self) -> float:
        """Half width of the mass that is narrow enough about the nominal payload [kg]."""
        return self.width.share * 0.5 * (self.prior_mass[1] - self.prior_mass[0])

    def __str__(self) -> str:
        low, high = self.prior_mass
        rows = [
            ('whatever it is like within the prior', self.mass, self.unknown),
            ('known exactly, of the nominal shape', self.known_mass, self.exact),
        ]
        lines = [
            f'the way takes {self.seconds:g} s {self.obstacles.in_words}; the prior says '
            f'{low:.2f} to {high:.2f} kg are held'
        ]
        lines += [f'  {name}: certified up to {mass:.2f} kg{_end(x)}' for name, mass, x in rows]
        lines.append(
            f'  about {self.nominal_mass:.2f} kg: certified if known to '
            f'{self.needed_half_width:.2f} kg, and all else as well{_end(self.width)}'
        )
        return '\n'.join(lines)


def _end(found: LargestShare) -> str:
    return '' if found.refusal is None else f'; more is refused by {found.refusal}'


def largest_payload(
    arm: ArmLike,
    goal: Sequence[float] | Array,
    start: Sequence[float] | Array | None = None,
    world: World = None,
    loop: str | PathLike[str] | None = None,
) -> LargestPayload:
    """Say how light what the arm holds has to be, and how well it has to be known.

    A way is searched from the start to the goal, cut into motions that end at rest, and certified
    for bounds of what is held. What is answered is certified; heavier payloads may be possible on
    another way.

    Args:
        arm: what `load_arm` returns or takes.
        goal: joint positions [rad], (n,).
        start: joint positions at rest [rad], (n,); default: where the simulators start.
        world: obstacles, as in `plan`; None: those that the loop file names, `{}`: none.
        loop: settings of gains, prior and planner; default: `config/loop/<arm>.yaml`.

    Returns:
        Masses and widths, each with what refuses more; print it.

    """
    settings = read_loop(load_arm(arm), loop)
    first = settings.position(start)
    problem = resting_problem(settings, first, obstacles_of(world, settings))
    mission = Mission(
        settings.model,
        settings.goal(goal),
        MissionSettings(exciting=0, route_seconds=SECONDS),
    )
    aim = mission.due(Ahead(problem, first, settings.planner.switch, Budget.of(SECONDS)))
    if not isinstance(aim, Follow):
        raise SafeSysidError('the goal is where the arm is: there is no way to ask about')
    task, prior = settings.planner.task, settings.prior
    own = settings.model.own_end_effector
    rests = ways_along(problem, aim, task.durations, task.longest)
    asked = ((up_to(prior, own), 1.0), (exactly(prior, own), HEAVIER), (known_to(prior), 1.0))
    (unknown, exact, width), rest = _best(rests, asked)
    bounds = prior.end_effector_bounds
    return LargestPayload(
        (float(bounds.lower[0] - own[0]), float(bounds.upper[0] - own[0])),
        unknown,
        exact,
        width,
        float((prior.end_effector - own)[0]),
        rest.seconds,
        problem.obstacles,
    )


def _best(
    rests: Sequence[RestOfRoute], asked: tuple[tuple[Bounds, float], ...]
) -> tuple[list[LargestShare], RestOfRoute]:
    """Return the answers on the way on which an unknown payload may be heaviest."""
    tried = [([largest_share(rest, *each) for each in asked], rest) for rest in rests]
    return max(tried, key=lambda each: each[0][0].share)
