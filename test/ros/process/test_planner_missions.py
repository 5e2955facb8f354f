"""With `on_the_way` a task begins at once where it has a goal, and learns by itself."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')
from safe_sysid.config import from_mapping, read_yaml
from safe_sysid.errors import ConfigError
from safe_sysid.plan.mission import MissionSettings
from safe_sysid.ros.process.planner_settings import PlannerNodeSettings
from safe_sysid.share import share_directory


def settings():
    sections = read_yaml(share_directory() / 'config' / 'loop' / 'two_link.yaml')
    given = {
        key: value
        for section in ('/**', '/**/planner')
        for key, value in sections[section]['ros__parameters'].items()
    }
    return from_mapping(PlannerNodeSettings, given, 'two_link.yaml')


def learns(mission):
    """Plans of a mission that come first, as its settings say."""
    return mission._settings.exciting, mission._on_the_way is not None


@pytest.mark.parametrize('on_the_way', [False, True])
def test_what_comes_first_depends_on_the_setting_and_on_a_goal(on_the_way):
    given = replace(settings(), mission=MissionSettings(exciting=3, on_the_way=on_the_way))
    model = given.arm().model
    aimed = replace(given, goal=(0.5, 0.5)).missions(model)
    aimless = replace(given, goal=()).missions(model)
    assert learns(aimed['exciting']) == (0 if on_the_way else 3, on_the_way)
    assert learns(aimed['task']) == (0, on_the_way)
    assert learns(aimless['exciting'])[0] == 3


def test_a_goal_by_topic_is_left_to_the_task_as_that_of_the_settings_is():
    given = replace(settings(), mission=MissionSettings(exciting=3, on_the_way=True), goal=())
    model = given.arm().model
    missions = given.missions(model)
    assert not missions['exciting']._is_left_to_task(np.zeros(2))
    missions['task'].lead_to([np.array([0.5, 0.5])])
    assert missions['exciting']._is_left_to_task(np.zeros(2))


@pytest.mark.parametrize(
    ('goal', 'why'),
    [
        ((0.5, 'upper'), r'goal: joint_2 is at .* it has to be at least .* rad inside'),
        ((0.5, 100.0), r'goal: joint_2 is at 100 rad; .* is allowed'),
    ],
)
def test_a_goal_at_which_no_plan_can_end_is_refused_at_the_start(goal, why):
    given = settings()
    arm = given.arm()
    upper = float(arm.model.limits.position_upper[1])
    placed = replace(given, goal=tuple(upper if each == 'upper' else each for each in goal))
    scene = SimpleNamespace(boxes={})
    with pytest.raises(ConfigError, match=why):
        placed.planning(arm, placed.missions(arm.model), scene, lambda *_: None)
    given.planning(arm, given.missions(arm.model), scene, lambda *_: None).close()
