"""Trajectories of FollowJointTrajectory: taken as they are, or refused with a number and why."""

from types import SimpleNamespace

import pytest
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from safe_sysid.ros.actions.following import Code, RefusedTrajectoryError
from safe_sysid.ros.actions.joint_trajectory import trajectory_of
from safe_sysid.ros.messages.codec import SECOND, time_of

NAMES = ('a', 'b')
SIMULATED = 17 * SECOND + 250_000_000  # [ns] by joint_states
WALL = 1_763_744_000 * SECOND  # [ns]
LASTS = 2  # [s]


def asked(stamp, names=NAMES):
    points = [JointTrajectoryPoint(positions=[0.1 * i] * len(names)) for i in range(2)]
    points[-1].time_from_start.sec = LASTS
    path = JointTrajectory(joint_names=list(names), points=points)
    path.header.stamp = time_of(stamp)
    return SimpleNamespace(trajectory=path, multi_dof_trajectory=SimpleNamespace(points=[]))


@pytest.mark.parametrize('now', [SIMULATED, WALL])
@pytest.mark.parametrize('since', [-LASTS, -0.5, 0.0, 0.3, 0.5])  # [s]
def test_a_stamp_counts_by_the_clock_of_the_arm(now, since):
    request = asked(now + round(since * SECOND))
    assert trajectory_of(request, NAMES, now) is request.trajectory


@pytest.mark.parametrize('now', [0, SIMULATED, WALL])
def test_a_stamp_of_0_begins_it_at_once_whatever_time_it_is(now):
    request = asked(0)
    assert trajectory_of(request, NAMES, now) is request.trajectory


@pytest.mark.parametrize(
    ('stamp', 'now', 'code', 'why'),
    [
        (SIMULATED - 3 * SECOND, SIMULATED, Code.OLD_HEADER_TIMESTAMP, 'it ended 1 s ago'),
        (SIMULATED, WALL, Code.OLD_HEADER_TIMESTAMP, 'by joint_states it is 1763744000.000 s'),
        (SIMULATED + 2 * SECOND, SIMULATED, Code.INVALID_GOAL, 'it begins in 2 s'),
        (WALL, SIMULATED, Code.INVALID_GOAL, 'by joint_states it is 17.250 s'),
        (WALL, 0, Code.INVALID_GOAL, 'no joint state was heard'),
    ],
)
def test_a_stamp_of_another_time_is_refused_and_the_time_is_said(stamp, now, code, why):
    with pytest.raises(RefusedTrajectoryError) as refused:
        trajectory_of(asked(stamp), NAMES, now)
    assert refused.value.code is code
    assert why in str(refused.value)


@pytest.mark.parametrize('names', [('a',), ('a', 'c'), ('a', 'b', 'c'), ('a', 'b', 'a')])
def test_every_joint_has_to_be_there_once_and_no_other(names):
    with pytest.raises(RefusedTrajectoryError) as refused:
        trajectory_of(asked(0, names), NAMES, SIMULATED)
    assert refused.value.code is Code.INVALID_JOINTS
