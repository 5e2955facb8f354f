"""Rigid bodies are called rigid, what sloshes, swings or flexes is not, and why."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.api.arms import load_arm
from safe_sysid.api.payload import identify_payload
from safe_sysid.api.simulated_recording import write_recording
from safe_sysid.bench.experiments.changing_payload import ROWS, random_motion
from safe_sysid.bench.experiments.sloshing_payload import judged, outward, recorded_motion
from safe_sysid.identify.change.impulse_noise import impulse_covariance, sensor_variance
from safe_sysid.identify.change.rigidity import (
    BAND,
    LAGS,
    TOGETHER,
    UnmodelledTorque,
    WindowRows,
    rigidity,
    substituted,
)
from safe_sysid.identify.change.shared_posterior import SharedPosterior
from safe_sysid.identify.held_object import RecordedObject, torque_of_force
from safe_sysid.identify.observation import Observation, stacked
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.dynamics.forward_kinematics import joint_frames, tip_jacobian
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.excited_motion import fourier_motion
from safe_sysid.simulate.mujoco import Swinging

JOINTS, WINDOWS, LENGTH, SAMPLES = 5, 60, 0.05, 50
NOISE = UnmodelledTorque(0.3, 0.05)
SPANS = [(i * LENGTH, (i + 1) * LENGTH) for i in range(WINDOWS)]


def belief():
    """Ten entries of a body and four of an arm; gains that may be off by 2 %."""
    unit = Interval(-np.ones(10), np.ones(10))
    return SharedPosterior.before(unit, unit[:4], np.full(JOINTS, 0.02))


def synthetic(rng, tone=0.0, frequency=2.0, louder=1.0):
    """Rows whose errors are as is said, or so many times larger, and a pull at the hand."""
    believed = belief()
    x = rng.normal(size=len(believed.mean))
    colour = np.linalg.cholesky(impulse_covariance(SPANS, NOISE.deviation, NOISE.memory))
    lasting = colour @ rng.normal(size=(WINDOWS, JOINTS))
    phase, way = rng.uniform(0, 6), rng.normal(size=3)
    windows = []
    for i, (start, end) in enumerate(SPANS):
        slow = np.sin(0.3 * np.arange(JOINTS * 14).reshape(JOINTS, 14) * (1 + start))
        pushes = LENGTH * np.column_stack([np.eye(JOINTS)[:, :2], slow[:, 0]])
        delta = np.full(JOINTS, 0.1 * LENGTH)
        rows = Observation(
            LENGTH * slow[:, :10],
            LENGTH * slow[:, 10:],
            np.zeros(JOINTS),
            delta,
            np.arange(JOINTS),
            np.full(JOINTS, start),
            np.full(JOINTS, end),
        )
        noise = np.sqrt(sensor_variance(rows, SAMPLES)) * rng.normal(size=JOINTS) + lasting[i]
        noise *= louder
        clean = (rows.Y_e @ x[:10] + rows.Y_r @ x[10:14]) / (1.0 + 0.02 * x[14:])
        pull = tone * way / np.linalg.norm(way)
        swing = pushes @ pull * np.sqrt(2.0) * np.sin(2 * np.pi * frequency * start + phase)
        windows.append(WindowRows(replace(rows, b=clean + swing + noise), pushes))
    return windows


def found_in(windows):
    found = rigidity(windows, belief(), SAMPLES, NOISE)
    assert found is not None
    return found


def by_definition(windows):
    """Excess, correlation, and of each tone what it gains, its force and the least information."""
    before, rows = belief(), stacked([each.rows for each in windows])
    number = np.repeat(np.arange(len(windows)), JOINTS)
    shared = impulse_covariance(SPANS, NOISE.deviation, NOISE.memory)
    H = before.row_matrix(rows)
    S = H @ before.covariance @ H.T + np.diag(sensor_variance(rows, SAMPLES))
    S += np.where(rows.joint[:, None] == rows.joint, shared[np.ix_(number, number)], 0.0)
    half = np.linalg.inv(np.linalg.cholesky(S))
    e, P = half @ (rows.b - H @ before.mean), np.zeros((len(rows), len(windows), 3))
    P[np.arange(len(rows)), number] = np.concatenate([each.pushes for each in windows])
    Q, R = np.linalg.qr(half @ P.reshape(len(rows), -1))
    left, series = e - Q @ (Q.T @ e), (Q.T @ e * np.sign(np.diag(R))).reshape(-1, 3)
    excess = max(1.0, left @ left / (len(rows) - Q.shape[1]))
    lags = [
        (series[k:] * series[:-k]).sum(axis=0) ** 2 / (WINDOWS - k) for k in range(1, LAGS + 1)
    ]
    middle = np.mean(SPANS, axis=1)
    tones = []
    for frequency in np.arange(*BAND, 0.5 / (middle[-1] - middle[0])):
        angle = 2 * np.pi * frequency * middle[:, None]
        shapes = (np.cos(angle), np.sin(angle))
        D = half @ np.hstack([(P * shape).sum(axis=1) for shape in shapes])
        force = np.linalg.lstsq(D, e, rcond=None)[0]
        tones.append((D @ force @ e / excess, frequency, np.sqrt(force @ force / 2)))
    return excess, np.sum(lags) / excess**2, max(tones, key=lambda tone: tone[0])


def test_figures_are_those_of_their_definitions(rng):
    """To rounding: whitened rows, a fit of each tone alone, correlations of each lag."""
    for tone in (0.0, 3.0):
        windows = synthetic(rng, tone=tone)
        found = found_in(windows)
        excess, ljung_box, (statistic, frequency, force) = by_definition(windows)
        assert found.excess == pytest.approx(excess, rel=1e-9)
        assert found.ljung_box == pytest.approx(ljung_box, rel=1e-9)
        assert (found.tone, found.frequency) == pytest.approx((statistic, frequency), rel=1e-9)
        assert found.force == pytest.approx(force, rel=1e-9)


def test_figures_of_rigid_bodies_are_those_of_the_distributions(rng):
    """Chi squared: the sum over lags has a mean of 30, and no alarm comes in 24."""
    found = [found_in(synthetic(rng)) for _ in range(24)]
    assert not any(each.rejects for each in found)
    assert np.mean([each.ljung_box for each in found]) == pytest.approx(30.0, abs=5.0)
    loudest = np.array([each.tone for each in found])
    assert 10.0 < np.median(loudest) < 22.0  # of some forty frequencies with 6 degrees of freedom
    assert np.mean([each.excess for each in found]) == pytest.approx(1.0, abs=0.1)


def test_a_tone_at_the_hand_is_found_with_its_frequency_and_force(rng):
    for frequency in (1.6, 3.0, 6.0):
        found = found_in(synthetic(rng, tone=1.0, frequency=frequency))
        assert found.rejects
        assert found.frequency == pytest.approx(frequency, abs=0.2)
        assert found.force == pytest.approx(1.0, rel=0.3)
        assert 'NOT RIGID' in str(found)
        assert '--slosh-force' in found.refusal


def test_what_would_have_been_seen_is_said_and_is_seen(rng):
    seen_from = found_in(synthetic(rng)).seen_from
    assert f'{seen_from:.2g} N' in str(found_in(synthetic(rng))) or seen_from > 0.0
    assert found_in(synthetic(rng, tone=2.0 * seen_from)).rejects
    assert not found_in(synthetic(rng, tone=0.1 * seen_from)).rejects


def test_an_arm_that_is_known_less_well_than_was_said_is_no_liquid(rng):
    """Rows that no force at the hand moves are as wrong as the others: neither test rejects."""
    found = [found_in(synthetic(rng, louder=4.0)) for _ in range(5)]
    assert min(each.excess for each in found) > 4.0
    assert all(each.tone < each.tone_threshold for each in found)
    assert all(each.ljung_box < each.ljung_box_threshold for each in found)


def test_a_gap_of_hours_asks_for_no_finer_frequencies(rng):
    whole = found_in(windows := synthetic(rng, tone=2.0))
    late = [
        replace(
            each,
            rows=replace(
                each.rows,
                start=each.rows.start + 43_200.0 * (i > 20),
                end=each.rows.end + 43_200.0 * (i > 20),
            ),
        )
        for i, each in enumerate(windows)
    ]
    tones = found_in(late).tone_threshold  # grows with their number
    assert tones == pytest.approx(whole.tone_threshold, rel=0.02)


def test_too_few_windows_say_nothing(rng):
    assert rigidity(synthetic(rng)[:20], belief(), SAMPLES, NOISE) is None


def test_an_arm_of_two_joints_cannot_tell(rng):
    """Whatever it does is explained by a force at its tip."""
    few = [WindowRows(each.rows.rows(slice(0, 2)), each.pushes[:2]) for each in synthetic(rng)]
    assert rigidity(few, belief(), SAMPLES, NOISE) is None


@pytest.mark.slow
@pytest.mark.parametrize('robot', ['kinova_gen3', 'ur5e'])
def test_payloads_in_mujoco_that_swing_are_found_and_rigid_ones_are_not(robot):
    """The plant is MuJoCo's; a rigid body of the same mass is the null."""
    pytest.importorskip('mujoco')
    place = tuple(outward(RobotModel.named(robot)))
    for number, swinging in enumerate([
        Swinging(0.5, 2.0, place),
        Swinging(0.5, 3.0, place, pendulum=False),
    ]):  # fmt: skip
        rng = np.random.default_rng([7, number])
        found = judged(recorded_motion(rng, robot, 8.0, 0.1, swinging), 0.1)
        assert found.rejects, str(found)
        assert found.frequency == pytest.approx(swinging.frequency, abs=0.5)
        rng = np.random.default_rng([7, number])
        rigid = judged(recorded_motion(rng, robot, 8.0, 0.1, None, mass=1.5), 0.1)
        assert not rigid.rejects, str(rigid)


