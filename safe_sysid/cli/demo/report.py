"""The page and the figures of the demo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from safe_sysid.audit.ledger import Ledger
from safe_sysid.cli.demo.belief import belief_section
from safe_sysid.cli.demo.outcome import DemoOutcome
from safe_sysid.cli.demo.runs import ROBOT, WORLD, DemoChoices, mission
from safe_sysid.report.arm_scene import beside, loop_scene
from safe_sysid.report.html_page import Section, Table, write_page
from safe_sysid.report.loop_page import LoopStory, loop_page
from safe_sysid.report.page_figures import write_figures
from safe_sysid.report.page_scene import PageScene


def write_report(outcome: DemoOutcome, choices: DemoChoices, path: Path) -> None:
    """Write the report, and its figures beside it."""
    record = outcome.loop.record
    least = min(outcome.ledger.obstacle.distance, outcome.ledger.own.distance)
    story = LoopStory(
        'What does this arm hold?',
        'A Kinova Gen3 with an unknown dumbbell learns what it holds and does a task with it, '
        'every motion certified for everything that the dumbbell may be.',
        record,
        _scene(outcome),
        truth=outcome.truth,
        clearance=least,
        settings=_settings(choices),
    )
    page = loop_page(story)
    parts = [page.sections[0], _promises(outcome.ledger)]
    if outcome.claim is not None:
        parts.append(belief_section(outcome.claim, _what_happened(outcome)))
    page = replace(page, sections=(*parts, *page.sections[1:]))
    if page.is_good and not outcome.ledger.is_kept:
        page = replace(page, is_good=False, verdict=_broken(outcome.ledger))
    write_page(path, page)
    write_figures(path.parent / 'figures', page)


def _scene(outcome: DemoOutcome) -> PageScene:
    """Both runs, the one with the wrong belief beside the task."""
    loop, model = outcome.loop, outcome.loop.settings.model
    scene = loop_scene(model, loop.record, loop.settings.obstacle_set, loop.plans, outcome.truth)
    begin = next((at for at, mode in loop.modes if mode == 'task'), 0.0)
    words = {'exciting': 'learn', 'task': 'task'}
    marks = tuple((at, words[mode]) for at, mode in loop.modes if mode in words)
    name = 'believing that the gripper is empty'
    other = beside(model, name, outcome.believed.record, begin)
    return replace(scene, beside=other, marks=marks)


def _promises(ledger: Ledger) -> Section:
    rows = tuple((e.promise, e.finding, 'held' if e.is_kept else 'BROKEN') for e in ledger.entries)
    lead = 'Read from the recorded bag; every plan was certified once more, from what is in it.'
    return Section('What was promised', lead, tables=(Table(('promise', 'finding', ''), rows),))


def _broken(ledger: Ledger) -> tuple[str, str]:
    """Return the verdict on a run in which something else went wrong than what pages look at."""
    broken = (f'{e.promise}: {e.finding}' for e in ledger.entries if not e.is_kept)
    return 'Not every promise held:', '; '.join(broken) + '.'


def _what_happened(outcome: DemoOutcome) -> str:
    """With the wrong belief."""
    would = (
        'The motions of the task would have been certified for an empty gripper, with claims '
        'about torques that are not true. '
        if outcome.claim is not None and outcome.claim.would_hold
        else 'Some motions of the task would not have been certified for an empty gripper. '
    )
    if not outcome.fault:
        return would
    return (
        f'{would}Tried on the same nodes, the belief lasted {outcome.fault_time:.2f} s: '
        f'{outcome.reason}.'
    )


def _settings(choices: DemoChoices) -> dict[str, str]:
    return {
        'arm': ROBOT,
        'holds': f'{choices.payload}, which nobody was told',
        'obstacles': WORLD,
        'simulator': choices.way,
        'motions that teach': str(choices.exciting),
        'again': f'safe-sysid run {" ".join(mission(choices))}',
    }
