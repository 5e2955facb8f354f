"""An arm that may hold several payloads has the shapes of all, and the mass of what it holds."""

import numpy as np

from safe_sysid.model.grasp import GraspError, holding_any
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel


def test_what_may_be_held_is_no_part_of_what_is_held():
    bare = RobotModel.named('kinova_gen3')
    held = read_payload('dumbbell_8lb')
    library = [read_payload('dumbbell_4lb'), held]
    for arm in (bare, bare.with_payload(held)):
        may_hold = holding_any(arm, library, GraspError())
        assert len(may_hold.capsules.names) > len(arm.capsules.names)
        np.testing.assert_array_equal(may_hold.theta, arm.theta)
        np.testing.assert_allclose(
            may_hold.own_end_effector, bare.theta[bare.layout.end_effector], atol=1e-12
        )