@pytest.mark.slow
def test_rigid_payloads_of_all_kinds_raise_no_alarm():
    for seed in range(6):
        robot = ('kinova_gen3', 'lbr_med7', 'ur5e')[seed % 3]
        motion = random_motion(np.random.default_rng(seed), robot, 8.0, 0.3)
        recorded = RecordedObject(motion.truth, motion.prior, ROWS, motion.log(0), 0.3)
        found = recorded.rigidity()
        assert not found.rejects, (seed, str(found))


def test_the_torque_of_a_force_on_the_object_is_bounded(rng):
    """By virtual work: poses of the recording and those between, points anywhere within reach."""
    model, reach, force = RobotModel.named('kinova_gen3'), 0.3, 4.0
    motion = fourier_motion(rng, model.n, 2.0, 0.01)
    q = motion.q[0] + 0.01 * (motion.q - motion.q[0])
    log = JointLog(motion.stamp, q, 0.01 * motion.qd, np.zeros_like(q))
    bound, largest = torque_of_force(model, log, reach, force), np.zeros(model.n)
    for _ in range(150):
        k, share = rng.integers(len(motion.t) - 1), rng.uniform()
        pose = q[k] + share * (q[k + 1] - q[k])
        point, pull = (x / np.linalg.norm(x) for x in rng.normal(size=(2, 3)))
        point = reach * rng.uniform(0.8, 1.0) * point

        def place(q, point=point):
            frames, origins = joint_frames(model, q)
            return origins[model.layout.tip] + frames[model.layout.tip] @ point

        steps = 1e-6 * np.eye(model.n)
        moved = [(place(pose + step) - place(pose - step)) / 2e-6 for step in steps]
        largest = np.maximum(largest, np.abs(np.array(moved) @ (force * pull)))
    assert np.all(largest < bound)
    assert np.all(largest > 0.6 * bound)


