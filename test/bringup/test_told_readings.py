"""What a run tells its identifier of simulated readings is never less than their sensors err."""

import numpy as np
import pytest
from tiers import slow_after
import yaml

from safe_sysid.api.arms import load_arm
from safe_sysid.api.loop_file import read_simulated_loop
from safe_sysid.bringup.processes import Choices, processes_of
from safe_sysid.config import from_mapping
from safe_sysid.errors import ConfigError
from safe_sysid.identify.online_identifier import (
    IdentificationFault,
    IdentifierSettings,
    OnlineIdentifier,
)
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.loop_settings import LoopSettings
from safe_sysid.model.dynamics.mass_matrix import mass_matrix
from safe_sysid.share import share_directory
from safe_sysid.simulate.brakes import in_brakes
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm

LOOPS = sorted((share_directory() / 'config' / 'loop').glob('*.yaml'))
FILE = share_directory() / 'config' / 'loop' / 'two_link.yaml'
OBSERVATION = 'identifier.observation.'
STEPS = 750  # periods; bounds are computed after 500
CONSTANT = {'torque_kind': 'constant'}
WRONG = {  # sensors, and what an identifier has to be told of them
    'position': ({'position_resolution': [0.02]}, {'position_error': [0.01, 0.01]}),
    'velocity': (
        {'velocity_resolution': [0.2], 'velocity_noise': [0.1]},
        {'velocity_error': [0.2, 0.2]},
    ),
    'torque': ({'torque_error': [0.5], **CONSTANT}, {'torque_error': [0.5, 0.5]}),
    'ratio': ({'torque_ratio': [0.2], **CONSTANT}, {'torque_ratio': [0.2, 0.2]}),
    'joint': ({'torque_error': [0.0, 0.6], **CONSTANT}, {'torque_error': [0.0, 0.6]}),
}
EXACT = {'position_error': [0.0], 'velocity_error': [0.0], 'torque_error': [0.0]}


def loop_file(folder, sensors, **stated):
    """Settings of the two-link loop with other sensors, and errors stated to the identifier."""
    blocks = yaml.safe_load(FILE.read_text())
    for bridge in ('builtin_sim_bridge', 'drake_bridge', 'mujoco_bridge'):
        blocks[f'/**/{bridge}']['ros__parameters']['sensors'] = sensors
    observation = blocks['/**/identifier']['ros__parameters']['identifier']['observation']
    del observation['torque_error']
    observation |= stated
    path = folder / 'loop.yaml'
    path.write_text(yaml.safe_dump(blocks))
    return str(path)


def told(way, **choices):
    """Errors that a run gives to its identifier on top of the settings file."""
    processes = processes_of(way, Choices(**choices))
    given = next(each.parameters for each in processes if each.node == 'identifier')
    names = (*EXACT, 'torque_ratio')
    return {n: given[OBSERVATION + n] for n in names if OBSERVATION + n in given}


@pytest.mark.parametrize('path', LOOPS, ids=lambda path: path.stem)
@pytest.mark.parametrize(('way', 'creep'), [('builtin_sim', 0.0), ('drake_sim', 0.0005)])
def test_shipped_loops_are_told_that_readings_are_exact(path, way, creep):
    assert told(way, config=str(path)) == {**EXACT, 'velocity_error': [creep]}


@pytest.mark.parametrize('robot', ['two_link', 'lbr_med7', 'kinova_gen3'])
def test_who_looks_at_mujoco_is_told_what_friction_lacks_where_a_joint_turns(robot, rng):
    """Its impulse is wrong by 2 Fc for a step, and the errors told have to cover that momentum."""
    error = np.array(told('mujoco_sim', robot=robot)['velocity_error'])
    loop = read_simulated_loop(load_arm(robot))
    bounds, layout = loop.prior.bounds, loop.model.layout
    armature, friction = (bounds[layout.joint_entries(name)] for name in ('Ia', 'Fc'))
    assert np.all((error >= 1e-5) & (error <= 1e-5 + 2e-4 * friction.upper / armature.lower))
    for q in rng.uniform(-2.0, 2.0, (20, loop.model.n)):
        inertia = mass_matrix(loop.model, bounds.center, q).diagonal()
        assert np.all(error * inertia >= 2e-4 * friction.upper)


@pytest.mark.parametrize('kind', WRONG)
def test_what_nobody_states_is_told_as_the_sensors_are(tmp_path, kind):
    sensors, least = WRONG[kind]
    assert told('builtin_sim', config=loop_file(tmp_path, sensors)) == {**EXACT, **least}


