"""An excitation trajectory: designed, measured once more, with what to warn of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.excite.contact_model import CHECK_RATE, ContactModel
from safe_sysid.excite.design import design_problem, payload_problem, warm_up
from safe_sysid.excite.design_problem import DesignProblem
from safe_sysid.excite.multi_start import Design, Watch, design
from safe_sysid.excite.settings import Effort, ExcitationAim, ExcitationSettings
from safe_sysid.model.arm import STOPS_WITHIN, Arm
from safe_sysid.model.motion_objective import MotionObjective, objective_of
from safe_sysid.model.payload import Payload
from safe_sysid.model.robot_model import RobotModel

WORST = 5  # base parameters that are named as determined worst

Look = Callable[[ContactModel], None]  # is shown what is known of shapes, before the search


@dataclass(frozen=True, eq=False)
class ExcitationTrajectory:
    """A motion at the rate at which it is commanded, what it is worth, and what is doubtful."""

    joint_names: tuple[str, ...]
    t: Array  # (N,) [s], the end included
    states: Array  # (3, N, n) q, qd, qdd
    figures: dict[str, Any]
    about: tuple[str, ...]  # sentences for the head of a file
    warnings: tuple[str, ...]
    contact_doubts: tuple[str, ...]  # why it is not proven free of contact; empty if it is
    model: RobotModel  # of the arm with what it holds meanwhile


def design_trajectory(
    arm: Arm,
    payload: Payload | None,
    aim: ExcitationAim,
    effort: Effort,
    settings: ExcitationSettings,
    watch: Watch,
    look: Look = lambda _: None,
    own: MotionObjective | None = None,  # beside the criterion; none: the one of the settings
) -> ExcitationTrajectory:
    """Design the best motion that an effort finds for an arm and what it holds."""
    _refuse_closed_chain(arm)
    model = arm.model if payload is None else arm.model.with_payload(payload)
    held = 'nothing' if payload is None else payload.name
    make = payload_problem if aim.payload_only else design_problem
    own = own or objective_of(settings.own_cost, model)
    problem = replace(make(arm.model, model, settings), own=own)
    contact = ContactModel.of(arm, problem, settings.floor)
    look(contact)
    warm_up(problem)
    found = design(problem, aim.criterion, effort, watch)
    figures = figures_of(problem, found, settings)
    doubts = (*contact.missing, *contact.too_near(found.motion, settings.clearance))
    return ExcitationTrajectory(
        model.layout.joint_names,
        *sampled(found, settings.command_rate),
        {'robot': model.name, 'held': held, 'criterion': aim.criterion, **figures},
        about(arm, held, (found, figures), doubts),
        (
            *warnings_of(problem, found, settings),
            *doubts,
            *contact.notes,
            *description_warnings(arm),
        ),
        doubts,
        model,
    )


def _refuse_closed_chain(arm: Arm) -> None:
    if arm.facts.closed_chain is not None:
        raise ConfigError(
            f'{arm.model.name} has a closed chain, {list(arm.facts.closed_chain.loops)}: a motion '
            'of each joint by itself would tear it open; motions are designed for open chains'
        )


def figures_of(
    problem: DesignProblem, found: Design, settings: ExcitationSettings
) -> dict[str, Any]:
    """Return what the motion is worth, what is proven of it, and how it was found."""
    information, columns = problem.information, problem.information.columns
    states = problem.states(found.motion.x)
    labels = problem.model.layout.labels
    clearance, nearest = problem.contacts.nearest(
        found.motion.states(np.arange(0.0, settings.duration, 1.0 / CHECK_RATE))[0]
    )
    deviations = information.deviations(states)
    worst = np.argsort(-deviations)[:WORST]
    proof = found.certificate
    return {
        **information.summary(states)._asdict(),
        'columns': columns.count,
        'column_choice': 'pivoted QR of unscaled columns (SI units) at random states',
        'chosen_columns': [labels[entry] for entry in columns.entries],
        'torque_noise': list(problem.information.noise),
        'proven': {
            'distance_m': proof.distance,
            'nearest': proof.nearest,
            'narrow_m': problem.contacts.narrow(proof.distance),
            'position_share': proof.position,
            'velocity_share': proof.velocity,
            'acceleration_share': proof.acceleration,
            'torque_share': proof.torque,
        },
        'clearance_at_1_kHz_m': clearance,
        'nearest_at_1_kHz': nearest,
        'not_checked': list(problem.contacts.left_out),
        **own_figure(problem, states),
        'deviation_of_worst': {labels[columns.entries[i]]: float(deviations[i]) for i in worst},
        'seconds': found.history[-1].elapsed,
        'cpu_seconds': found.history[-1].cpu,
        'starts': found.history[-1].finished,
        'best_start': found.start,
    }


def own_figure(problem: DesignProblem, states: Array) -> dict[str, str]:
    """Return what a user's own cost of the motion is, with its unit."""
    if problem.own is None:
        return {}
    return {'own_cost': problem.own.figure(states, problem.model.theta, problem.samples)}


