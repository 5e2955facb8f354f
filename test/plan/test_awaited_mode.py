"""The sample at which nothing is left to do waits for the next mode, and not for ever."""

import numpy as np

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.plan.awaited_mode import PATIENCE, AwaitedMode
from safe_sysid.track.standing import REST_SPEED


def sample(speed=0.0, stamp=5):
    return JointMeasurement(stamp, np.zeros(2), np.array([0.0, -speed]), np.zeros(2))


def test_it_is_kept_where_the_mission_is_done_and_the_arm_stands():
    awaited, kept = AwaitedMode(), sample()
    assert not awaited.keeps(kept, is_done=False)
    assert not awaited.keeps(sample(1.01 * REST_SPEED), is_done=True)
    assert awaited.turn() is None
    assert awaited.keeps(kept, is_done=True)
    assert awaited.keeps(kept, is_done=True)  # told again
    assert awaited.turn() is kept
    assert awaited.turn() is None


def test_one_that_nobody_names_a_mode_for_is_answered_in_the_end():
    awaited, kept = AwaitedMode(), sample()
    assert awaited.look() is None
    awaited.keeps(kept, is_done=True)
    assert [awaited.look() for _ in range(PATIENCE)] == [None] * (PATIENCE - 1) + [kept]
    assert not awaited.keeps(kept, is_done=True)
    assert not awaited.keeps(sample(stamp=6), is_done=True)  # nor are those that follow
    assert awaited.look() is None
    awaited.turn()
    assert awaited.keeps(sample(stamp=7), is_done=True)
