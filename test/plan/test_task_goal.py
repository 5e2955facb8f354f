"""Goals that come while the loop runs: taken where the arm may stand, else refused with why."""

import numpy as np
import pytest

from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.placement import Placement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.path.inverse_kinematics import LinkPose
from safe_sysid.plan.task_goal import (
    GoalError,
    Surroundings,
    choices_of_joints,
    choices_of_pose,
    joint_goal,
)
from safe_sysid.sets.box import Box

MODEL = RobotModel.named('two_link')
GOAL = np.array([0.4, 0.9])


def among(obstacles):
    return Surroundings(MODEL, obstacles, np.array([0.5, 0.8]))


def test_joints_are_found_by_name_and_others_left_out():
    names = MODEL.layout.joint_names
    q = joint_goal(MODEL, {'gripper': 0.1, names[1]: 0.9, names[0]: 0.4})
    np.testing.assert_array_equal(q, GOAL)
    with pytest.raises(GoalError, match=f"the goal has no \\['{names[1]}'\\]"):
        joint_goal(MODEL, {names[0]: 0.4})


def test_where_the_arm_may_not_stand_is_refused_with_the_reason():
    (taken,) = choices_of_joints(GOAL, among(NO_OBSTACLES))
    np.testing.assert_array_equal(taken, GOAL)
    _, p = joint_frames(MODEL, GOAL)
    wall = Obstacles.of({'wall': Box(p[1], np.full(3, 0.1), np.eye(3))})
    with pytest.raises(GoalError, match='mm inside wall'):
        choices_of_joints(GOAL, among(wall))
    with pytest.raises(GoalError, match='is allowed'):
        choices_of_joints(GOAL + 100.0, among(NO_OBSTACLES))
    with pytest.raises(GoalError, match='not finite'):
        choices_of_joints(GOAL * np.nan, among(NO_OBSTACLES))


def test_of_a_pose_only_configurations_are_kept_in_which_the_arm_may_stand():
    R, p = joint_frames(MODEL, GOAL)
    pose = LinkPose('link_2', Placement(R[1], p[1]), False)
    choices = choices_of_pose(pose, among(NO_OBSTACLES))
    assert any(np.abs(q - GOAL).max() < 1e-3 for q in choices)
    wall = Obstacles.of({'wall': Box(p[1], np.full(3, 0.1), np.eye(3))})
    with pytest.raises(GoalError, match='in none of .* the arm may stand; in the nearest'):
        choices_of_pose(pose, among(wall))
