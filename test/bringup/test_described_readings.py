"""An identifier beside a simulator is told what that shows: exact, or as the arm's file has it."""

from dataclasses import fields

import numpy as np
import pytest
import yaml

from safe_sysid.bringup.processes import Choices, processes_of
from safe_sysid.config import from_mapping
from safe_sysid.identify.online_identifier import (
    IdentificationFault,
    IdentifierSettings,
    OnlineIdentifier,
)
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.loop_settings import LoopSettings
from safe_sysid.share import share_directory
from safe_sysid.simulate.brakes import in_brakes
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm

DESCRIBED = share_directory() / 'config' / 'described' / 'two_link.yaml'
SIMULATORS = ('builtin_sim', 'drake_sim', 'mujoco_sim')
ERRORS = {f'identifier.observation.{name}_error' for name in ('position', 'velocity', 'torque')}
HELD = 'identifier.observation.torque_signal'
STEPS = 750  # periods; bounds are computed after 500


def told(way, **choices):
    """Parameters that a run gives to its identifier on top of the settings file."""
    processes = processes_of(way, Choices(**choices))
    return next(each.parameters for each in processes if each.node == 'identifier')


@pytest.mark.parametrize('way', SIMULATORS)
def test_described_readings_are_not_called_exact(way):
    assert not {*ERRORS, HELD} & set(told(way, config=str(DESCRIBED)))
    assert {*ERRORS, HELD} <= set(told(way, robot='two_link'))


def test_what_is_chosen_for_a_run_counts_too():
    bridge = 'builtin_sim_bridge'
    read = told('builtin_sim', robot='two_link', extra=(f'{bridge}:readings:=described',))
    assert not {*ERRORS, HELD} & set(read)
    driven = told('builtin_sim', robot='two_link', extra=('actuators:=described',))
    assert HELD not in driven
    assert set(driven) >= ERRORS
    exact = told('builtin_sim', config=str(DESCRIBED), extra=('readings:=set',))
    assert set(exact) >= ERRORS


def test_such_an_identifier_believes_a_described_arm_that_moves(rng):
    identifier, arm = beside('builtin_sim', rng)
    moved = [step(identifier, arm, k) for k in range(STEPS)]
    assert np.ptp(moved, axis=0).min() > 0.05
    estimate, layout = identifier.finish(), arm.model.layout
    bounds = estimate.end_effector_bounds
    np.testing.assert_array_equal(estimate.end_effector, bounds.center)  # as that file asks for
    theta = arm.model.theta[layout.end_effector]
    assert np.all((bounds.lower <= theta) & (theta <= bounds.upper))


def test_one_that_takes_its_readings_for_exact_does_not(rng):
    exact = tuple(f'identifier:{name}:=[0.0]' for name in sorted(ERRORS))
    identifier, arm = beside('builtin_sim', rng, extra=exact)
    with pytest.raises(IdentificationFault, match='contradict the model'):
        for k in range(STEPS):
            step(identifier, arm, k)


def beside(way, rng, **choices):
    """An identifier as a run starts it, and the arm of its simulator."""
    blocks = yaml.safe_load(DESCRIBED.read_text())
    shared = blocks['/**']['ros__parameters']
    own = blocks['/**/identifier']['ros__parameters']['identifier']
    observation = dict(own['observation'])
    for name, value in told(way, config=str(DESCRIBED), **choices).items():
        folder, _, last = name.rpartition('.')
        if folder:
            observation[last] = value
    loop = {each.name: shared[each.name] for each in fields(LoopSettings) if each.name in shared}
    known = from_mapping(LoopSettings, loop, 'loop').arm()
    settings = from_mapping(IdentifierSettings, {**own, 'observation': observation}, 'identifier')
    as_described = ArmSettings(actuators='described', readings='described')
    arm = SimulatedArm(known.model, np.array([-1.4, 0.3]), rng, as_described)
    return OnlineIdentifier(known.model, known.prior, settings, SolvesAtOnce), arm


def step(identifier, arm, k):
    """One period of a motion that swings both joints."""
    identifier.step(arm.measure())
    swing = np.array([4.0, 3.0]) * np.sin(2.0 * np.pi * k / np.array([500.0, 300.0]))
    arm.apply(swing + in_brakes(arm.model, arm.truth).torque)
    return arm.truth.position
