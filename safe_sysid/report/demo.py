"""`safe-sysid demo`: an arm, its torque computed twice, and a payload found in its torque."""

from __future__ import annotations

import argparse

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model import inertia
from safe_sysid.model.inverse_dynamics import inverse_dynamics
from safe_sysid.model.payload import Payload, read_payload
from safe_sysid.model.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel

ROBOT, PAYLOAD = 'kinova_gen3', 'dumbbell_8lb'
SAMPLES = 1000
TORQUE_ERROR = 0.025  # of each torque
SEED = 1

Motion = tuple[Array, Array, Array]  # q, qd, qdd, each (SAMPLES, n)


def command(_: argparse.Namespace) -> int:
    """Carry out `safe-sysid demo`."""
    arm, payload = RobotModel.named(ROBOT), read_payload(PAYLOAD)
    loaded = arm.with_payload(payload)
    motion = _random_motion(arm)
    _show_arm(arm)
    _compare_torques(loaded, motion)
    _find_payload(arm, payload, motion)
    return 0


def _random_motion(arm: RobotModel) -> Motion:
    """Unrelated random states within the limits."""
    rng = np.random.default_rng(SEED)
    unit = rng.uniform(-1.0, 1.0, (3, SAMPLES, arm.n))
    return np.pi * unit[0], arm.limits.velocity * unit[1], arm.limits.acceleration * unit[2]


def _show_arm(arm: RobotModel) -> None:
    masses = [arm.theta[arm.layout.inertial(i)][0] for i in range(arm.n)]
    print(f'{arm.name}: {arm.n} joints move {sum(masses):.3f} kg')
    print('  joint      body [kg]  torque limit [N m]')
    for name, mass, limit in zip(arm.layout.joint_names, masses, arm.limits.torque, strict=True):
        print(f'  {name:<9}  {mass:9.3f}  {limit:18.1f}')


def _compare_torques(loaded: RobotModel, motion: Motion) -> None:
    recursive = inverse_dynamics(loaded, *motion)
    linear = standard_regressor(loaded, *motion) @ loaded.theta
    print(f'\nTorque in {SAMPLES} random states with {PAYLOAD}, computed in two independent ways:')
    print(
        f'  largest torque {np.abs(recursive).max():.1f} N m, largest difference between'
        f' Newton-Euler recursion and W theta {np.abs(recursive - linear).max():.1e} N m'
    )


def _find_payload(arm: RobotModel, payload: Payload, motion: Motion) -> None:
    """Least squares on what the torque of the loaded arm has beyond that of the empty one."""
    loaded = arm.with_payload(payload)
    tau = inverse_dynamics(loaded, *motion)
    rng = np.random.default_rng(SEED)
    measured = tau * (1.0 + TORQUE_ERROR * rng.uniform(-1.0, 1.0, tau.shape))
    W = standard_regressor(arm, *motion)
    W_e = W[..., arm.layout.end_effector].reshape(-1, 10)
    beyond = [torque - W @ arm.theta for torque in (tau, measured)]
    exact, noisy = (np.linalg.lstsq(W_e, x.ravel(), rcond=None)[0] for x in beyond)
    true = (loaded.theta - arm.theta)[arm.layout.end_effector]
    print(f'\n{PAYLOAD} found by least squares, in the frame of {arm.layout.joint_names[-1]}:')
    print(f'  {"":5} {"true":>10} {"from exact":>12} {f"{TORQUE_ERROR:.1%} error":>12}')
    rows = zip(inertia.LABELS, inertia.UNITS, true, exact, noisy, strict=True)
    for label, unit, *values in rows:
        print(f'  {label:5} {values[0]:10.5f} {values[1]:12.5f} {values[2]:12.5f}  {unit}')
    off = dict(zip(inertia.LABELS, np.abs(noisy - true), strict=True))
    print(
        f'\nWith torque errors of up to {TORQUE_ERROR:.1%} the mass is off by {off["m"]:.3f} kg, '
        f'Izz by {off["Izz"] / true[-1]:.0%},\nand least squares can not say so. That is what '
        'guaranteed bounds are for; they come next.'
    )
