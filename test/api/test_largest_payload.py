"""How light what is held has to be, from Python: figures, what refuses more, and errors."""

import re

import numpy as np
import pytest

import safe_sysid as ss
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.share import share_directory

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


@pytest.fixture
def loop(tmp_path):
    """Loop whose nominal payload is nothing, and whose heaviest one cannot be held level."""
    text = (share_directory() / 'config' / 'loop' / 'two_link.yaml').read_text()
    bare = RobotModel.named('two_link').own_end_effector.tolist()
    upper = [7.0, 2.5, 0.05, 0.05, 0.02, 0.02, 0.8, 0.02, 0.02, 0.8]
    for name, figures in (('nominal', bare), ('upper', upper)):
        text, found = re.subn(rf' {name}: \[.*\]', f' {name}: {figures}', text)
        assert found == 1
    path = tmp_path / 'loop.yaml'
    path.write_text(text)
    return path


def test_where_all_of_the_prior_cannot_be_held_it_is_said_what_can(loop):
    """Level and outstretched from the start on, where 6 kg are too much and nothing is not."""
    found = ss.largest_payload('two_link', [-1.2, 0.0], [0.0, 0.0], loop=loop)
    lever = 0.4 + 2.25 / 6.0  # [m] of the heaviest payload about joint 1
    assert 1.0 < found.mass < LIMIT[0] / 9.81 / lever
    assert found.unknown.refusal is not None
    assert found.exact is None and found.known_mass is None
    said = str(found)
    assert "known exactly: not said, as the prior's nominal payload is nothing" in said
    assert found.prior_mass[0] < 0.0  # as links are known to 5%
    assert '0.00 to 6.00 kg are held' in said and '-0.' not in said
    assert '0.00 kg; more' not in said
