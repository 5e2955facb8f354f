"""Cycles of pick and place by number: what is drawn for one, and how it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from safe_sysid.bench.experiments.handling import HandlingArm
from safe_sysid.bench.experiments.pick_and_place import (
    CELLS,
    SIMULATORS,
    Cell,
    Draw,
    Found,
    arm_in_cell,
    held_thing,
)
from safe_sysid.closed_loop import LoopFault
from safe_sysid.identify.change.held_next import HeldNext
from safe_sysid.identify.change.response import Change, ChangeOutcome, Condition, Source
from safe_sysid.plan.result import SearchOutcome

ANNOUNCED, PICKED, SLIPPED, DROPPED = EVENTS = ('announced', 'picked', 'slipped', 'dropped')
LIGHTEST = 0.2  # [kg]
LEAST_SLIP = 0.01  # [m]
LOOK, GRASP = 0.1, 0.2  # [s] between two looks; that a gripper takes
LONGEST = 25.0  # [s] of a way
PATIENCE = 3.0  # [s] until a change has to be noticed
INTO_MOTION = (0.2, 1.2)  # [s] of motion before something happens


@dataclass(frozen=True)
class CycleCase:
    """A cycle that is to be run."""

    cell: Cell
    draw: Draw
    event: str
    size: float  # [kg] picked or dropped, [m] slipped
    way: tuple[float, float, float]  # of a slip
    wait: float  # [s] of motion before it happens


def cycle_case(seed: int, number: int) -> CycleCase:
    """Return one whose arm, simulator and event follow from its number, all others at random."""
    rng = np.random.default_rng([seed, number, 0])
    n, m = len(CELLS), len(SIMULATORS)
    cell, simulator = CELLS[number % n], SIMULATORS[number // n % m]
    event = EVENTS[(number + number // n + number // (n * m)) % len(EVENTS)]
    event = DROPPED if event == SLIPPED and not cell.slip else event
    heaviest = cell.slipping if event == SLIPPED else cell.heaviest
    mass = float(rng.uniform(LIGHTEST, heaviest))
    way = rng.normal(size=3)
    slip = float(rng.uniform(LEAST_SLIP, max(LEAST_SLIP, cell.slip)))
    draw = Draw(simulator, mass, event == SLIPPED, (seed, number))
    unit = tuple((way / np.linalg.norm(way)).tolist())
    size = slip if event == SLIPPED else mass
    return CycleCase(cell, draw, event, size, unit, float(rng.uniform(*INTO_MOTION)))


@dataclass
class Cycle:
    """What came of one; of the change that nobody announced, if there was one."""

    number: int
    arm: str
    simulator: str
    event: str
    mass: float  # [kg]
    size: float  # [kg or m]
    broken: list[str] = field(default_factory=list)  # promises
    false_alarms: int = 0
    seconds: float = 0.0  # of the arm in all
    happened: bool = False  # the change
    delay: float = np.nan  # [s] until it was noticed; nan: it was not
    found_by: str = ''  # source of what was found
    kinds: list[str] = field(default_factory=list)  # that it may have been
    is_located: bool = False  # between the stamps that were given
    span: float = np.nan  # [s] between them
    is_certified: bool = False  # braking, for what was held then too
    speed: float = np.nan  # [rad/s] of the fastest joint when the arm has braked
    goes_on: bool = False  # by itself
    held_because: str = ''
    mass_known_to: float = np.nan  # [kg] half-width at the end
    ended: str = ''  # why before its end
    cycle: float = (
        np.nan
    )  # [s] from where it begins to where it has let go; nan: it did not get there
    known: float = np.nan  # [s] of the same with a known payload


def run_cycle(seed: int, number: int) -> Cycle:
    """Run one, and the same with a payload that is known where nothing happens on the way."""
    case = cycle_case(seed, number)
    cell, draw = case.cell, case.draw
    cycle = Cycle(number, cell.arm, draw.simulator, case.event, draw.mass, case.size)
    _carried_out(case, cycle)
    if case.event in (ANNOUNCED, PICKED):
        known = Cycle(number, cell.arm, draw.simulator, 'known', draw.mass, case.size)
        _carried_out(case, known)
        cycle.known = known.cycle
        cycle.broken += [f'with a known payload: {each}' for each in known.broken]
        cycle.ended += f'; with a known payload: {known.ended}' if known.ended else ''
        cycle.false_alarms += known.false_alarms
        cycle.seconds += known.seconds
    return cycle


def _carried_out(case: CycleCase, cycle: Cycle) -> None:
    found = arm_in_cell(case.cell, case.draw)
    try:
        _whole(found, case, cycle)
    except LoopFault as fault:
        cycle.ended = str(fault)
    cycle.broken += found.arm.broken
    cycle.seconds = found.arm.stamp * 1e-9


def _whole(found: Found, case: CycleCase, cycle: Cycle) -> None:
    arm, payload = found.arm, held_thing(case.cell, case.draw.mass)
    arm.run(LOOK)
    if not _changed(arm, found.empty, cycle):
        return
    begin = arm.stamp
    found.mission.lead_to([found.pick])
    if not _arrives(arm, cycle):
        return
    if cycle.event != PICKED:
        held = found.known if cycle.event == 'known' else arm.held
        if not _changed(arm, held, cycle, lambda: arm.pick(payload)):
            return
    found.mission.lead_to([found.goal])
    if cycle.event in (PICKED, SLIPPED, DROPPED) and not _happens(found, case, cycle):
        return
    if not _arrives(arm, cycle):
        return
    last = arm.loop.last
    assert last is not None
    cycle.mass_known_to = float(last.estimate.end_effector_bounds.radius[0])
    if _changed(arm, found.empty, cycle, arm.drop):
        cycle.cycle = (arm.stamp - begin) * 1e-9


def _changed(
    arm: HandlingArm, held: HeldNext, cycle: Cycle, do: Callable[[], None] | None = None
) -> bool:
    """Let what is held change at rest, as announced."""
    for _ in range(round(PATIENCE / LOOK)):
        answer = arm.loop.announce(held)
        if answer.is_granted or 'the arm moves' not in answer.sentence:
            break
        arm.run(LOOK)  # what nobody modelled shakes it: V is too large for the heaviest body
    if not answer.is_granted:
        cycle.ended = f'not granted: {answer.sentence}'
        return False
    at = arm.stamp
    if do is not None:
        do()
        arm.run(GRASP)
    if not arm.loop.may_change:
        cycle.false_alarms += 1
        cycle.ended = f'while it might change: {arm.loop.outcomes[-1]}'
        return False
    outcome = arm.loop.changed(at, at)
    if not outcome.goes_on:
        cycle.ended = f'announced: {outcome}'
    return outcome.goes_on


def _arrives(arm: HandlingArm, cycle: Cycle) -> bool:
    """Go on until nothing is left to do."""
    count = len(arm.loop.outcomes)
    for _ in range(round(LONGEST / LOOK)):
        arm.run(LOOK)
        if len(arm.loop.outcomes) > count:
            cycle.false_alarms += 1
            cycle.ended = f'nothing had changed: {arm.loop.outcomes[-1]}'
            return False
        if _is_done(arm):
            return True
    last = arm.loop.last
    cycle.ended = f'not there after {LONGEST:.0f} s: {last and last.result.finding}'
    return False


def _is_done(arm: HandlingArm) -> bool:
    """Whether nothing is left to do, and the last plan is over."""
    last = arm.loop.last
    if last is None or last.result.outcome is not SearchOutcome.NOTHING_DUE:
        return False
    return last.measurement.stamp * 1e-9 >= last.result.in_force.end_time


def _happens(found: Found, case: CycleCase, cycle: Cycle) -> bool:
    """Let it happen in motion; whether the arm goes on to the goal."""
    arm = found.arm
    if not _moves(arm, case.wait):
        cycle.ended = 'it did not move'
        return False
    if arm.loop.outcomes[-1].change.source is not Source.TOLD:
        cycle.false_alarms += 1
        cycle.ended = f'nothing had changed yet: {arm.loop.outcomes[-1]}'
        return False
    at, cycle.happened = arm.stamp, True
    if case.event == PICKED:
        arm.pick(held_thing(case.cell, case.draw.mass))
    elif case.event == DROPPED:
        arm.drop()
    else:
        arm.slip(case.size * np.array(case.way))
    outcome = _answer(arm)
    if outcome is None:
        # nobody noticed, so a person says it now
        arm.loop.tell(at, arm.stamp)
        arm.run(LOOK)
        outcome = arm.loop.outcomes[-1]
    else:
        _note(outcome.change, at, cycle)
    cycle.is_certified, cycle.goes_on = outcome.is_braking_certified, outcome.goes_on
    cycle.speed = float(np.abs(arm.robot.truth.velocity).max())
    if outcome.failed is Condition.AT_REST:
        arm.broken.append(f'not at rest after the change: {cycle.speed:.3g} rad/s')
    if not outcome.goes_on:
        assert outcome.failed is not None
        cycle.held_because = f'{outcome.failed.name}: {outcome.reason}'
        outcome = arm.loop.reset()
    if not outcome.goes_on:
        cycle.ended = f'held, and again after a person has looked: {outcome}'
    return outcome.goes_on


def _note(change: Change, at: int, cycle: Cycle) -> None:
    """Keep what was found of a change at a stamp [ns]."""
    cycle.found_by = change.source.value
    if change.source is Source.NOTICED:
        cycle.delay = (change.noticed_at - at) * 1e-9
        cycle.kinds = [kind.value for kind in change.kinds]
        cycle.is_located = change.after <= at <= change.before
        cycle.span = (change.before - change.after) * 1e-9


def _moves(arm: HandlingArm, seconds: float) -> bool:
    """Go on until it has moved for some time, so that somebody would see it."""
    count, left = len(arm.loop.outcomes), seconds
    for _ in range(round(LONGEST / LOOK)):
        step = LOOK if not arm.moves else min(LOOK, max(left, arm.period))
        left -= step if arm.moves else 0.0
        arm.run(step)
        if len(arm.loop.outcomes) > count or (left <= 0.0 and arm.moves):
            return True
    return False


def _answer(arm: HandlingArm) -> ChangeOutcome | None:
    """Return what came of the change, once it is noticed."""
    before = len(arm.loop.outcomes)
    for _ in range(round(PATIENCE / LOOK)):
        arm.run(LOOK)
        if len(arm.loop.outcomes) > before:
            return arm.loop.outcomes[-1]
    return None
