"""Every loop of config/loop runs with its own settings, in one process and simulated time."""

from dataclasses import replace
import subprocess
import sys

import numpy as np
import pytest
from ros.reference_loop import moments, settings_of
from ros.running_loop import changed_settings
from tiers import slow_after
import yaml

from safe_sysid.config import from_mapping
from safe_sysid.errors import ConfigError
from safe_sysid.identify.online_identifier import OnlineIdentifier
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.nodes.identifier_node import IdentifierNodeSettings
from safe_sysid.share import share_directory
from safe_sysid.simulate.excited_motion import fourier_motion, measured_torque, recorded
from safe_sysid.track.torque_guard import GuardSettings

LOOPS = sorted(path.stem for path in (share_directory() / 'config' / 'loop').glob('*.yaml'))
SECONDS = 20.0
# What `safe-sysid run builtin_sim` says on top: what nobody states of the arm is assumed, a
# simulated sample carries the torque held before, and readings are exact.
SIMULATED = {
    'all__simulated': True,
    'identifier__identifier__observation__torque_signal': 'held_until',
    'identifier__identifier__observation__position_error': [0.0],
    'identifier__identifier__observation__velocity_error': [0.0],
    'identifier__identifier__observation__torque_error': [0.0],
}
PATIENT = {'planner__planner__pace': 3.0}  # a search may take longer on a busy machine


def shipped(folder, robot):
    """Settings of a loop, as a simulated arm has them."""
    return changed_settings(folder, robot, **SIMULATED, **PATIENT)


@pytest.mark.nightly
@pytest.mark.parametrize('robot', LOOPS)
def test_a_shipped_loop_runs_and_learns(robot, tmp_path):
    check(moments(shipped(tmp_path, robot), SECONDS), robot, SECONDS)


@pytest.mark.slow
def test_the_loop_of_slow_samples_runs_and_learns(tmp_path):
    """Beyond the 200 samples after which one too far from the next is a fault."""
    check(moments(shipped(tmp_path, 'lbr_med7'), 2.0), 'lbr_med7', 2.0)


def check(seen, robot, seconds):
    """No fault to the end, samples as far apart as the settings say, and something learnt."""
    period = settings_of(loop_file(robot), 'identifier', IdentifierNodeSettings).period
    stamps = np.array([moment.measurement.stamp for moment in seen])
    assert np.ptp(stamps) * 1e-9 == pytest.approx(seconds - period)
    assert set(np.diff(stamps)) == {round(period * 1e9)}
    assert {moment.fault for moment in seen} == {''}
    first, last = (seen[i].estimate.end_effector_bounds for i in (0, -1))
    assert np.all(last.lower >= first.lower)
    assert np.all(last.upper <= first.upper)
    assert np.sum(last.upper - last.lower) < 0.99 * np.sum(first.upper - first.lower)


@pytest.mark.parametrize('robot', slow_after(1, LOOPS))
def test_the_identifier_of_a_shipped_loop_takes_its_samples(robot, rng):
    identifies(robot, rng, samples=1000)


@pytest.mark.nightly
def test_the_identifier_takes_slow_samples_of_an_arm_without_armature(rng):
    """The arm's own file, which no planner takes, for as long as the loops above run."""
    identifies('lbr_med7', rng, samples=4000, is_simulated=False)


def identifies(robot, rng, samples, is_simulated=True):
    """The mass of what the arm is described to hold, along a motion that nobody planned."""
    settings = settings_of(loop_file(robot), 'identifier', IdentifierNodeSettings)
    arm = replace(settings, simulated=is_simulated).arm()
    motion = fourier_motion(rng, arm.model.n, SECONDS, settings.period, base=0.02)
    log = recorded(motion, measured_torque(arm.model, motion))
    exact = replace(
        settings.identifier.observation,
        position_error=(0.0,),
        velocity_error=(0.0,),
        torque_error=(0.0,),
    )
    chosen = replace(settings.identifier, observation=exact)
    identifier = OnlineIdentifier(arm.model, arm.prior, chosen, SolvesAtOnce)
    for i in range(samples):
        identifier.step(log[i])
    bounds = identifier.finish().end_effector_bounds
    theta = arm.model.theta[arm.model.layout.end_effector]
    assert np.all((bounds.lower <= theta) & (theta <= bounds.upper))
    before = arm.prior.end_effector_bounds
    assert bounds.upper[0] - bounds.lower[0] < 0.9 * (before.upper[0] - before.lower[0])


@pytest.mark.parametrize(
    ('changes', 'complaint'),
    [
        (
            {'all__period': 0.005},
            'period is 0.005 s, and steps above longest_step = 0.0015 s count as gaps, so that '
            'nothing could be learnt; 1.5 periods are 0.0075 s',
        ),
        (
            {'identifier__identifier__observation__longest_step': 0.003, **SIMULATED},
            'longest_step is 0.003 s, 3 periods of 0.001 s; with torque_signal held_until at most '
            '1.5 are allowed',
        ),
        (
            {'identifier__identifier__observation__window': 501},
            '501 samples of window last 0.501 s at a period of 0.001 s, longer than '
            'solve_period = 0.5 s',
        ),
    ],
)
def test_a_period_that_contradicts_the_settings_is_refused(changes, complaint, tmp_path):
    path = changed_settings(tmp_path, 'two_link', **changes)
    with pytest.raises(ConfigError) as caught:
        settings_of(path, 'identifier', IdentifierNodeSettings)
    assert complaint in str(caught.value)


@pytest.mark.parametrize('robot', LOOPS)
def test_no_shipped_guard_lets_a_torque_go_on_until_an_arm_is_at_its_velocity_limit(robot):
    model = RobotModel.named(robot)
    blocks = yaml.safe_load(loop_file(robot).read_text()).items()
    told = [(node, block['ros__parameters'].get('guard')) for node, block in blocks]
    guards = [from_mapping(GuardSettings, guard, node) for node, guard in told if guard]
    assert len(guards) >= 3
    assert [guard.caution(model) for guard in guards] == [''] * len(guards)


def loop_file(robot):
    return share_directory() / 'config' / 'loop' / f'{robot}.yaml'


@pytest.mark.slow
@pytest.mark.parametrize('option', [(), ('--lockstep',)], ids=''.join)
def test_an_arm_that_nothing_can_be_planned_for_is_refused_at_start(option):
    """The LBR without an armature, as it comes, where nothing is assumed of it."""
    said = refused('-p', 'simulated:=false', *option)
    assert said.count('the armature of A2 is 0 kg m^2 at least') == 1
    assert 'There is no plan from where the arm is, and it stays there' in said


@pytest.mark.slow
def test_readings_that_would_be_a_fault_of_tracking_are_refused_at_start():
    said = refused('-p', 'builtin_sim_bridge:readings:=described', '--lockstep')
    assert said.count('readings is described, and sampling is ideal: a velocity of A') == 1


def refused(*options):
    """What a run of the LBR says that refuses its settings."""
    line = [sys.executable, '-m', 'safe_sysid.cli.main', 'run', 'builtin_sim']
    line += ['--robot', 'lbr_med7', '--once', *options]
    done = subprocess.run(
        line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 2, done.stdout
    assert 'File "' not in done.stdout and 'started again' not in done.stdout
    return done.stdout
