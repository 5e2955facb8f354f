"""Geometry comes back from noiseless poses, the rank is that of theory, the gauge stays put."""

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.bench.calibrate import misbuilt
from safe_sysid.calibrate import kinematic_fit as kinematics
from safe_sysid.calibrate.fitted_geometry import fitted_geometry
from safe_sysid.calibrate.kinematic_fit import (
    Marker,
    TipPoses,
    exponential,
    kinematic_fit,
    logarithm,
    seen_poses,
    tip_poses,
)
from safe_sysid.calibrate.settings import PoseNoise
from safe_sysid.errors import MeasurementError
from safe_sysid.model.arm import arm_of
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.rotation import roll_pitch_yaw

MED = RobotModel.named('lbr_med7')
START = Marker(np.eye(3), np.array([0.05, 0.02, 0.1]))


def positions(model, rng, count):
    lower = np.maximum(model.limits.position_lower, -np.pi)
    upper = np.minimum(model.limits.position_upper, np.pi)
    return rng.uniform(lower, upper, (count, model.n))


def measured(truth, marker, q, kind):
    R, p = tip_poses(truth, q, marker)
    return TipPoses(q, p, R if kind == 'poses' else None)


@pytest.mark.parametrize(('kind', 'rank'), [('poses', 34), ('points', 31)])
def test_rank_and_recovery_of_a_misbuilt_arm(kind, rank, rng):
    truth, marker = misbuilt(MED, rng)
    fit = kinematic_fit(
        MED, measured(truth, marker, positions(MED, rng, 60), kind), PoseNoise(), START
    )
    assert (fit.rank, fit.unknowns) == (rank, 62)
    assert fit.gap > 1e6
    q = positions(MED, rng, 200)
    R, p = tip_poses(truth, q, marker)
    R_found, p_found = seen_poses(fit, q)
    before = np.linalg.norm(tip_poses(MED, q, START)[1] - p, axis=1).max()
    assert before > 1e-3
    assert np.linalg.norm(p_found - p, axis=1).max() < 1e-9
    if kind == 'poses':
        assert np.abs(R_found - R).max() < 1e-9


def test_the_frame_of_the_measurements_may_be_anywhere(rng):
    truth, marker = misbuilt(MED, rng)
    q = positions(MED, rng, 60)
    R, p = tip_poses(truth, q, marker)
    turn, shift = exponential(np.array([0.3, 1.0, -2.0])), np.array([1.0, 2.0, 0.3])
    fit = kinematic_fit(MED, TipPoses(q, p @ turn.T + shift, turn @ R), PoseNoise(), START)
    p = seen_poses(fit, q)[1]
    assert np.abs(p - (tip_poses(truth, q, marker)[1] @ turn.T + shift)).max() < 1e-9


@pytest.mark.parametrize('robot', ['lbr_med7', 'ur5e', 'two_link'])
def test_an_exact_arm_stays_as_it_is_wherever_frame_and_marker_are(robot, rng):
    model = RobotModel.named(robot)
    turn, shift = exponential(np.array([np.pi - 0.1, 0.2, 0.1])), np.array([0.4, -1.0, 1.5])
    marker = Marker(exponential(rng.normal(size=3)), np.array([0.03, -0.08, 0.1]))
    q = positions(model, rng, 60)
    R, p = tip_poses(model, q, marker)
    fit = kinematic_fit(model, TipPoses(q, p @ turn.T + shift, turn @ R), PoseNoise())
    for name in ('R_parent_joint', 'p_parent_joint', 'axis'):
        assert getattr(fit.model.tree, name) == pytest.approx(
            getattr(model.tree, name), abs=1e-8
        ), name
    assert fit.frame.R @ turn == pytest.approx(np.eye(3), abs=1e-8)
    across = [0, 2] if robot == 'two_link' else [0, 1, 2]  # along parallel axes it may slide
    assert fit.marker.p[across] == pytest.approx(marker.p[across], abs=1e-8)
    assert fit.frame.p[across] == pytest.approx((-turn.T @ shift)[across], abs=1e-8)


def test_errors_of_the_first_joint_are_those_of_the_frame(rng):
    truth, marker = misbuilt(MED, rng)
    q = positions(MED, rng, 60)
    fit = kinematic_fit(MED, measured(truth, marker, q, 'poses'), PoseNoise(), START)
    assert (fit.model.tree.R_parent_joint[0] == MED.tree.R_parent_joint[0]).all()
    assert (fit.model.tree.p_parent_joint[0] == MED.tree.p_parent_joint[0]).all()
    assert (fit.model.tree.axis[0] == MED.tree.axis[0]).all()
    assert 1e-4 < np.linalg.norm(fit.frame.p) < 5e-3
    assert 1e-4 < np.linalg.norm(logarithm(fit.frame.R)) < 1e-2


