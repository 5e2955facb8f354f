"""Readings of a driver that is not ours: stated errors give true bounds, understated ones a fault.

The arm of `tools/mujoco_sim` is moved by a law of this file; encoders have steps, velocities are
differences of them, torques act late and are reported wrong by 1 % and noise.
"""

import importlib.util
from pathlib import Path
import sys

import numpy as np
import pytest

from safe_sysid.bench.experiments.kinova_dumbbell import DUMBBELLS, kinova_prior
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.identify.online_identifier import (
    IdentificationFault,
    IdentifierSettings,
    OnlineIdentifier,
)
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel

pytest.importorskip('mujoco', reason='MuJoCo is an extra')
FOLDER = Path(__file__).parents[2] / 'tools' / 'mujoco_sim'
START = np.array([-0.48, 0.05, -0.12, 0.17, 3.12, 0.13, -1.39])  # [rad]
PERIOD, SECONDS = 0.002, 3.0  # [s]
STEP = 1e-5  # [rad] of the encoders
FASTEST = 10.0  # [rad/s^2] of these motions: a difference is late by half a period
HABITS = {
    'period': PERIOD, 'encoder': STEP, 'differentiated': True, 'delay': 1, 'gain': 0.01,
    'noise': 0.04,
}  # fmt: skip
STATED = {
    'window': 50,
    'torque_signal': 'held_until',
    'longest_step': 1.5 * PERIOD,
    'position_error': (0.5 * STEP,),
    'velocity_error': (STEP / PERIOD + 0.5 * PERIOD * FASTEST,),
    'torque_ratio': (0.011,),
    'torque_error': (0.05,),
}
EXACT = (0.0,)


def loaded(name):
    spec = importlib.util.spec_from_file_location(f'read_{name}', FOLDER / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def readings(held, seed, **others):
    """What the driver reports of an arm that follows sines of a seed."""
    rng = np.random.default_rng(seed)
    arms, drivers = loaded('arm'), loaded('driver')
    facts = arms.facts_of('kinova_gen3', held)
    said = drivers.Habits(**{**HABITS, **others}, seed=seed)
    driver = drivers.Driver(arms.Arm(facts, START), facts.joints, said)
    w, phase = 2.0 * np.pi * rng.uniform(0.2, 0.5, size=7), rng.uniform(0.0, 2.0 * np.pi, size=7)
    amplitude = rng.uniform(0.3, 0.6, size=7)
    armature, found = np.array(facts.armature), []
    for k in range(round(SECONDS / PERIOD)):
        names, *columns = driver.state()
        rows = [np.array([c[names.index(n)] for n in facts.joints]) for c in columns]
        if k > HABITS['delay'] + 1:
            found.append(JointMeasurement(driver.stamp, *rows))
        swing = min(1.0, k * PERIOD) * amplitude
        q = START + swing * (np.sin(w * k * PERIOD + phase) - np.sin(phase))
        qd = swing * w * np.cos(w * k * PERIOD + phase)
        pull = 25.0 * (q - driver.arm.q) + 10.0 * (qd - driver.arm.qd)
        driver.command(np.clip(driver.arm.gravity() + armature * pull, -50.0, 50.0))
        driver.tick()
    return found


def identifier_of(held, **observation):
    """An identifier that is told these errors."""
    model = RobotModel.named('kinova_gen3').with_payload(read_payload(held))
    settings = IdentifierSettings(observation=ObservationSettings(**{**STATED, **observation}))
    return OnlineIdentifier(model, kinova_prior(model), settings, SolvesAtOnce)


def identified(held, samples, **observation):
    """Bounds after every sample, and the truth."""
    model = RobotModel.named('kinova_gen3').with_payload(read_payload(held))
    identifier = identifier_of(held, **observation)
    try:
        bounds = [identifier.step(sample).end_effector_bounds for sample in samples]
    finally:
        identifier.close()
    return bounds, model.theta[model.layout.end_effector]


@pytest.mark.slow
@pytest.mark.parametrize(
    ('held', 'seed'),
    [
        pytest.param(held, seed, marks=() if seed == 0 == i else pytest.mark.nightly)
        for i, held in enumerate(DUMBBELLS)
        for seed in range(4)
    ],
)
def test_stated_errors_give_bounds_with_the_truth_inside(held, seed):
    bounds, truth = identified(held, readings(held, seed))
    assert all(np.all((b.lower <= truth) & (truth <= b.upper)) for b in bounds)


@pytest.mark.slow
@pytest.mark.parametrize(
    'understated',
    [{'position_error': EXACT, 'velocity_error': EXACT}, {'velocity_error': EXACT}],
    ids=lambda change: ' '.join(change),
)
def test_understated_readings_are_a_fault_that_names_velocities(understated):
    with pytest.raises(IdentificationFault, match='Readings speak for this: .*velocities of'):
        identified('dumbbell_5lb', readings('dumbbell_5lb', 1), **understated)


# Of these little is seen in rows: encoders of the arm, and velocities of the driver's own.
OWN = {'encoder': 3.5e-4, 'differentiated': False, 'speed_noise': 2e-3, 'noise': 0.04}
TOLD = {'window': 100, 'position_error': (1.75e-4,), 'velocity_error': (2.1e-3,)}


@pytest.mark.slow
@pytest.mark.parametrize('seed', [0, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    ('understated', 'named'),
    [
        ({}, ''),
        ({'position_error': EXACT}, 'is read in steps of 0.00035 rad'),
        ({'position_error': (8e-5,)}, 'is read in steps of 0.00035 rad'),
        ({'velocity_error': (1e-5,)}, 'velocities of'),
        ({'velocity_error': (1e-3,)}, 'velocities of'),
    ],
    ids=str,
)
def test_readings_that_no_row_contradicts_are_doubted_by_themselves(understated, named, seed):
    identifier = identifier_of('dumbbell_5lb', **{**TOLD, **understated})
    for sample in readings('dumbbell_5lb', seed, **OWN):
        identifier.step(sample)
    identifier.close()
    assert bool(identifier.doubts) == bool(named)
    assert all(named in sentence for sentence in identifier.doubts)


@pytest.mark.slow
@pytest.mark.parametrize(
    ('habit', 'named'),
    [
        ({'gain': 0.1}, 'This alone would explain them: a gain error of torques'),
        ({'delay': 5, 'effort': 'command'}, 'a delay of the torque of all joints'),
    ],
    ids=str,
)
def test_torques_that_are_wrong_or_late_are_a_fault_that_says_so(habit, named):
    finer = {**OWN, 'speed_noise': 5e-4, **habit}
    told = {**TOLD, 'velocity_error': (6e-4,)}
    with pytest.raises(IdentificationFault, match=named) as fault:
        identified('dumbbell_5lb', readings('dumbbell_5lb', 1, **finer), **told)
    assert 'Readings speak' not in str(fault.value)
