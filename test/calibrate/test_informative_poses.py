"""D-optimal poses: better than random ones by what they are chosen for, and refused counts."""

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.calibrate.informative_poses import informative_poses
from safe_sysid.calibrate.kinematic_fit import Marker, chain_to, pose_derivatives
from safe_sysid.calibrate.settings import PoseNoise
from safe_sysid.errors import MeasurementError
from safe_sysid.model.robot_model import RobotModel

MARKER, NOISE = Marker(np.eye(3), np.array([0.05, 0.02, 0.1])), PoseNoise()


def log_determinant(model, q):
    """Of the information about the 4 n + 6 combinations that poses show."""
    chain = chain_to(model.tree, model.layout.tip)
    _, _, moves, turns = pose_derivatives(model, q, MARKER, chain)
    rows = np.vstack([*(moves / NOISE.position), *(turns / NOISE.rotation)])
    singular = np.linalg.svd(rows, compute_uv=False)[: 4 * model.n + 6]
    return 2.0 * np.sum(np.log(singular))


@pytest.mark.parametrize('robot', slow_after(1, ['two_link', 'lbr_med7']))
def test_chosen_poses_tell_more_than_any_of_many_random_choices(robot, rng):
    model = RobotModel.named(robot)
    q = rng.uniform(-1.5, 1.5, (80, model.n))
    count = 4 * model.n
    chosen = informative_poses(model, q, count, MARKER, NOISE)
    assert len(set(chosen.tolist())) == count
    random = [log_determinant(model, q[rng.permutation(80)[:count]]) for _ in range(20)]
    if robot == 'lbr_med7':  # a plane arm shows fewer combinations, so no product of that many
        assert log_determinant(model, q[chosen]) > max(random)


def test_the_first_poses_of_a_longer_list_are_the_shorter_list(rng):
    model = RobotModel.named('two_link')
    q = rng.uniform(-1.5, 1.5, (30, model.n))
    some, more = (informative_poses(model, q, count, MARKER, NOISE) for count in (5, 12))
    assert np.array_equal(some, more[:5])


@pytest.mark.parametrize('count', [0, 31])
def test_no_poses_and_more_than_there_are_are_refused(count, rng):
    model = RobotModel.named('two_link')
    with pytest.raises(MeasurementError, match='1 to 30 can be chosen'):
        informative_poses(model, rng.uniform(-1.0, 1.0, (30, 2)), count, MARKER, NOISE)
