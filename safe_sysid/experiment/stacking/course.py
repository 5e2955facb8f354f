"""One task: the arm holds the load at rest, follows the motion, and is judged by what it did."""

from __future__ import annotations

from dataclasses import dataclass, replace
import json

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.identification import TORQUE_RATIO
from safe_sysid.bench.experiments.kinova_dumbbell import PERIOD
from safe_sysid.bench.experiments.planning import GAINS as PUBLISHED
from safe_sysid.bench.experiments.planning import at_rest
from safe_sysid.errors import SafeSysidError
from safe_sysid.experiment.stacking.scene import (
    Scene,
    clearance_to,
    own_clearance,
    payload_place,
)
from safe_sysid.measure.clock import Clock
from safe_sysid.model.actuation import Actuation
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
from safe_sysid.track.controller import Controller
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan
from safe_sysid.trajectory.task_motion import Piece

# Half the published V_M: with all of it the arm's own links are too near for certificates of a.
GAINS = replace(PUBLISHED, V_M=0.01)
HOLDING = 1.0  # [s] at rest with the load, before the motion
AFTER = 0.5  # [s] of the motion's end, when the place of the load is judged
LOOKS = 10  # samples from one look at distances to the next
INTERVALS = 40  # time steps of a certificate a second
DRAWN = 25  # samples from one point of a plot to the next; each is the largest of them
NOISE = 0.05  # [rad/s] largest error of velocities of the noisy plant


@dataclass(frozen=True)
class Plant:
    """Sensors and drives of the arm, and which assumption of the certificates they break."""

    sensors: SensorSettings
    false: str = ''
    drives_are_real: bool = False


NOISY = SensorSettings(torque_ratio=(TORQUE_RATIO,), velocity_noise=(NOISE,))
PLANTS = {
    'ideal': Plant(SensorSettings(torque_ratio=(TORQUE_RATIO,))),
    'noisy': Plant(NOISY, 'velocities are exact'),
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


def task_plan(scene: Scene, estimate: ParameterEstimate) -> Plan:
    """Return the motion of a scene after a rest, for what is known of theta."""
    pieces = _pieces(scene)
    first, then = pieces[0], pieces[1:]
    return Plan(0.0, 0.0, first.curve, first.k, estimate.bounds, theta_0=estimate.theta, then=then)


def _pieces(scene: Scene) -> tuple[Piece, ...]:
    start = scene.motion.pieces[0].curve.q0
    rest = np.zeros_like(start)
    return (Piece(Bezier(start, rest, rest, HOLDING), rest), *scene.motion.pieces)


def certificate_of(
    scene: Scene, model: RobotModel, estimate: ParameterEstimate
) -> tuple[bool, str]:
    """Whether the motion is proven for these bounds among the obstacles; the deciding margin."""
    problem = at_rest(model, estimate, scene.motion.pieces[0].curve.q0, scene.obstacles)
    problem = replace(problem, gains=GAINS)
    proven: list[PlanCertificate] = []
    try:
        for piece in _pieces(scene):
            if proven:
                until = proven[-1].problem.horizon.curve.duration
                left = proven[-1].error_shape(until), proven[-1].law_at(until)
                problem = replace(problem, error_at_start=left[0], before=left[1])
            count = int(np.ceil(INTERVALS * piece.curve.duration))
            horizon = Horizon(piece.curve, piece.k, np.zeros_like(piece.k), count)
            problem = replace(problem, horizon=horizon)
            proven.append(ReachableSet.certify_center(problem))
            if not proven[-1].holds:
                break
    except SafeSysidError as error:
        return False, str(error)
    return proven[-1].holds, str(proven[-1].smallest)


def follow(
    truth: RobotModel,
    controller: Controller,
    estimate: ParameterEstimate,
    scene: Scene,
    plant: str,
    rng: np.random.Generator,
) -> Course:
    """Let a law carry the load along the motion of a scene."""
    plan, clock = task_plan(scene, estimate), Clock(0)
    robot = _robot(truth, PLANTS[plant], plan.curve.q0, rng)
    rows = []
    for _ in range(round((plan.motion.duration + AFTER) / PERIOD)):
        measured, now = robot.measure(), robot.truth
        torque = controller.step(measured, plan, estimate)
        wanted = plan.desired(clock.seconds(now.stamp))[0]
        rows.append((now.position, now.velocity, wanted, torque))
        robot.apply(torque)
    return Course(*(np.array(column) for column in zip(*rows, strict=True)))


def _robot(truth: RobotModel, plant: Plant, q: Array, rng: np.random.Generator) -> SimulatedArm:
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
