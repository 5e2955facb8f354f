"""Recordings of an arm in MuJoCo that holds a rigid body, one that swings, or one on springs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.changing_payload import PERIOD, WINDOW, coloured, prior
from safe_sysid.bench.experiments.identification import PARAMETER_RATIO, TORQUE_RATIO
from safe_sysid.identify.change.rigidity import Rigidity
from safe_sysid.identify.held_object import RecordedObject
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.dynamics.mass_matrix import mass_matrix
from safe_sysid.model.inertia import from_mass_com_inertia
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.excited_motion import fourier_motion, true_torque
from safe_sysid.simulate.mujoco import MujocoBody, Swinging

FOLLOWS = 30.0  # [rad/s] with which a joint comes back to the motion, by its inertia
SETTLING = 1.0  # [s] before a recording begins
GRIP = 0.12  # [m] of the rigid part from the last joint's origin
ROWS = ObservationSettings(
    window=WINDOW,
    torque_ratio=(TORQUE_RATIO,),
    torque_signal='held',
    position_error=(0.0,),
    velocity_error=(0.0,),
)


@dataclass(frozen=True, eq=False)
class HeldInMotion:
    """What was measured, and what is known of the arm."""

    model: RobotModel
    prior: ParameterEstimate
    log: JointLog


def recorded_motion(
    rng: np.random.Generator,
    robot: str,
    seconds: float,
    unmodelled: float,
    swinging: Swinging | None,
    mass: float = 1.0,
) -> HeldInMotion:
    """Return a motion with a rigid body of a mass [kg], and what swings beside it.

    The arm is within 5 % of its description, its torques within 2.5 % of what is measured.
    """
    nominal = RobotModel.named(robot)
    factors = 1.0 + 0.999 * PARAMETER_RATIO * rng.uniform(-1.0, 1.0, (5, nominal.n))
    bodies = np.repeat(factors[0], 10)  # of a whole link, so that it stays a body
    bodies[nominal.layout.end_effector] = 1.0
    theta = nominal.theta * np.concatenate([bodies, factors[1:].ravel()])
    held = from_mass_com_inertia(np.array(mass), outward(nominal), 0.002 * mass * np.eye(3))
    theta[nominal.layout.end_effector] += held
    truth = nominal.with_parameters(theta)
    motion = fourier_motion(rng, truth.n, seconds + SETTLING, PERIOD)
    forward = true_torque(truth, motion)
    body = MujocoBody(truth, swinging)
    q, qd = motion.q[0], motion.qd[0]
    body.let_hang(q)
    inertia = mass_matrix(truth, truth.theta, motion.q)
    states, torques = np.empty((len(motion.t), 2, truth.n)), np.empty_like(forward)
    for k in range(len(motion.t)):
        back = FOLLOWS**2 * (motion.q[k] - q) + 2.0 * FOLLOWS * (motion.qd[k] - qd)
        torque = forward[k] + inertia[k] @ back
        states[k], torques[k] = (q, qd), torque
        q, qd = body.advance(q, qd, torque, PERIOD)
    torques = torques + coloured(rng, torques.shape, unmodelled)
    lasting = np.broadcast_to(rng.uniform(-1.0, 1.0, truth.n), torques.shape)
    errors = 0.5 * lasting + 0.5 * rng.uniform(-1.0, 1.0, torques.shape)
    first = round(SETTLING / PERIOD)
    log = JointLog(
        motion.stamp[first:],
        states[first:, 0],
        states[first:, 1],
        (torques / (1.0 + TORQUE_RATIO * errors))[first:],
    )
    return HeldInMotion(nominal, prior(nominal), log)


def outward(model: RobotModel) -> Array:
    """Return a place in the hand, in the frame of the last joint."""
    side = np.sign(model.theta[model.layout.end_effector][3]) or 1.0
    return np.array([0.0, 0.0, GRIP * side])


def judged(held: HeldInMotion, unmodelled: float) -> Rigidity:
    """Return what its windows say of a rigid payload."""
    found = RecordedObject(held.model, held.prior, ROWS, held.log, unmodelled).rigidity()
    assert found is not None
    return found
