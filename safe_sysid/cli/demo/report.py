"""The page and the figures of the demo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from safe_sysid.cli.demo.belief import belief_section
from safe_sysid.cli.demo.outcome import DemoOutcome
from safe_sysid.cli.demo.runs import LINK_RATIO, ROBOT, WORLD, DemoChoices, mission
from safe_sysid.cli.demo.taught import taught_section
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
    least = min(outcome.ledger.obstacle.distance, outcome.ledger.own.distance)
    claim = outcome.claim
    bare = RobotModel.named(ROBOT)
    taught = taught_section(outcome.lessons)
    wrong = () if claim is None else (belief_section(claim, _what_happened(outcome)),)
    own = ratio_bounds(bare.theta[bare.layout.end_effector], LINK_RATIO)
    story = LoopStory(
        'What does this arm hold?',
        'A Kinova Gen3 with an unknown dumbbell learns what it holds and does a task with it, '
        'every motion certified for everything that the dumbbell may be.',
        outcome.loop.record,
        _scene(outcome),
        truth=outcome.truth,
        clearance=least,
        settings=_settings(choices),
        own=own,
        ledger=outcome.ledger,
        rests_on=_rests_on(outcome),
        beyond=(taught, *wrong),
    )
    page = loop_page(story)
    write_page(path, page)
    write_figures(path.parent / 'figures', page)


def _rests_on(outcome: DemoOutcome) -> tuple[str, ...]:
    settings = outcome.loop.settings
    said = settings.nodes['identifier']
    lower, upper = (said[f'prior.{end}'][0] for end in ('lower', 'upper'))
    torque, friction = (
        said[f'{name}'][0]
        for name in ('identifier.observation.torque_error', 'prior.uncertainty.coulomb.absolute')
    )
    return (
        f'before, the mass of gripper and payload is {lower:g} to {upper:g} kg, and each other '
        'parameter in its bar above',
        f'every other link is within {100.0 * float(said["prior.ratio"]):g} % of the URDF, and '
        f'Coulomb friction within {friction:g} N m of the settings',
        f'the gripper, which is subtracted, is within {100.0 * LINK_RATIO:g} % of the URDF',
        f'torques are read to {torque:g} N m, which is true of this simulator and of no real arm',
        *(ASSUMPTIONS if settings.sampling is not None else (*ASSUMPTIONS, EXACT)),
    )


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
