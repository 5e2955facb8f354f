"""How light what is held has to be, from Python: figures, what refuses more, and errors."""

import numpy as np
import pytest

import safe_sysid as ss
from safe_sysid.model.robot_model import RobotModel

LIMIT = RobotModel.named('two_link').limits.torque


def test_the_heaviest_payloads_are_between_none_and_what_statics_allow():
    """Level and outstretched, with a payload at least 0.25 m from joint 2."""
    found = ss.largest_payload('two_link', [0.0, 0.0], [-1.2, 0.0])
    assert 0.0 < found.mass <= found.prior_mass[1] + 1e-9
    assert 0.0 < found.known_mass < LIMIT[1] / 9.81 / 0.25
    assert 0.0 < found.needed_half_width <= 0.5 * np.diff(found.prior_mass)[0] + 1e-9
    assert found.exact.estimate is not None
    assert 'certified up to' in str(found)
    if found.exact.refusal is not None:
        assert 'more is refused by' in str(found)


def test_a_goal_where_the_arm_is_has_no_way():
    with pytest.raises(ss.SafeSysidError, match='there is no way to ask about'):
        ss.largest_payload('two_link', [0.1, 0.1], [0.1, 0.1])
