"""A driver that is not ours, of an arm that is held and moved: what it does is named."""

from dataclasses import replace
from itertools import pairwise
import os
import subprocess
import sys

from integration.driven_kinova import ROBOT, TOOL, loaded
import numpy as np
import pytest
import yaml

from safe_sysid.calibrate.commission_finding import Agreement
from safe_sysid.calibrate.commissioning import commissioned
from safe_sysid.cli.main import main
from safe_sysid.measure.bag.driver_words import DriverWords
from safe_sysid.measure.recording import Samples, recording_of
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.worker import die_with_parent

pytest.importorskip('mujoco', reason='MuJoCo is an extra')
MODEL = RobotModel.named(ROBOT)
NAMES = MODEL.layout.joint_names
PERIOD = 0.002  # [s]
FIRST = np.array([0.0, 0.6, 0.0, 1.2, 0.0, 0.9, 0.0])
STAY, GO = 2.0, 1.0  # [s]
ENCODER = MODEL.sensors.encoder_resolution.tolist()


def heard(rng, **habits):
    """What is heard of a driver while somebody holds and moves the empty arm by torques."""
    arms, drivers = loaded('arm'), loaded('driver')
    facts = arms.facts_of(ROBOT)
    said = drivers.Habits(period=PERIOD, encoder=ENCODER, noise=0.04, **habits)
    arm, bare = arms.Arm(facts, FIRST), arms.Arm(replace(facts), FIRST)
    driver = drivers.Driver(arm, facts.joints, said, bare)
    places = [FIRST, *(FIRST + rng.uniform(-0.5, 0.5, size=(3, 7)))]
    way = [np.tile(FIRST, (round(STAY / PERIOD), 1))]
    s = np.linspace(0.0, 1.0, round(GO / PERIOD))[:, None]
    for start, goal in pairwise(places):
        way += [start + (10 * s**3 - 15 * s**4 + 6 * s**5) * (goal - start)]
        way += [np.tile(goal, (round(STAY / PERIOD), 1))]
    rows, told = [], []
    way = np.concatenate(way)
    for q_d, qd_d in zip(way, np.gradient(way, PERIOD, axis=0), strict=True):
        names, *columns = driver.state()
        rows.append([driver.stamp, *([c[names.index(n)] for n in facts.joints] for c in columns)])
        pull = 400.0 * (q_d - arm.q) + 40.0 * (qd_d - arm.qd)
        torque = np.array(facts.armature) * pull + np.array(facts.viscous) * qd_d
        weight = 0.0 if habits.get('adds_gravity') else arm.gravity()
        told.append(habits.get('sign', 1) * (torque + weight))
        driver.command(told[-1])
        driver.tick()
    stamp, position, velocity, effort = (np.array(column) for column in zip(*rows, strict=True))
    recording = recording_of('a driver', NAMES, Samples(stamp, position, velocity, effort), ())
    return recording, DriverWords(stamp, 1e-9 * stamp, 1e-9 * stamp, np.array(told))


def looked_at(rng, **habits):
    recording, words = heard(rng, **habits)
    found = commissioned(MODEL, recording, PERIOD, words)
    return found, {finding.what: finding for finding in found.findings}


@pytest.mark.slow
def test_a_driver_as_it_is_stated_gets_no_complaint(rng):
    found, said = looked_at(rng)
    assert not found.differs, [str(finding) for finding in found.findings]
    assert said['delay of commands'].agreement is Agreement.AGREES
    assert (found.joints, found.torque, found.delay) == ({}, {}, None)
    assert (found.command, found.effort) == ({}, {})


@pytest.mark.slow
def test_one_joint_that_counts_the_other_way_is_told_from_the_rest(rng):
    found, said = looked_at(rng, current=[1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert 'counted against the axis' in said['gravity on joint_2'].said
    assert found.joints == {'joint_2': {'effort_sign': -1}}


@pytest.mark.slow
def test_efforts_a_tenth_too_large_propose_a_scale(rng):
    found, said = looked_at(rng, current=1.1)
    assert 'in every pose: its unit, or all masses' in said['gravity on joint_4'].said
    assert found.joints['joint_4']['effort_scale'] == pytest.approx(1.0 / 1.1, rel=0.01)


@pytest.mark.slow
def test_efforts_without_gravity_are_proposed_as_such(rng):
    found, said = looked_at(rng, weightless=True)
    assert 'gravity is not in it' in said['gravity on joint_4'].said
    assert found.effort == {'gravity_included': False}


@pytest.mark.parametrize('ticks', [pytest.param(1, marks=pytest.mark.slow), 5])
def test_commands_that_act_late_are_measured(rng, ticks):
    found, said = looked_at(rng, delay=ticks)
    measured = float(said['delay of commands'].said.split()[3])
    assert abs(measured - 2.0 * (ticks + 1)) < 1.0  # [ms], as they are reported a tick later
    is_more = ticks == 5
    assert (said['delay of commands'].agreement is Agreement.DIFFERS) == is_more
    assert (found.delay is not None) == is_more


@pytest.mark.slow
@pytest.mark.parametrize('habit', [{'adds_gravity': True}, {'sign': -1}], ids=str)
def test_what_commands_mean_is_measured(rng, habit):
    found, _ = looked_at(rng, **habit)
    if 'sign' in habit:
        assert found.command == {'sign': [-1] * 7}
    else:
        assert found.command == {'adds_gravity': True}


@pytest.mark.slow
def test_the_command_listens_to_a_driver_that_runs(tmp_path, monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', os.environ.get('ROS_DOMAIN_ID', '31'))
    words = [f'robot={ROBOT}', f'period={PERIOD}', f'start={FIRST.tolist()}']
    words += ['current=[1,-1,1,1,1,1,1]', f'encoder={ENCODER}']
    bag, proposal = tmp_path / 'bag', tmp_path / 'proposal.yaml'
    line = ['commission', '--robot', ROBOT, '--period', str(PERIOD), '--seconds', '2']
    driver = subprocess.Popen([sys.executable, str(TOOL), *words], preexec_fn=die_with_parent)
    try:
        assert main([*line, '--record', str(bag), '--proposal', str(proposal)]) == 1
    finally:
        driver.kill()
        driver.wait()
    said = yaml.safe_load(proposal.read_text())
    assert said['joints'] == {'joint_2': {'effort_sign': -1}}
    assert main(['commission', str(bag), *line[1:]]) == 1  # the same once more, of the bag


def test_without_a_driver_nothing_is_waited_for_in_vain(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr('importlib.util.find_spec', lambda _: None)
    assert main(['commission', '--robot', ROBOT, '--record', str(tmp_path / 'bag')]) == 2
    assert 'rclpy is not installed' in capsys.readouterr().err
