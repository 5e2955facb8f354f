"""What a driver does wrong is named, with its figure; a driver as stated gets no complaint."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pinocchio as pin
import pytest
import yaml

from safe_sysid.calibrate.commission_finding import Agreement
from safe_sysid.calibrate.commissioned_velocity import velocity_seen
from safe_sysid.calibrate.commissioning import commissioned, smallest_step, standing
from safe_sysid.cli.main import main
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.recording import Samples, recording_of
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.signal_facts import VelocityFacts

MODEL = RobotModel.named('kinova_gen3')
NAMES = MODEL.layout.joint_names
PERIOD, POSES, STAY, GO = 0.002, 4, 2.0, 1.5  # [s]
FIRST = np.array([0.0, 0.3, 0.0, 1.2, 0.0, 0.9, 0.0])


def driver(
    rng,
    *,
    sign=1.0,
    scale=1.0,
    gravity=True,
    noise=0.05,
    period=PERIOD,
    step=None,
    lag=0,
    poses=POSES,
):
    """Recording of an empty arm that goes from pose to pose."""
    places = [FIRST, *(FIRST + rng.uniform(-0.6, 0.6, size=(poses - 1, 7)))]
    q = [np.tile(FIRST, (round(STAY / period), 1))]
    for start, goal in pairwise(places):
        s = np.linspace(0.0, 1.0, round(GO / period))[:, None]
        q += [start + (10 * s**3 - 15 * s**4 + 6 * s**5) * (goal - start)]
        q += [np.tile(goal, (round(STAY / period), 1))]
    q = np.concatenate(q)
    step = MODEL.sensors.encoder_resolution if step is None else step
    position = np.round(q / step) * step
    slope = np.vstack([np.zeros(7), np.diff(position, axis=0) / period])
    velocity = np.vstack([np.zeros((lag, 7)), slope[: len(slope) - lag]])
    arm = MODEL.pinocchio()
    data = arm.createData()
    weight = np.array([pin.computeGeneralizedGravity(arm, data, x).copy() for x in q])
    torque = weight if gravity else np.zeros_like(weight)
    effort = sign * scale * torque + noise * rng.uniform(-1.0, 1.0, size=weight.shape)
    stamp = np.arange(len(q)) * round(period * 1e9)
    return recording_of('a driver', NAMES, Samples(stamp, position, velocity, effort), ())


def found(recording, what):
    """Agreements of the findings whose name begins so, by joint or for all."""
    looked = commissioned(MODEL, recording, PERIOD)
    return looked, [f for f in looked.findings if f.what.startswith(what)]


def test_a_driver_as_it_is_stated_gets_no_complaint(rng):
    looked = commissioned(MODEL, driver(rng, noise=0.02), PERIOD)
    assert not looked.differs, [str(f) for f in looked.findings]
    assert looked.joints == {}
    assert looked.torque == {}
    assert len(standing(driver(rng))) == POSES


@pytest.mark.parametrize('wrong', [{'sign': -1.0}, {'scale': 10.0}, {'gravity': False}], ids=str)
def test_sign_scale_and_missing_gravity_are_told_apart(rng, wrong):
    looked, gravity = found(driver(rng, **wrong), 'gravity')
    said = {f.what.removeprefix('gravity on '): f for f in gravity}
    assert said['joint_2'].agreement is Agreement.DIFFERS
    if 'sign' in wrong:
        assert 'counted against the axis' in said['joint_2'].said
        assert looked.joints['joint_2'] == {'effort_sign': -1}
    elif 'scale' in wrong:
        assert 'another unit' in said['joint_2'].said
        assert looked.joints['joint_2']['effort_scale'] == pytest.approx(0.1, rel=0.02)
    else:
        assert 'gravity is not in it' in said['joint_2'].said
        assert looked.joints == {}
        assert looked.effort == {'gravity_included': False}


@pytest.mark.parametrize('scale', [0.1, -0.02])
def test_currents_that_follow_the_weight_are_a_unit(rng, scale):
    looked, gravity = found(driver(rng, scale=scale, noise=0.02, poses=8), 'gravity')
    said = {f.what.removeprefix('gravity on '): f.said for f in gravity}
    assert 'another unit, such as a current' in said['joint_2']
    assert looked.effort == {}
    proposed = looked.joints['joint_2']
    assert proposed['effort_scale'] == pytest.approx(1.0 / abs(scale), rel=0.02)
    assert proposed.get('effort_sign', 1) == np.sign(scale)


def test_a_single_pose_tells_no_current_from_efforts_without_gravity(rng):
    looked, gravity = found(driver(rng, scale=0.1, poses=1), 'gravity')
    assert (looked.effort, looked.joints) == ({}, {})
    said = {f.what.removeprefix('gravity on '): f.said for f in gravity}
    assert 'in another unit, such as a current; 1 poses do not tell' in said['joint_2']


@pytest.mark.parametrize('sign', [-1.0, 0.0, 1.0])
def test_gravity_agrees_only_where_no_effort_or_the_other_sign_would_not(rng, sign):
    """Wrists weigh less than the errors and friction that are allowed there."""
    _, gravity = found(driver(rng, scale=sign, noise=0.0), 'gravity')
    agree = {f.what for f in gravity if f.agreement is Agreement.AGREES}
    assert ('gravity on joint_2' in agree) == (sign == 1.0)
    assert len(agree) == 0 or sign == 1.0, agree
    assert any('too little to tell' in f.said for f in gravity)


def test_noise_beyond_what_is_stated_is_proposed(rng):
    looked, _ = found(driver(rng, noise=1.0), 'torque of')
    assert looked.differs
    assert looked.torque['absolute'][0] == pytest.approx(1.0, abs=0.05)


def test_coarser_encoders_and_another_rate_are_told(rng):
    coarse = np.full(7, 1e-3)
    looked, encoders = found(driver(rng, step=coarse), 'encoder')
    assert [f.agreement for f in encoders] == [Agreement.DIFFERS] * 7
    assert looked.joints['joint_1']['encoder_resolution'] == 1e-3
    _, (rate,) = found(driver(rng, period=0.005), 'rate')
    assert rate.agreement is Agreement.DIFFERS
    assert 'one per 5 ms' in rate.said


@pytest.mark.parametrize('lag', [0, 3])
def test_what_velocities_are_is_told(rng, lag):
    _, (velocity,) = found(driver(rng, lag=lag), 'velocity')
    assert f'positions 1 samples apart, {lag} samples late' in velocity.said


@pytest.mark.parametrize(
    ('told', 'words'),
    [
        (np.degrees, 'joint_7 57.3 times that: another unit'),
        (lambda v: v * [1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 'joint_2 -1 times that'),
        (lambda v: np.roll(v, 250, axis=0), 'nothing like the slope of positions'),
    ],
)  # fmt: skip
def test_velocities_that_are_none_differ_whatever_is_stated(rng, told, words):
    said = driver(rng)
    _, (velocity,) = found(replace(said, velocity=told(said.velocity)), 'velocity')
    assert velocity.agreement is Agreement.DIFFERS
    assert words in velocity.said


def test_a_velocity_at_the_time_of_its_positions_is_not_called_late():
    said, exact = (
        driver(np.random.default_rng(4), step=np.full(7, step)) for step in (1e-4, 1e-12)
    )
    smooth = exact.velocity
    middle = 0.5 * (smooth + np.roll(smooth, -1, axis=0))
    _, (velocity,) = found(replace(said, velocity=middle), 'velocity')
    assert velocity.said.startswith('a signal of its own, at the time of the positions')


@pytest.mark.parametrize(
    ('facts', 'lag', 'agreement'),
    [
        (VelocityFacts(), 0, Agreement.AGREES),
        (VelocityFacts(samples=2), 0, Agreement.DIFFERS),
        (VelocityFacts(), 4, Agreement.DIFFERS),
        (VelocityFacts(lag=0.01), 4, Agreement.AGREES),
        (VelocityFacts(source='driver'), 4, Agreement.DIFFERS),
        (VelocityFacts(source='driver', lag=0.01), 4, Agreement.AGREES),
        (None, 0, Agreement.NEW),
    ],
)
def test_velocities_are_compared_with_what_is_stated(rng, facts, lag, agreement):
    seen = velocity_seen(driver(rng, lag=lag))
    assert seen.agreement(facts) is agreement


def test_steps_are_found_or_not(rng):
    assert smallest_step(0.25 * rng.integers(0, 100, size=500)) == pytest.approx(0.25)
    assert smallest_step(rng.normal(size=500)) is None
    assert smallest_step(np.zeros(500)) is None


def test_an_arm_that_never_stands_cannot_be_compared(rng):
    still = driver(rng)
    ramp = np.linspace(0.0, 5.0, len(still))[:, None] + np.zeros((1, 7))
    with pytest.raises(MeasurementError, match='the arm never stands for'):
        commissioned(MODEL, replace(still, position=ramp), PERIOD)


def test_the_command_writes_a_proposal(rng, tmp_path, capsys):
    recording = driver(rng, sign=-1.0)
    table = np.column_stack(
        [recording.seconds(), recording.position, recording.velocity, recording.effort]
    )
    kinds = ('position', 'velocity', 'effort')
    header = ','.join(['time', *(f'{kind}_{name}' for kind in kinds for name in NAMES)])
    path, proposal = tmp_path / 'rest.csv', tmp_path / 'proposal.yaml'
    np.savetxt(path, table, delimiter=',', header=header, comments='')
    line = ['commission', str(path), '--robot', 'kinova_gen3', '--period', str(PERIOD)]
    assert main([*line, '--proposal', str(proposal)]) == 1
    assert 'counted against the axis' in capsys.readouterr().out
    assert yaml.safe_load(proposal.read_text())['joints']['joint_2'] == {'effort_sign': -1}
