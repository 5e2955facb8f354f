"""First plans that teach, as long as they do; then the goal; then nothing."""

from kinova_problem import START, estimate_of, kinova_problem
import numpy as np
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.aims import Approach, Excite
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.trajectory.plan import Plan


@pytest.fixture(scope='module')
def model():
    return RobotModel.named('kinova_gen3')


def plan_of(k):
    return Plan(0.0, 1.5, kinova_problem().horizon.curve, np.full(7, k))


def teach(mission, ratios, model, k=0.3):
    """Aims, when the estimate at each horizon has these ratios."""
    aims = []
    for ratio in ratios:
        estimate = estimate_of(model, ratio)
        aim = mission.due(estimate, START, 1.5)
        aims.append(type(aim))
        if aim is not None:
            mission.planned(aim, plan_of(k), estimate)
    return aims


def test_four_plans_teach_and_then_the_goal_is_due(model):
    mission = Mission(model, START + 0.5, MissionSettings())
    ratios = (0.5, 0.4, 0.3, 0.2, 0.1)
    assert teach(mission, ratios, model) == [Excite] * 4 + [Approach]


def test_teaching_ends_when_bounds_stop_shrinking(model):
    mission = Mission(model, START + 0.5, MissionSettings(shrinking=0.02))
    ratios = (0.5, 0.5, 0.5, 0.499)
    assert teach(mission, ratios, model) == [Excite] * 2 + [Excite, Approach]


def test_a_plan_that_hardly_moves_does_not_count(model):
    mission = Mission(model, None, MissionSettings(exciting=1))
    assert teach(mission, (0.5, 0.5, 0.5), model, k=0.09) == [Excite] * 3


def test_later_plans_know_the_rows_of_earlier_ones(model):
    mission = Mission(model, None, MissionSettings())
    estimate = estimate_of(model)
    first = mission.due(estimate, START, 1.5)
    mission.planned(first, plan_of(0.3), estimate)
    second = mission.due(estimate, START, 1.5)
    assert len(first.collected) == 0
    assert len(second.collected) == 7 * first.samples // first.samples_per_row


def test_nothing_is_due_at_the_goal_or_without_one(model):
    estimate, settings = estimate_of(model), MissionSettings(exciting=0)
    assert Mission(model, None, settings).due(estimate, START, 1.5) is None
    turned = START + np.where(model.limits.is_continuous, 2.0 * np.pi, 0.0)
    assert Mission(model, turned, settings).due(estimate, START, 1.5) is None
    assert Mission(model, START + 0.1, settings).due(estimate, START, 1.5) is not None


@pytest.mark.parametrize(
    'wrong', [{'exciting': -1}, {'shrinking': 1.0}, {'near': 0.0}, {'least_move': -1.0}]
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ConfigError):
        MissionSettings(**wrong)
