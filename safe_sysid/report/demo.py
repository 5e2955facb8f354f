"""`safe-sysid demo`: an arm moves an unknown dumbbell, and bounds close around what it weighs."""

from __future__ import annotations

import argparse

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.online_identifier import IdentifierSettings, OnlineIdentifier
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.model.inertia import LABELS, UNITS
from safe_sysid.model.inverse_dynamics import inverse_dynamics
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.identification_trials import PARAMETER_RATIO, TORQUE_RATIO, Trial
from safe_sysid.report.kinova_trials import SECONDS, SETTINGS, kinova_trial

SEED = 8  # one of the five dumbbells, a motion, and the errors of everything
STATES = 1000
PROMISE_BROKEN = 1


def command(_: argparse.Namespace) -> int:
    """Carry out `safe-sysid demo`."""
    trial = kinova_trial(np.random.default_rng(SEED))
    _show_arm(trial.model)
    _compare_torques(trial.model)
    return _identify(trial)


def _show_arm(arm: RobotModel) -> None:
    masses = [arm.theta[arm.layout.inertial(i)][0] for i in range(arm.n)]
    print(f'{arm.name}: {arm.n} joints move {sum(masses):.3f} kg')
    print('  joint      body [kg]  torque limit [N m]')
    for name, mass, limit in zip(arm.layout.joint_names, masses, arm.limits.torque, strict=True):
        print(f'  {name:<9}  {mass:9.3f}  {limit:18.1f}')


def _compare_torques(arm: RobotModel) -> None:
    unit = np.random.default_rng(SEED).uniform(-1.0, 1.0, (3, STATES, arm.n))
    states = np.pi * unit[0], arm.limits.velocity * unit[1], arm.limits.acceleration * unit[2]
    recursive = inverse_dynamics(arm, *states)
    linear = standard_regressor(arm, *states) @ arm.theta
    print(f'\nTorque in {STATES} random states, computed in two independent ways:')
    print(
        f'  largest torque {np.abs(recursive).max():.1f} N m, largest difference between'
        f' Newton-Euler recursion and W theta {np.abs(recursive - linear).max():.1e} N m'
    )


def _identify(trial: Trial) -> int:
    """Replay a simulated recording through the identifier and compare with the truth."""
    print(
        f'\nThe arm holds an unknown dumbbell and moves for {SECONDS} s. Its links are known to'
        f' {PARAMETER_RATIO:.0%},\nits torques to {TORQUE_RATIO:.1%}. Guaranteed bounds on the'
        ' mass of gripper and dumbbell, as they close:'
    )
    identifier = OnlineIdentifier(
        trial.model, trial.prior, IdentifierSettings(SETTINGS), SolvesAtOnce
    )
    shown = estimate = trial.prior
    for index in range(len(trial.log)):
        estimate = identifier.step(trial.log[index])
        if estimate is not shown:
            _show_mass((trial.log.stamp[index] - trial.log.stamp[0]) * 1e-9, estimate)
            shown = estimate
    estimate = identifier.finish()
    identifier.close()
    return _show_result(estimate, trial.truth)


def _show_mass(seconds: float, estimate: ParameterEstimate) -> None:
    lower, upper = (
        float(x[0])
        for x in (estimate.end_effector_bounds.lower, estimate.end_effector_bounds.upper)
    )
    bar = [' '] * 61
    for position in range(round((lower - 1.0) * 12), round((upper - 1.0) * 12) + 1):
        bar[min(max(position, 0), 60)] = '='
    bar[min(max(round((float(estimate.end_effector[0]) - 1.0) * 12), 0), 60)] = 'o'
    print(
        f'  {seconds:4.1f} s  1 kg |{"".join(bar)}| 6 kg   {lower:.3f} to {upper:.3f} kg',
        flush=True,
    )


def _show_result(estimate: ParameterEstimate, truth: Array) -> int:
    bounds = estimate.end_effector_bounds
    inside = (bounds.lower <= truth) & (truth <= bounds.upper)
    print(f'\n  {"":4} {"lower":>10} {"nominal":>10} {"upper":>10} {"truth":>10}')
    rows = zip(
        LABELS,
        UNITS,
        bounds.lower,
        estimate.end_effector,
        bounds.upper,
        truth,
        inside,
        strict=True,
    )
    for label, unit, *values, is_inside in rows:
        figures = ' '.join(f'{value:10.4f}' for value in values)
        print(f'  {label:4} {figures}  {unit:6}  {"inside" if is_inside else "OUTSIDE"}')
    if inside.all():
        print('\nEvery true value is inside its bounds.')
        return 0
    print('\nA true value is outside its bounds: this is a bug, please report it.')
    return PROMISE_BROKEN
