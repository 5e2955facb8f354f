"""The arms that come with the package, known as well as a calibration leaves them.

Links are known to a share of their size, and their centres of mass to a distance on top; friction
and offsets to shares of what a joint can do. Armatures and errors of drives are those of the
arm's file where it has them. Where it has none, it is assumed here, and printed, between which
figures they are: a least armature is what bounds the tracking error of a light wrist, and every
joint with a gear has one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.planning import GAINS, random_start
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.uncertainty import Uncertainty, Width
from safe_sysid.track.gains import Gains

ARMS = ('kinova_gen3', 'lbr_med7', 'iiwa14', 'fr3', 'ur5e', 'ur10e')
LOADS = {'bare': '', '2kg': 'dumbbell_5lb'}  # 2.27 kg

SHARE, OFF_CENTER = 0.01, 0.001  # of the size of a link; [m]
DRY, VISCOUS, OFFSET = 0.005, 0.005, 0.002  # of the torque limit; viscous friction at full speed
ARMATURE, ARMATURE_WIDTH = 0.1, 0.5  # [kg m^2] where the file has none, and the share it is off
DRIVES, DRIVES_AT_REST = 0.02, 0.005  # share of a command, and of the torque limit on top
OF_FIGURE = 0.05  # share of an armature that the file has, if it does not state one
RATE, V_M = 10.0, 0.002  # [1/s] and [J] of the gains; the Kinova has the published ones
FREE = 0.005  # [m] of clearance at a start; base and upper arm of a UR are never 15 mm apart


@dataclass(frozen=True, eq=False)
class CalibratedArm:
    """An arm, what is known of it, and how it is controlled."""

    model: RobotModel
    estimate: ParameterEstimate
    gains: Gains

    @staticmethod
    def holding(name: str, payload: str) -> CalibratedArm:
        """Return an arm and what it holds."""
        described = RobotModel.named(name)
        model = described.with_payload(read_payload(payload)) if payload else described
        return CalibratedArm.known(model)

    @staticmethod
    def known(model: RobotModel) -> CalibratedArm:
        """Return an arm that was calibrated."""
        figure = model.theta[model.layout.joint_entries('Ia')]
        theta = model.theta.copy()
        theta[model.layout.joint_entries('Ia')] = np.where(figure > 0.0, figure, ARMATURE)
        if not model.actuation.is_stated:
            ratio, absolute = np.full(model.n, DRIVES), DRIVES_AT_REST * model.limits.torque
            drives = replace(model.actuation, ratio=ratio, absolute=absolute)
            model = replace(model, actuation=drives)
        return _arm(
            model.name,
            model.with_parameters(theta),
            np.where(figure > 0.0, _of_figure(model), ARMATURE_WIDTH),
        )

    @staticmethod
    def without_armature(name: str) -> CalibratedArm:
        """Return the bare arm, of whose armatures and drives nobody says more than its file."""
        model = RobotModel.named(name)
        return _arm(name, model, _of_figure(model))

    def start(self, rng: np.random.Generator) -> Array:
        """Position within the limits at which the arm does not touch itself."""
        return random_start(rng, self.model, FREE)


def _arm(name: str, model: RobotModel, armature: Array) -> CalibratedArm:
    """Return an arm whose armatures are known to these shares."""
    bounds = _known(model, armature).bounds(model)
    return CalibratedArm(
        model, ParameterEstimate(model.layout, model.theta, bounds), _gains(name, model)
    )


def _known(model: RobotModel, armature: Array) -> ArmKnowledge:
    """Return what a calibration leaves open."""
    torque, speed = model.limits.torque, model.limits.velocity
    return ArmKnowledge(
        SHARE,
        OFF_CENTER,
        SHARE,
        Uncertainty(
            coulomb=Width(absolute=tuple(DRY * torque)),
            viscous=Width(absolute=tuple(VISCOUS * torque / speed)),
            armature=Width(ratio=tuple(armature), absolute=(0.0,)),  # a 0 of the file is one
            offset=Width(absolute=tuple(OFFSET * torque)),
        ),
    )


def _of_figure(model: RobotModel) -> Array:
    """Share to which an armature of the file is known."""
    stated = model.uncertainty.armature
    return np.full(model.n, OF_FIGURE) if stated is None else np.resize(stated.shares, model.n)


def _gains(name: str, model: RobotModel) -> Gains:
    published = name == 'kinova_gen3'
    plain = GAINS if published else Gains(np.full(model.n, RATE), V_M, 25.0)
    drives = model.actuation
    return replace(plain, torque_error=drives.absolute, torque_ratio=drives.ratio)


def assumptions() -> list[str]:
    """Return what is assumed of every arm here, beside its file."""
    return [
        f'links to {100 * SHARE:g} % of their size, centres of mass to {1e3 * OFF_CENTER:g} mm '
        'on top, of what the arm holds as well',
        f'Coulomb friction to {100 * DRY:g} % of the torque limit, viscous friction to '
        f'{100 * VISCOUS:g} % of it at full speed, offsets to {100 * OFFSET:g} %',
        f'armature as the file of the arm has it, to what it states or {100 * OF_FIGURE:g} %; '
        f'where it has none from {ARMATURE * (1 - ARMATURE_WIDTH):g} to '
        f'{ARMATURE * (1 + ARMATURE_WIDTH):g} kg m^2, which is to be measured on your arm',
        f'what acts on a joint is within what the file states of its command, or '
        f'{100 * DRIVES:g} % and {100 * DRIVES_AT_REST:g} % of the torque limit',
        'readings are exact, and torques act at once',
    ]
