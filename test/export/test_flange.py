"""A load is written in the frame from which the controller of its maker counts."""

import numpy as np
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.export.flange import refuse_other_frame
from safe_sysid.export.payload import written
from safe_sysid.identify.payload_in_frame import Body
from safe_sysid.model.arm import arm_of
from safe_sysid.sets.interval import Interval

POINT = np.array([2.0, 0.06, -0.04, 0.12, 0.02, 0.001, 0.03, -0.003, 0.002, 0.025])


@pytest.mark.parametrize(
    ('robot', 'form', 'flange'),
    [
        ('fr3', 'franka', 'fr3_link8'),
        ('panda', 'franka', 'panda_link8'),
        ('iiwa14', 'kuka', 'lbr_link_ee'),
        ('lbr_med7', 'kuka', 'lbr_link_ee'),
    ],
)
def test_the_link_before_the_flange_is_refused_with_how_far_it_is(robot, form, flange, tmp_path):
    arm = arm_of(robot, None)
    (name,) = [each for each in arm.model.frames if each.endswith(flange.split('_', 1)[1])]
    away = 1e3 * np.linalg.norm(arm.model.frames[name].p - arm.model.frames[arm.facts.tip].p)
    assert away > 30.0
    body = Body(arm.facts.tip, POINT, Interval(POINT - 1e-4, POINT + 1e-4))
    with pytest.raises(ConfigError, match=f"'{name}', {away:.0f} mm away.*--flange {name}"):
        written(form, tmp_path / 'load', body, arm, 'refuse')
    assert not (tmp_path / 'load').exists()
    there = Body(name, POINT, Interval(POINT - 1e-4, POINT + 1e-4))
    written(form, tmp_path / 'load', there, arm, 'refuse')
    assert (tmp_path / 'load').exists()


@pytest.mark.parametrize(
    ('robot', 'form'),
    [('ur5e', 'ur'), ('ur10e', 'ur'), ('two_link', 'ur'), ('two_link', 'franka')],
)
def test_frames_that_are_the_flange_and_arms_without_one_are_written_as_they_are(robot, form):
    arm = arm_of(robot, None)
    refuse_other_frame(form, arm, arm.facts.tip)
