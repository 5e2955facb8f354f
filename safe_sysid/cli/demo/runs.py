"""The runs of the demo: nodes and settings of each, and what they say while they go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import json
import os
from pathlib import Path
import select
import signal
import subprocess
import sys
from typing import Any

from safe_sysid.bringup.isolation import free_domain
from safe_sysid.errors import SafeSysidError
from safe_sysid.interruption import Interruption
from safe_sysid.model.parameters import ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.own_domain import OWN_DOMAIN
from safe_sysid.own_python import own_environment
from safe_sysid.worker import die_with_parent

ROBOT, WORLD = 'kinova_gen3', 'shelf'
BRIDGES = {
    'builtin_sim': 'builtin_sim_bridge',
    'drake_sim': 'drake_bridge',
    'mujoco_sim': 'mujoco_bridge',
}
# [rad] It takes something where it stands, lifts it on a way that is not certified
# before more is known of it, and lets go of it where standing is certified for any of its library.
LIFT = (0.4, 0.31, 0.2, 0.54, 2.8, 0.3, -1.0)
PLACE = (1.2, 0.15, 0.2, 0.3, 2.8, 0.3, -1.0)
LIBRARY = tuple(f'dumbbell_{pounds}lb' for pounds in (4, 5, 6, 7, 8))  # what it may find
PERIOD = 0.004  # [s] of control; in lockstep every period costs four messages
STANDING = 0.6  # [s] of a plan that stands still: simulated time waits for searches anyway
WINDOW = 0.1  # [s] of the rows of the identifier
NARROW = 0.005  # [J] of the tracking error, so that a wrong belief is noticed soon
LINK_RATIO = 0.05  # how well links are known, and an empty gripper
NEVER = 1000.0  # [s] until the identifier solves
QUIET = 400.0  # [s] without a word; compiling everything for the first time takes most of it
LOOK = 0.2  # [s] between two looks for words
ENDING = 30.0  # [s] for processes to end


class DemoError(SafeSysidError):
    """The demo could not be carried out."""


@dataclass(frozen=True)
class DemoChoices:
    """What a user may choose."""

    way: str  # builtin_sim | drake_sim | mujoco_sim
    payload: str
    folder: Path

    @property
    def bag(self) -> Path:
        """Recording of the errand."""
        return self.folder / 'bag'

    @property
    def bag_of_belief(self) -> Path:
        """Recording of the same with a wrong belief."""
        return self.folder / 'bag_believing_empty'

    @property
    def log(self) -> Path:
        """What the nodes wrote besides."""
        return self.folder / 'nodes.log'


def library(choices: DemoChoices) -> tuple[str, ...]:
    """Return what the arm is told that it may find."""
    return tuple(dict.fromkeys((*LIBRARY, choices.payload)))


def errand(choices: DemoChoices) -> list[str]:
    """Arguments of `safe-sysid run` to pick, to learn on the way, and to place."""
    changes = {
        f'{BRIDGES[choices.way]}:holds': False,
        'library': library(choices),
        'planner:mission.on_the_way': True,
        'planner:awaits_errand': True,
        'supervisor:errand.lift': LIFT,
        'supervisor:errand.place': PLACE,
    }
    return [*_arguments(choices, choices.bag), *_set(changes)]


def believing_empty(choices: DemoChoices) -> list[str]:
    """Return the way up with it, an empty gripper in mind and nobody who learns better."""
    model = RobotModel.named(ROBOT)
    theta = model.theta[model.layout.end_effector]
    bounds = ratio_bounds(theta, LINK_RATIO)
    prior = {'lower': bounds.lower, 'nominal': theta, 'upper': bounds.upper}
    changes: dict[str, object] = {f'prior.{name}': row.tolist() for name, row in prior.items()}
    changes['prior.is_wrong'] = True
    changes |= {f'prior.uncertainty.{kind}.absolute': [0.0] for kind in ('coulomb', 'offset')}
    changes |= {'gains.V_M': NARROW, 'planner:mission.exciting': 0, 'planner:goal': LIFT}
    changes |= {'identifier:identifier.solve_period': NEVER}
    return [*_arguments(choices, choices.bag_of_belief), *_set(changes)]


def _arguments(choices: DemoChoices, bag: Path) -> list[str]:
    changes = {
        'period': PERIOD,
        'identifier:identifier.observation.window': round(WINDOW / PERIOD),
        'identifier:identifier.observation.longest_step': 1.5 * PERIOD,
        'planner:planner.standing': STANDING,
        'monitor:form': 'json',
    }
    return [
        *(choices.way, '--robot', ROBOT, '--payload', choices.payload, '--world', WORLD),
        *('--record', str(bag), '--lockstep', '--one-process', '--once'),
        *_set(changes),
    ]


def _set(changes: dict[str, object]) -> list[str]:
    pairs = (('-p', f'{name}:={json.dumps(value)}') for name, value in changes.items())
    return [word for pair in pairs for word in pair]


def follow(arguments: list[str], log: Path, hear: Callable[[dict[str, Any] | None], None]) -> int:
    """Run to the end; `hear` gets what the monitor says, and None where it has been silent."""
    with Interruption() as interruption, _running(arguments, log) as process:
        for said in _words(process):
            hear(said)
            interruption.raise_again()
        return process.wait()


@contextmanager
def _running(arguments: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`safe-sysid run`, asked to end when we do."""
    command = [sys.executable, '-m', 'safe_sysid.cli.main', 'run', *arguments]
    with log.open('ab') as file:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=file,
            env=ros_environment(),
            start_new_session=True,  # Ctrl-C reaches it through us, once
            preexec_fn=die_with_parent,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=ENDING)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.communicate()


def ros_environment() -> dict[str, str]:
    """Return a domain of our own on this machine only: no robot may hear what a demo commands."""
    domain = str(free_domain())
    ours = {'ROS_DOMAIN_ID': domain, OWN_DOMAIN: domain}
    threads = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}  # matrices are small
    local = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
    return {**ours, **threads, **own_environment(), **local}


def _words(process: subprocess.Popen[bytes]) -> Iterator[dict[str, Any] | None]:
    """Yield what comes line by line; None about five times a second while nothing does."""
    assert process.stdout is not None
    rest, waited = b'', 0.0
    while True:
        if not select.select([process.stdout], [], [], LOOK)[0]:
            waited += LOOK
            if waited > QUIET:
                raise DemoError(
                    f'the nodes have not said anything for {QUIET:.0f} s; `safe-sysid doctor` '
                    'tells whether two nodes on this machine hear each other'
                )
            yield None
            continue
        read = os.read(process.stdout.fileno(), 1 << 16)
        if not read:
            return
        *lines, rest = (rest + read).split(b'\n')
        waited = 0.0
        yield from (said for line in lines if (said := _said(line)) is not None)


def _said(line: bytes) -> dict[str, Any] | None:
    """Return an object of the monitor; None for what others print."""
    try:
        said = json.loads(line)
    except ValueError:
        return None
    return said if isinstance(said, dict) and 'sentence' in said else None