def test_a_simulator_that_creeps_is_told_to_do_so_besides(tmp_path):
    file = loop_file(tmp_path, WRONG['velocity'][0])
    assert told('drake_sim', config=file)['velocity_error'] == pytest.approx([0.2005, 0.2005])


@pytest.mark.parametrize('kind', WRONG)
def test_what_a_file_states_stands_where_it_is_enough(tmp_path, kind):
    sensors, least = WRONG[kind]
    ((name, values),) = least.items()
    file = loop_file(tmp_path, sensors, **{name: [1.1 * max(values)]})
    found = told('builtin_sim', config=file)
    assert name not in found
    assert found == {key: value for key, value in EXACT.items() if key != name}


@pytest.mark.parametrize('kind', WRONG)
@pytest.mark.parametrize('by_option', [False, True])
def test_less_than_the_sensors_err_is_refused(tmp_path, kind, by_option):
    sensors, least = WRONG[kind]
    ((name, values),) = least.items()
    less = 0.9 * max(values)
    file = loop_file(tmp_path, sensors, **({} if by_option else {name: [less]}))
    option = (f'identifier:{OBSERVATION}{name}:=[{less}]',) if by_option else ()
    complaint = rf'observation\.{name} is {less:g}.*, and sensors .* err by {max(values):g}:'
    with pytest.raises(ConfigError, match=complaint):
        told('builtin_sim', config=file, extra=option)


def test_where_sensors_are_exact_the_file_is_not_asked_and_an_option_counts(tmp_path):
    file = loop_file(tmp_path, {}, torque_error=[0.6])
    assert told('builtin_sim', config=file) == EXACT
    option = (f'identifier:{OBSERVATION}torque_error:=[0.3]',)
    assert told('builtin_sim', config=file, extra=option)['torque_error'] == [0.3]


def test_sensors_that_were_chosen_for_a_run_count(tmp_path):
    chosen = ('builtin_sim_bridge:sensors.torque_error:=[0.5]',)
    file = loop_file(tmp_path, {})
    assert told('builtin_sim', config=file, extra=chosen)['torque_error'] == [0.5, 0.5]
    assert told('drake_sim', config=file, extra=('sensors.torque_error:=[0.5]',)) == {
        **EXACT,
        'velocity_error': [0.0005],
        'torque_error': [0.5, 0.5],
    }


def test_sensors_of_another_number_of_joints_are_refused(tmp_path):
    file = loop_file(tmp_path, {'torque_error': [0.1, 0.1, 0.1]})
    with pytest.raises(ConfigError, match=r'sensors.torque_error has 3 entries; 1 or 2'):
        told('builtin_sim', config=file)


@pytest.mark.parametrize('kind', slow_after(2, WRONG))
def test_bounds_contain_what_is_held_whatever_the_sensors_do(tmp_path, kind, rng):
    """Nothing but the sensors is between the arm and the identifier of a run."""
    sensors = WRONG[kind][0]
    settings = told('builtin_sim', config=loop_file(tmp_path, sensors))
    bounds, truth = learned(sensors, settings, rng)
    assert np.all((bounds.lower <= truth) & (truth <= bounds.upper))


@pytest.mark.parametrize('kind', ['velocity', 'torque', 'ratio', 'joint'])
def test_bounds_of_one_that_takes_them_for_exact_do_not(kind, rng):
    try:
        bounds, truth = learned(WRONG[kind][0], EXACT, rng)
    except IdentificationFault:
        return
    assert np.any((bounds.lower > truth) | (truth > bounds.upper))


def learned(sensors, errors, rng):
    """Bounds on what an arm with such sensors holds after a motion, and the truth."""
    blocks = yaml.safe_load(FILE.read_text())
    shared = blocks['/**']['ros__parameters']
    own = blocks['/**/identifier']['ros__parameters']['identifier']
    observation = {**own['observation'], **errors, 'torque_signal': 'held_until'}
    settings = from_mapping(IdentifierSettings, {**own, 'observation': observation}, 'test')
    known = from_mapping(LoopSettings, shared, 'loop').arm()
    seen = ArmSettings(sensors=from_mapping(SensorSettings, sensors, 'sensors'))
    arm = SimulatedArm(known.model, np.array([-1.4, 0.3]), rng, seen)
    identifier = OnlineIdentifier(known.model, known.prior, settings, SolvesAtOnce)
    for k in range(STEPS):
        identifier.step(arm.measure())
        swing = np.array([4.0, 3.0]) * np.sin(2.0 * np.pi * k / np.array([500.0, 300.0]))
        arm.apply(swing + in_brakes(arm.model, arm.truth).torque)
    bounds = identifier.finish().end_effector_bounds
    return bounds, arm.model.theta[arm.model.layout.end_effector]
