"""The page and the figures of the demo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from safe_sysid.audit.loop_of_bag import RecordedLoop
from safe_sysid.audit.loop_record import LoopRecord
from safe_sysid.cli.demo.belief import belief_section
from safe_sysid.cli.demo.outcome import DemoOutcome, Judged
from safe_sysid.cli.demo.runs import LINK_RATIO, ROBOT, WORLD, DemoChoices, errand, library
from safe_sysid.cli.demo.taught import MOVED, taught_section
from safe_sysid.model.parameters import ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.certificate import ASSUMPTIONS, EXACT
from safe_sysid.report.arm_scene import beside, loop_scene
from safe_sysid.report.html_page import write_page
from safe_sysid.report.loop_page import LoopStory, loop_page
from safe_sysid.report.page_figures import write_figures
from safe_sysid.report.page_scene import PageScene


def write_report(outcome: DemoOutcome, choices: DemoChoices, path: Path) -> None:
    """Write the report, and its figures beside it."""
    judged = outcome.errand
    least = min(judged.ledger.obstacle.distance, judged.ledger.own.distance)
    bare = RobotModel.named(ROBOT)
    taught = taught_section(outcome.lessons)
    wrong = belief_section(judged.claim, _what_happened(outcome))
    own = ratio_bounds(bare.theta[bare.layout.end_effector], LINK_RATIO)
    story = LoopStory(
        'What does this arm hold?',
        'A Kinova Gen3 picks an unknown dumbbell, learns on the way what it is and places it, '
        'every motion certified for everything that the dumbbell may be.',
        _record(judged),
        _scene(outcome),
        truth=judged.truth,
        clearance=least,
        settings=_settings(choices),
        own=own,
        ledger=judged.ledger,
        rests_on=_rests_on(judged.loop, choices),
        beyond=(taught, wrong),
    )
    page = loop_page(story)
    write_page(path, page)
    write_figures(path.parent / 'figures', page)


def _rests_on(loop: RecordedLoop, choices: DemoChoices) -> tuple[str, ...]:
    settings = loop.settings
    said = settings.nodes['identifier']
    lower, upper = (said[f'prior.{end}'][0] for end in ('lower', 'upper'))
    torque, friction = (
        said[f'{name}'][0]
        for name in ('identifier.observation.torque_error', 'prior.uncertainty.coulomb.absolute')
    )
    return (
        f'before, the mass of gripper and payload is {lower:g} to {upper:g} kg, and each other '
        'parameter in its bar above',
        f'what it may take is one of {", ".join(library(choices))}, up to 1 cm and 5° off its '
        'place in the gripper and 2 % off its weight, or nothing',
        f'every other link is within {100.0 * float(said["prior.ratio"]):g} % of the URDF, and '
        f'Coulomb friction within {friction:g} N m of the settings',
        f'the gripper, which is subtracted, is within {100.0 * LINK_RATIO:g} % of the URDF',
        f'torques are read to {torque:g} N m, which is true of this simulator and of no real arm',
        *(ASSUMPTIONS if settings.sampling is not None else (*ASSUMPTIONS, EXACT)),
    )


def _record(judged: Judged) -> LoopRecord:
    """Return the run; of what was known, that of the dumbbell."""
    return replace(judged.loop.record, estimates=judged.known)


def _scene(outcome: DemoOutcome) -> PageScene:
    """Both runs, the one with the wrong belief beside the way up."""
    judged = outcome.errand
    loop, model, carrying = judged.loop, judged.loop.settings.model, judged.carrying
    obstacles, truth = loop.settings.obstacle_set, judged.truth
    scene = loop_scene(model, _record(judged), obstacles, loop.plans, truth)
    begin = min(carrying.moves, default=carrying.begin)
    steps = zip(carrying.moves, MOVED, strict=False)
    marks = ((carrying.begin, 'pick'), *steps, (carrying.end, 'place'))
    name = 'believing that the gripper is empty'
    other = beside(model, name, outcome.believed.record, begin)
    return replace(scene, beside=other, marks=marks)


def _what_happened(outcome: DemoOutcome) -> str:
    """With the wrong belief."""
    would = (
        'The motions with the dumbbell would have been certified for an empty gripper, with '
        'claims about torques that are not true. '
        if outcome.errand.claim.would_hold
        else 'Some motions with the dumbbell would not have been certified for an empty gripper. '
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
        'picks': f'{choices.payload}, which nobody was told',
        'obstacles': WORLD,
        'simulator': choices.way,
        'again': f'safe-sysid run {" ".join(errand(choices))}',
    }
