"""One task: the arm holds the load at rest, follows the motion, and is judged by what it did."""

from __future__ import annotations

from dataclasses import dataclass, replace
import json

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.identification import TORQUE_RATIO
from safe_sysid.bench.experiments.kinova_dumbbell import PERIOD
from safe_sysid.bench.experiments.planning import GAINS as PUBLISHED
from safe_sysid.closed_loop import look
from safe_sysid.experiment.stacking.scene import (
    GAPS,
    Scene,
    clearance_to,
    own_clearance,
    payload_place,
    scene_of,
)
from safe_sysid.measure.clock import Clock
from safe_sysid.model.actuation import Actuation
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
from safe_sysid.track.controller import Controller
from safe_sysid.track.seen_law import Sampling, SeenLaw
from safe_sysid.track.sensed_passivity import SensedPassivityController
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan
from safe_sysid.trajectory.task_motion import Piece

# A twentieth of the published V_M: with all of it the certified error leaves no room to obstacles.
GAINS = replace(PUBLISHED, V_M=0.001)
HOLDING = 1.0  # [s] at rest with the load, before the motion
AFTER = 0.5  # [s] of the motion's end, when the place of the load is judged
LOOKS = 10  # samples from one look at distances to the next
LOOKED = 0.1  # [s] at an arm at rest, before a law that reads positions may give a torque
DRAWN = 25  # samples from one point of a plot to the next; each is the largest of them
NOISE = 0.05  # [rad/s] largest error of velocities of the noisy plant


@dataclass(frozen=True)
class Plant:
    """Sensors and drives of the arm, and what is false of them where velocities are read."""

    sensors: SensorSettings
    false: str = ''  # assumption of certificates for a law that reads velocities
    positions: Sampling | None = None  # what is true for a law that reads positions only
    drives_are_real: bool = False


# Exact positions, which a law may have to itself; a torque is held from sample to sample.
EXACT_POSITIONS = Sampling(np.zeros(7), PERIOD, 0.0)
NOISY = SensorSettings(torque_ratio=(TORQUE_RATIO,), velocity_noise=(NOISE,))
PLANTS = {
    'ideal': Plant(SensorSettings(torque_ratio=(TORQUE_RATIO,))),
    'noisy': Plant(NOISY, 'velocities are exact', EXACT_POSITIONS),
    'drives': Plant(NOISY, 'velocities are exact, torques act at once', drives_are_real=True),
}
DELAY, BANDWIDTH, RIPPLE = (0.001, 0.002), 100.0, 0.3  # [s], [Hz], [N m] of real drives


@dataclass(frozen=True, eq=False)
class Course:
    """What an arm did in a task, sample by sample."""

    q: Array  # (N, n) as it was, not as it was measured
    qd: Array
    q_d: Array  # (N, n) as it should have been
    torque: Array  # (N, n) that the law asked for

    def places(self, model: RobotModel) -> tuple[Array, Array]:
        """Return places of the load (N, 3) [m], as they were and as they should have been."""
        was = np.array([payload_place(model, q)[0] for q in self.q[::LOOKS]])
        meant = np.array([payload_place(model, q)[0] for q in self.q_d[::LOOKS]])
        return was, meant


def pieces_of(scene: Scene) -> tuple[Piece, ...]:
    """Return the motion of a scene after a rest with the load, piece by piece."""
    start = scene.motion.pieces[0].curve.q0
    rest = np.zeros_like(start)
    return (Piece(Bezier(start, rest, rest, HOLDING), rest), *scene.motion.pieces)


def task_plan(
    scene: Scene, estimate: ParameterEstimate, start: float, laws: tuple[SeenLaw, ...]
) -> Plan:
    """Return the motion of a scene after a rest, for what is known of theta."""
    first, *then = pieces_of(scene)
    known = estimate.bounds, None, estimate.theta
    return Plan(start, start, first.curve, first.k, *known, then=tuple(then), laws=laws)