@pytest.mark.slow
def test_bounds_hold_for_the_rigid_body_beside_a_pull_that_was_promised(tmp_path):
    """The pull turns as a pendulum's does; without the promise there are no bounds."""
    arm = load_arm('kinova_gen3')
    motion = random_motion(np.random.default_rng(5), 'kinova_gen3', 10.0, 0.05)
    phase = 2.0 * np.pi * 2.0 * motion.motion.t
    pull = 1.5 * np.stack([np.sin(phase), np.cos(phase), 0.0 * phase], axis=1)
    jacobians = np.array([tip_jacobian(motion.truth, q)[:3] for q in motion.motion.q])
    torque = motion.torque + np.einsum('tij,ti->tj', jacobians, pull)
    path = tmp_path / 'pulled.csv'
    states = motion.motion.q, motion.motion.qd, torque
    write_recording(path, motion.truth, motion.motion.t, states)
    known = RecordingSettings(
        known_links=(0.05, 0.0),
        known_friction=0.05,
        torque_ratio=(0.0,),
        torque_error=(0.5,),
        position_error=(0.0,),
        velocity_error=(0.0,),
        payload_mass=6.0,
        payload_reach=0.35,
        unmodelled_torque=0.1,
    )
    alone = identify_payload(path, arm, known)
    assert 'NOT RIGID' in alone.refused
    promised = identify_payload(path, arm, replace(known, slosh_force=1.6))
    truth = motion.truth.theta[motion.truth.layout.end_effector]
    assert promised.refused is None
    assert promised.recorded.found.bounds.contains(truth)
    assert not promised.as_dict()['object']['rigid']


@pytest.mark.parametrize('size', [1, TOGETHER - 1, TOGETHER, 2 * TOGETHER + 3])
def test_blocks_of_a_triangle_are_substituted_as_the_whole(rng, size):
    known = rng.normal(size=(size, 5))
    S = rng.normal(size=(size, 2 * size))
    factor = np.linalg.cholesky(S @ S.T)
    found = substituted(factor, factor @ known)
    np.testing.assert_allclose(found, known, rtol=0.0, atol=1e-9)
