"""The demo: an arm picks something, learns what it is and places it, as real ROS 2 nodes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
import importlib.util
from pathlib import Path

from safe_sysid.audit.ledger import ledger_of
from safe_sysid.audit.loop_of_bag import loop_of_bag, loop_until_rest
from safe_sysid.audit.true_load import TrueLoad
from safe_sysid.bringup.run import SETTINGS_REFUSED
from safe_sysid.cli.demo.belief import claim_of, empty_gripper
from safe_sysid.cli.demo.carrying import Carrying
from safe_sysid.cli.demo.narrator import Narrator
from safe_sysid.cli.demo.outcome import DemoOutcome, Judged
from safe_sysid.cli.demo.runs import (
    ROBOT,
    DemoChoices,
    DemoError,
    believing_empty,
    errand,
    follow,
)
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel

HOW_TO_GET_ROS = (
    "pip install '.[ros]' in the checkout brings a ROS 2 as wheels (Linux x86-64), or source the "
    'setup.bash of an installed one'
)
OPENING = """\
A Kinova Gen3 picks a dumbbell and places it beside the boards of a shelf.
Nobody told it which one it is: of 4 to 8 lb, or none. ROS 2 nodes find out on
the way what it weighs. No motion begins that is not certified for everything
that the dumbbell may still be."""
LIBRARIES = {'drake_sim': 'pydrake', 'mujoco_sim': 'mujoco'}  # of other people's simulators
BELIEF = '\n         Up with the same dumbbell, assuming an empty gripper, identifier switched off'


def choices_of(payload: str, way: str, folder: Path | None) -> DemoChoices:
    """Return what was chosen, if this machine can do it; the folder is made."""
    if importlib.util.find_spec('rclpy') is None:
        raise DemoError(
            f'the demo runs real ROS 2 nodes, but rclpy is not installed: {HOW_TO_GET_ROS}'
        )
    library = LIBRARIES.get(way)
    if library is not None and importlib.util.find_spec(library) is None:
        option = way.removesuffix('_sim')
        raise DemoError(
            f'{library} is not installed: pip install {option}, or leave out --{option}'
        )
    read_payload(payload)  # refuses what it does not know, before anything starts
    folder = folder or Path(f'demo_{datetime.now(timezone.utc):%Y%m%d_%H%M%S}')
    if folder.exists():
        raise DemoError(f'{folder} is there already; name a new folder with --out')
    folder.mkdir(parents=True)
    return DemoChoices(way, payload, folder)


def demonstrate(choices: DemoChoices, narrator: Narrator) -> DemoOutcome:
    """Both runs, and what their bags say; the first is judged while the second goes on."""
    narrator.say(OPENING)
    if _follow(errand(choices), choices, narrator) != 0:
        raise DemoError(
            f'the errand ended with: {narrator.errand}; what the nodes said is in {choices.log}'
        )
    with ThreadPoolExecutor(1) as beside:
        judged = beside.submit(_judged, choices)
        narrator.say(BELIEF)
        _follow(believing_empty(choices), choices, Narrator(narrator.out, {}))
        narrator.work('certifying every plan again, from the bag')
    return DemoOutcome(judged.result(), loop_of_bag(choices.bag_of_belief))


def _judged(choices: DemoChoices) -> Judged:
    """Return the errand as it was recorded, what was true, and what was promised and claimed."""
    loop = loop_until_rest(choices.bag)
    carrying = Carrying.of(loop)
    empty = RobotModel.named(ROBOT)
    place = empty.layout.end_effector
    truth = empty.with_payload(read_payload(choices.payload)).theta[place]
    load = TrueLoad.changing(loop.grips, empty.theta[place], truth)
    claim = claim_of(loop, carrying, empty_gripper())
    return Judged(loop, carrying, truth, ledger_of(loop, load), claim)


def _follow(arguments: list[str], choices: DemoChoices, narrator: Narrator) -> int:
    """Follow a run to its end and return its status; one that said nothing has failed."""
    status = follow(arguments, choices.log, narrator.hear)
    narrator.end()
    if status == SETTINGS_REFUSED or not narrator.has_heard:
        raise DemoError(
            f'the nodes ended with status {status}; what they said is in {choices.log}'
        )
    return status