def warnings_of(problem: DesignProblem, found: Design, settings: ExcitationSettings) -> list[str]:
    """Sentences about everything that a user should not overlook."""
    sentences = []
    if found.condition > settings.poor_condition:
        sentences.append(
            f'poor excitation: the condition number is {found.condition:.0f}, above '
            f'{settings.poor_condition:.0f}; search longer, allow more room, or take a criterion '
            'that minimises it (kappa, rho)'
        )
    moved = np.ptp(problem.states(found.motion.x)[0], axis=0)
    for joint in np.flatnonzero(moved < 0.1):
        name = problem.model.layout.joint_names[joint]
        sentences.append(f'poor excitation: joint {name} moves by {moved[joint]:.3f} only')
    return sentences


def description_warnings(arm: Arm) -> list[str]:
    """Return what nobody says about an arm of which only the URDF is known."""
    if arm.is_described:
        return []
    return [
        f'{arm.urdf} stands alone: accelerations are limited to the velocity limit in '
        f'{STOPS_WITHIN} s, and rotors weigh nothing; give its settings with --config'
    ]


def sampled(found: Design, rate: float) -> tuple[Array, Array]:
    """Return times (N,) and states (3, N, n) at the rate at which the motion is commanded."""
    count = int(np.ceil(found.motion.basis.duration * rate))
    t: Array = np.minimum(np.arange(count + 1) / rate, found.motion.basis.duration)
    return t, found.motion.states(t)


def about(
    arm: Arm, held: str, designed: tuple[Design, dict[str, Any]], doubts: tuple[str, ...]
) -> tuple[str, ...]:
    """Sentences for the head of a file."""
    found, figures = designed
    proven = found.certificate
    narrow = ''.join(
        f'; {pair}, of which no pose has as much as was asked for, {1e3 * least:.1f} mm'
        for pair, least in figures['proven']['narrow_m'].items()
    )
    contact = (
        f'Proven at all times, for an arm that follows it exactly and lies inside its capsules, '
        f'if pairs of capsules that its settings leave out cannot touch: no other pair, and no '
        f'capsule and the floor, come nearer than {1e3 * proven.distance:.1f} mm{narrow}.'
    )
    return (
        f'Excitation motion of {arm.model.name} with {held} in its hand, condition number '
        f'{found.condition:.1f} of '
        f'{figures["columns"]} columns ({figures["column_choice"]}).',
        *(() if doubts else (contact,)),
        'Proven at all times, for an arm that follows it exactly: at most '
        f'{100 * proven.position:.1f} % of the position, '
        f'{100 * proven.velocity:.1f} % of the velocity, {100 * proven.acceleration:.1f} % of '
        f'the acceleration and, with the nominal model, {100 * proven.torque:.1f} % of the '
        'torque limits.',
        'Starts and ends at rest in the same pose. Bring the arm there slowly before.',
    )
