"""`safe-sysid demo`: an arm learns what it holds and does a task with it, as real ROS 2 nodes."""

from __future__ import annotations

import argparse
from datetime import datetime, timezone
import importlib.util
import json
from pathlib import Path
import time

from safe_sysid.audit.ledger import ledger_of
from safe_sysid.audit.loop_of_bag import RecordedLoop, loop_of_bag
from safe_sysid.bringup.run import SETTINGS_REFUSED
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.demo_belief import claim_of, empty_gripper
from safe_sysid.report.demo_narrator import LEARNING, Narrator, for_person
from safe_sysid.report.demo_outcome import Outcome, figures
from safe_sysid.report.demo_report import write_report
from safe_sysid.report.demo_runs import (
    PACE,
    ROBOT,
    DemoChoices,
    DemoError,
    believing_empty,
    follow,
    mission,
)
from safe_sysid.report.demo_tables import tables

PROMISE_BROKEN = 1
HOW_TO_GET_ROS = (
    "pip install 'safe_sysid[ros]' brings a ROS 2 as wheels (Linux x86-64), or source the "
    'setup.bash of an installed one'
)
OPENING = """\
A Kinova Gen3 holds a dumbbell that nobody told it about, beside the boards of a shelf.
ROS 2 nodes find out what it is, and do a task with it. No motion begins that is not certified
for everything that the dumbbell may still be."""
BELIEF = '\n         The same task, believing that the gripper is empty; nobody learns better'


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid demo`."""
    begin = time.monotonic()
    choices = _choices(options)
    choices.folder.mkdir(parents=True)
    narrator = Narrator(for_person(options.json), LEARNING)
    narrator.say(OPENING)
    outcome = _outcome(choices, narrator)
    report = choices.folder / 'report.html'
    narrator.work('drawing the report')
    write_report(outcome, choices, report)
    seconds = time.monotonic() - begin
    if options.json:
        print(json.dumps(figures(outcome, choices, seconds), indent=2))
    else:
        narrator.say(tables(outcome))
        narrator.say(f'\n  report  {report}\n  bag     {choices.bag}')
        verdict = 'Every promise held.' if outcome.ledger.is_kept else 'A promise was broken.'
        narrator.say(f'\n{verdict} ({seconds:.0f} s)')
    return 0 if outcome.ledger.is_kept else PROMISE_BROKEN


def _choices(options: argparse.Namespace) -> DemoChoices:
    """What was chosen, if this machine can do it."""
    if importlib.util.find_spec('rclpy') is None:
        raise DemoError(
            f'the demo runs real ROS 2 nodes, but rclpy is not installed: {HOW_TO_GET_ROS}'
        )
    if options.drake and importlib.util.find_spec('pydrake') is None:
        raise DemoError('Drake is not installed: pip install drake, or leave out --drake')
    read_payload(options.payload)  # refuses what it does not know, before anything starts
    folder = options.folder or Path(f'demo_{datetime.now(timezone.utc):%Y%m%d_%H%M%S}')
    if folder.exists():
        raise DemoError(f'{folder} is there already; name a new folder with --folder')
    way = 'drake_sim' if options.drake else 'builtin_sim'
    return DemoChoices(way, options.payload, options.plans, folder)


def _outcome(choices: DemoChoices, narrator: Narrator) -> Outcome:
    """Both runs, and what their bags say."""
    _follow(mission(choices), choices, narrator)
    narrator.work('certifying every plan again, from the bag')
    loop = loop_of_bag(choices.bag)
    model = RobotModel.named(ROBOT).with_payload(read_payload(choices.payload))
    truth = model.theta[model.layout.end_effector]
    budget = PACE * float(loop.settings.nodes['planner']['planner.budget'])
    ledger = ledger_of(loop, truth, budget)
    claim = claim_of(loop, empty_gripper()) if loop.has_task else None
    wrong = _with_wrong_belief(choices, narrator)
    return Outcome(loop, truth, ledger, claim, wrong.record.fault, wrong.record.fault_time)


def _with_wrong_belief(choices: DemoChoices, narrator: Narrator) -> RecordedLoop:
    narrator.say(BELIEF)
    _follow(believing_empty(choices), choices, Narrator(narrator.out, {}))
    return loop_of_bag(choices.bag_of_belief)


def _follow(arguments: list[str], choices: DemoChoices, narrator: Narrator) -> None:
    """A run to its end; one that nobody said anything about has failed."""
    status = follow(arguments, choices.log, narrator.hear)
    narrator.end()
    if status == SETTINGS_REFUSED or not narrator.has_heard:
        raise DemoError(
            f'the nodes ended with status {status}; what they said is in {choices.log}'
        )