def test_of_steps_that_change_no_pose_the_arm_takes_none(rng):
    """What frame and marker can take, they take."""
    truth, marker = misbuilt(MED, rng)
    poses = measured(truth, marker, positions(MED, rng, 60), 'poses')
    steps, least = [], kinematics._least_change

    def noted(step, gauge):
        steps.append((least(step, gauge), gauge))
        return steps[-1][0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinematics, '_least_change', noted)
        kinematic_fit(MED, poses, PoseNoise(), START)
    step, gauge = next(each for each in steps if len(each[0]) > 12)  # the first of the whole arm
    assert np.linalg.norm(step[6:-6]) > 1e-4
    assert np.abs(gauge[6:-6].T @ step[6:-6]).max() < 1e-9
    assert np.abs(gauge.T @ step).max() > 1e-4  # so it is not the shortest step


def test_noise_ends_up_where_the_deviation_says(rng):
    truth, marker = misbuilt(MED, rng)
    q = positions(MED, rng, 100)
    R, p = tip_poses(truth, q, marker)
    p_seen = p + 1e-4 * rng.normal(size=p.shape)
    R_seen = np.array([r @ exponential(1e-3 * rng.normal(size=3)) for r in R])
    fit = kinematic_fit(MED, TipPoses(q, p_seen, R_seen), PoseNoise(1e-4, 1e-3), START)
    off = (seen_poses(fit, q)[1] - p) / fit.deviation
    assert 0.5 < np.sqrt(np.mean(off**2)) < 1.6
    assert fit.position_rms == pytest.approx(1e-4 * np.sqrt(3), rel=0.15)
    assert fit.rotation_rms == pytest.approx(1e-3 * np.sqrt(3), rel=0.15)


@pytest.mark.parametrize('robot', ['lbr_med7', 'two_link'])
@pytest.mark.parametrize('kind', slow_after(1, ['poses', 'points']))
def test_jacobian_is_that_of_differences(robot, kind, rng):
    model = RobotModel.named(robot)
    chain = kinematics.chain_to(model.tree, model.layout.tip)
    truth, marker = misbuilt(model, rng)
    poses = measured(truth, marker, positions(model, rng, 4), kind)
    problem = (chain, PoseNoise(1.0, 1.0))
    _, J = kinematics._linearised(model, poses, START, problem)
    for k in range(J.shape[1]):
        ends = []
        for h in (1e-6, -1e-6):
            step = np.zeros(J.shape[1])
            step[k] = h
            moved, place = kinematics._moved(model, START, chain, step)
            ends.append(kinematics._linearised(moved, poses, place, problem)[0])
        assert J[:, k] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=2e-8)


def test_gauge_directions_are_left_alone(rng):
    q = positions(MED, rng, 60)
    fit = kinematic_fit(MED, measured(MED, START, q, 'poses'), PoseNoise(), START)
    assert fit.model.tree.R_parent_joint == pytest.approx(MED.tree.R_parent_joint, abs=1e-9)
    assert fit.model.tree.p_parent_joint == pytest.approx(MED.tree.p_parent_joint, abs=1e-9)
    assert fit.model.tree.axis == pytest.approx(MED.tree.axis, abs=1e-9)


def test_a_marker_on_the_last_axis_hides_the_last_joint(rng):
    on_axis = Marker(np.eye(3), np.array([0.0, 0.0, 0.1]))
    fit = kinematic_fit(
        MED, measured(MED, on_axis, positions(MED, rng, 60), 'points'), PoseNoise(), on_axis
    )
    assert fit.rank < 31


def test_logarithm_undoes_the_exponential_up_to_half_a_turn(rng):
    for _ in range(200):
        w = rng.normal(size=3)
        w *= rng.choice([1e-9, 1e-4, 1.0, 3.0, np.pi - 1e-9]) / np.linalg.norm(w)
        back = logarithm(exponential(w))
        assert min(np.abs(back - w).max(), np.abs(back + w).max()) < 1e-6


def test_too_few_poses_are_refused(rng):
    q = positions(MED, rng, 10)
    with pytest.raises(MeasurementError, match='11 poses or more are needed for 62 unknowns'):
        kinematic_fit(MED, measured(MED, START, q, 'poses'), PoseNoise(), START)
    with pytest.raises(MeasurementError, match='60 joint positions need as many'):
        TipPoses(positions(MED, rng, 60), np.zeros((59, 3)), None)


def test_the_marker_is_found_in_the_frame_of_the_link_that_it_is_on(rng):
    arm = arm_of('kinova_gen3', None)
    link = arm.model.frames['wrist_camera_link']
    assert np.abs(link.R - np.eye(3)).max() > 0.5
    R, p = exponential(rng.normal(size=3)), np.array([0.02, 0.05, 0.1])
    marker = Marker(link.R @ R, link.p + link.R @ p)
    q = rng.uniform(-2.0, 2.0, (40, 7))
    seen = TipPoses(q, *reversed(tip_poses(arm.model, q, marker)))
    figures = fitted_geometry(arm, seen, PoseNoise(), 'wrist_camera_link', 0.2).figures
    assert figures['marker_in'] == 'wrist_camera_link'
    assert figures['marker_xyz_m'] == pytest.approx(p.tolist(), abs=1e-6)
    assert figures['marker_rpy_rad'] == pytest.approx(roll_pitch_yaw(R).tolist(), abs=1e-6)