def follow(
    controller: Controller,
    estimate: ParameterEstimate,
    scene: Scene,
    robot: SimulatedArm,
    laws: tuple[SeenLaw, ...] = (),
) -> Course:
    """Let a law carry the load along the motion of a scene."""
    clock = Clock(0)
    if isinstance(controller, SensedPassivityController):
        look(robot, controller, LOOKED)
    plan = task_plan(scene, estimate, clock.seconds(robot.measure().stamp), laws)
    rows = []
    for _ in range(round((plan.motion.duration + AFTER) / PERIOD)):
        measured, now = robot.measure(), robot.truth
        torque = controller.step(measured, plan, estimate)
        wanted = plan.desired(clock.seconds(now.stamp))[0]
        rows.append((now.position, now.velocity, wanted, torque))
        robot.apply(torque)
    return Course(*(np.array(column) for column in zip(*rows, strict=True)))


def robot_at(truth: RobotModel, plant: Plant, q: Array, rng: np.random.Generator) -> SimulatedArm:
    """Return the arm of a plant; torques are cut off at their limits in all of them."""
    if not plant.drives_are_real:
        return SimulatedArm(truth, q, rng, ArmSettings(PERIOD, plant.sensors))
    drives = replace(
        Actuation.exact(truth.n),
        absolute=np.full(truth.n, RIPPLE),
        bandwidth=np.full(truth.n, 1.0 / (2.0 * np.pi * BANDWIDTH)),
        delay=DELAY,
    )
    arm = replace(truth, actuation=drives, gravity_tilt=0.0)
    return SimulatedArm(arm, q, rng, ArmSettings(PERIOD, plant.sensors, 'described'))


def figures_of(course: Course, model: RobotModel, scene: Scene) -> dict[str, float]:
    """Return errors, distances and limits of a course."""
    limits = model.limits
    was, meant = course.places(model)
    off = np.linalg.norm(was - meant, axis=1)
    tilt = np.degrees(np.arcsin(abs(float(payload_place(model, course.q[-1])[1][2]))))
    q = course.q[::LOOKS]
    return {
        'largest_error_rad': float(np.abs(course.q - course.q_d).max()),
        'largest_error_mm': 1e3 * float(off.max()),
        'final_error_mm': 1e3 * float(np.linalg.norm((was - meant)[-1, :2])),
        'tilt_deg': float(tilt),
        'clearance_mm': 1e3 * min(clearance_to(model, scene.shapes, q), own_clearance(model, q)),
        'torque_share': float(np.abs(course.torque / limits.torque).max()),
        'clipped_share': float(np.any(np.abs(course.torque) > limits.torque, axis=1).mean()),
        'velocity_share': float(np.abs(course.qd / limits.velocity).max()),
        'torque_change': float(np.abs(np.diff(course.torque, axis=0)).mean()),
        'outside_position': float(
            np.any((course.q < limits.position_lower) | (course.q > limits.position_upper))
        ),
    }


def gap_figures(course: Course, model: RobotModel) -> dict[str, float]:
    """Return the distance to walls that leave less room, or more."""
    q = course.q[::LOOKS]
    return {
        clearance_column(gap): 1e3 * clearance_to(model, scene_of('c', gap).shapes, q)
        for gap in GAPS
    }


def clearance_column(gap_mm: float) -> str:
    """Name of the distance to walls that leave so much."""
    return f'clearance_of_{gap_mm:.0f}mm_gap'


def histories_of(course: Course, model: RobotModel) -> dict[str, str]:
    """Return the largest error [rad] and share of a torque limit of any joint, over time."""
    each = {
        'error_history': np.abs(course.q - course.q_d).max(axis=1),
        'torque_history': np.abs(course.torque / model.limits.torque).max(axis=1),
    }
    starts = range(0, len(course.q), DRAWN)
    return {
        name: json.dumps([float(f'{values[i : i + DRAWN].max():.4g}') for i in starts])
        for name, values in each.items()
    }
