"""largest_payload: how heavy what an arm holds may be, for a way to a goal to be certified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike

from safe_sysid.api.arguments import finite_numbers
from safe_sysid.api.arms import ArmLike, load_arm
from safe_sysid.api.loop_file import read_loop
from safe_sysid.api.motion import World, obstacles_of, resting_problem
from safe_sysid.api.shown_as_text import ShownAsText
from safe_sysid.arrays import Array
from safe_sysid.errors import SafeSysidError
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.plan.mission import Mission, MissionSettings, NoRouteError
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
from safe_sysid.reach.problem import Problem

LIGHTER = (0.5, 0.25, 0.0)  # of the prior's payloads, where there is no way with all of them
LEAST = 1e-3  # [kg] of a payload; less is what figures of files are rounded to
HEAVIER = 4.0  # times the prior's nominal payload, the heaviest one that is tried
SECONDS = 60.0  # of wall time at most, for a way among the obstacles


@dataclass(frozen=True, eq=False)
class LargestPayload(ShownAsText):
    """What may be held on a way to a goal; masses without the arm's own gripper."""

    prior_mass: tuple[float, float]  # [kg] that the prior says of what is held
    unknown: LargestShare  # of all that the prior allows: every payload up to this share of it
    exact: LargestShare | None  # of the prior's nominal payload, if it were known; None: it is 0
    width: LargestShare  # of the prior's half widths, about its nominal payload
    nominal_mass: float  # [kg] of the prior's nominal payload
    seconds: float  # that the way takes
    obstacles: Obstacles  # among which it is certified

    @property
    def mass(self) -> float:
        """How light must it be: the way is certified for every payload up to this mass [kg]."""
        return self.unknown.share * self.prior_mass[1]

    @property
    def known_mass(self) -> float | None:
        """Mass of the heaviest payload for which it is certified if it is known exactly [kg].

        It has the shape of the prior's nominal payload; None: that is nothing, so there is none.
        """
        return None if self.exact is None else self.exact.share * self.nominal_mass

    @property
    def needed_half_width(self) -> float:
        """Half width of the mass that is narrow enough about the nominal payload [kg]."""
        return self.width.share * 0.5 * (self.prior_mass[1] - self.prior_mass[0])

    def __str__(self) -> str:
        low, high = (max(0.0, mass) for mass in self.prior_mass)
        width = f'certified if known to {self.needed_half_width:.2f} kg, and all else as well'
        lines = [
            f'the way takes {self.seconds:g} s {self.obstacles.in_words}; the prior says '
            f'{low:.2f} to {high:.2f} kg are held',
            f'whatever it is like within the prior: {_up_to(self.mass, self.unknown)}',
            self._if_known_exactly(),
            f'about {max(0.0, self.nominal_mass):.2f} kg: {_said(width, self.width)}',
        ]
        return '\n  '.join(lines)

    def _if_known_exactly(self) -> str:
        if self.exact is None or self.known_mass is None:
            return "known exactly: not said, as the prior's nominal payload is nothing"
        return f'known exactly, of the nominal shape: {_up_to(self.known_mass, self.exact)}'


def _up_to(mass: float, found: LargestShare) -> str:
    return _said(f'certified up to {mass:.2f} kg', found)


def _said(certified: str, found: LargestShare) -> str:
    if found.refusal is None:
        return certified
    if found.estimate is None:
        return f'nothing that was tried is certified; it is refused by {found.refusal}'
    return f'{certified}; more is refused by {found.refusal}'


def largest_payload(
    arm: ArmLike,
    goal: Sequence[float] | Array,
    start: Sequence[float] | Array | None = None,
    world: World = None,
    loop: str | PathLike[str] | None = None,
) -> LargestPayload:
    """Say how light what the arm holds has to be, and how well it has to be known.

    A way is searched from the start to the goal, cut into motions that end at rest, and certified
    for bounds of what is held. Where the arm could not hold all that its prior allows, the way is
    one for less. What is answered is certified; heavier payloads may be possible on another way.

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
    prior = settings.prior
    own = settings.model.own_end_effector
    there = finite_numbers('goal', goal, settings.model.n)
    aim = _way(problem, there, settings.planner.switch)
    nominal = float((prior.end_effector - own)[0])
    rests = ways_along(problem, aim, settings.planner.task)
    rest, unknown = _best(rests, up_to(prior, own))
    is_something = nominal >= LEAST
    exact = largest_share(rest, exactly(prior, own), HEAVIER) if is_something else None
    width = largest_share(rest, known_to(prior))
    bounds = prior.end_effector_bounds
    return LargestPayload(
        (float(bounds.lower[0] - own[0]), float(bounds.upper[0] - own[0])),
        unknown,
        exact,
        width,
        nominal,
        rest.seconds,
        problem.obstacles,
    )


def _way(problem: Problem, goal: Array, until: float) -> Follow:
    """Lead to the goal with all that the prior allows, or with as much as there is a way for."""
    lighter = up_to(problem.bounds, problem.model.own_end_effector)
    first, budget = problem.horizon.curve.q0, Budget.of(SECONDS)
    choices = MissionSettings(exciting=0, route_seconds=SECONDS)
    for bounds in (problem.bounds, *(lighter(share) for share in LIGHTER)):
        mission = Mission(problem.model, goal, choices)
        try:
            aim = mission.due(Ahead(replace(problem, bounds=bounds), first, until, budget))
        except NoRouteError as error:
            refusal = error
            continue
        if not isinstance(aim, Follow):
            raise SafeSysidError('the goal is where the arm is: there is no way to ask about')
        return aim
    raise refusal


def _best(rests: Sequence[RestOfRoute], bounds: Bounds) -> tuple[RestOfRoute, LargestShare]:
    """Return the way on which an unknown payload may be heaviest."""
    tried = [(rest, largest_share(rest, bounds)) for rest in rests]
    return max(tried, key=lambda each: each[1].share)
