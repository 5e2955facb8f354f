"""First plans that teach, as long as they do; then the goal; then nothing."""

from dataclasses import replace
import sys

import numpy as np
from plan.kinova_problem import START, estimate_of, kinova_problem
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.model.collision.arm_clearance import arm_clearance
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.aims import Excite
from safe_sysid.plan.mission import Mission, MissionSettings, NoRouteError
from safe_sysid.plan.path.route import Follow
from safe_sysid.plan.path.rrt_connect import PathSettings
from safe_sysid.plan.purpose import Ahead
from safe_sysid.plan.search.best_plan import Budget
from safe_sysid.sets.box import Box
from safe_sysid.trajectory.plan import Plan

MOST_ROWS = 500  # in place of 2000, which take long
UNHURRIED = {'route_seconds': 600.0}
GOAL = START + 1.6 * np.eye(7)[0]
# In the way of the outstretched arm when it swings about the vertical
POST = Obstacles.of(
    {'post': Box(np.array([0.34, -0.34, 0.5]), np.array([0.03, 0.03, 0.5]), np.eye(3))}
)


@pytest.fixture(scope='module')
def model():
    return RobotModel.named('kinova_gen3')


def ahead_of(estimate, end=START, obstacles=NO_OBSTACLES, seconds=60.0):
    problem = replace(kinova_problem(obstacles=obstacles), bounds=estimate)
    return Ahead(problem, end, 1.5, Budget.of(seconds))


def plan_of(k):
    return Plan(0.0, 1.5, kinova_problem().horizon.curve, np.full(7, k))


def teach(mission, ratios, model, k=0.3):
    """Aims, when the estimate at each horizon has these ratios."""
    aims = []
    for ratio in ratios:
        estimate = estimate_of(model, ratio)
        aim = mission.due(ahead_of(estimate))
        aims.append(type(aim))
        if aim is not None:
            mission.planned(aim, plan_of(k), estimate)
    return aims


def test_four_plans_teach_and_then_the_goal_is_due(model):
    mission = Mission(model, START + 0.5, MissionSettings(**UNHURRIED))
    ratios = (0.5, 0.4, 0.3, 0.2, 0.1)
    assert teach(mission, ratios, model) == [Excite] * 4 + [Follow]


def test_teaching_ends_when_bounds_stop_shrinking(model):
    mission = Mission(model, START + 0.5, MissionSettings(shrinking=0.02, **UNHURRIED))
    ratios = (0.5, 0.5, 0.5, 0.499)
    assert teach(mission, ratios, model) == [Excite] * 2 + [Excite, Follow]


def test_bounds_need_not_shrink_where_nothing_is_asked_of_them(model):
    mission = Mission(model, START + 0.5, MissionSettings(shrinking=0.0, **UNHURRIED))
    assert teach(mission, [0.5] * 5, model) == [Excite] * 4 + [Follow]


def test_what_is_learned_on_the_way_to_the_goal_is_no_reason_to_excite_again(model):
    mission = Mission(model, START + 0.5, MissionSettings(**UNHURRIED))
    ratios = (0.5, 0.5, 0.5, 0.5, 0.3, 0.1)
    assert teach(mission, ratios, model) == [Excite] * 3 + [Follow] * 3


def test_plans_that_hardly_move_do_not_go_on_for_ever(model):
    mission = Mission(model, None, MissionSettings(exciting=2))
    assert teach(mission, [0.5] * 5, model, k=0.09) == [Excite] * 4 + [type(None)]


def test_a_plan_that_hardly_moves_does_not_count(model):
    mission = Mission(model, None, MissionSettings(exciting=2))
    assert teach(mission, (0.5, 0.5, 0.5), model, k=0.09) == [Excite] * 3


def test_later_plans_know_the_rows_of_earlier_ones(model):
    mission = Mission(model, None, MissionSettings())
    estimate = estimate_of(model)
    first = mission.due(ahead_of(estimate))
    mission.planned(first, plan_of(0.3), estimate)
    second = mission.due(ahead_of(estimate))
    assert len(first.collected) == 0
    assert len(second.collected) == 7 * first.samples // first.samples_per_row


def test_rows_of_many_plans_become_a_few_that_say_the_same(model, monkeypatch):
    monkeypatch.setattr(sys.modules[Mission.__module__], 'MOST_ROWS', MOST_ROWS)
    settings = MissionSettings(exciting=10**6, shrinking=0.0)
    mission, estimate = Mission(model, None, settings), estimate_of(model)
    of_one = mission.due(ahead_of(estimate)).rows(plan_of(0.3).curve, plan_of(0.3).k)
    most = 0
    for _ in range(plans := 2 * MOST_ROWS // len(of_one)):
        aim = mission.due(ahead_of(estimate))
        mission.planned(aim, plan_of(0.3), estimate)
        most = max(most, len(aim.collected))
    assert MOST_ROWS // 2 < most <= MOST_ROWS
    collected = mission.due(ahead_of(estimate)).collected
    once = of_one.T @ of_one
    gram = collected.T @ collected
    np.testing.assert_allclose(gram, plans * once, rtol=0, atol=1e-10 * np.abs(gram).max())


def test_nothing_is_due_at_the_goal_or_without_one(model):
    estimate, settings = estimate_of(model), MissionSettings(exciting=0, **UNHURRIED)
    assert Mission(model, None, settings).due(ahead_of(estimate)) is None
    turned = START + np.where(model.limits.is_continuous, 2.0 * np.pi, 0.0)
    assert Mission(model, turned, settings).due(ahead_of(estimate)) is None
    assert Mission(model, START + 0.1, settings).due(ahead_of(estimate)) is not None


def test_another_payload_is_learned_from_the_beginning(model):
    """Bounds that are not within those known before cannot be of the same payload."""
    mission = Mission(model, START + 0.5, MissionSettings(exciting=2, **UNHURRIED))
    ratios = (0.5, 0.4, 0.3, 0.5, 0.3, 0.2)
    assert teach(mission, ratios, model) == [Excite, Excite, Follow, Excite, Excite, Follow]
    assert len(mission.due(ahead_of(estimate_of(model, 0.9))).collected) == 0


def swing(model, obstacles=POST, **settings):
    """A mission to a goal behind a post, and what it asks for at first."""
    mission = Mission(model, GOAL, MissionSettings(exciting=0, **UNHURRIED, **settings))
    return mission, mission.due(ahead_of(estimate_of(model), obstacles=obstacles))


def test_the_route_goes_around_an_obstacle_and_ends_at_the_goal(model):
    _, follow = swing(model)
    assert follow.begin == 0.0
    route = follow.route
    np.testing.assert_array_equal(route.waypoints[0], START)
    np.testing.assert_allclose(np.cos(route.at(route.length) - GOAL), 1.0, atol=1e-12)
    points = [route.at(x) for x in np.linspace(0.0, route.length, 200)]
    assert min(arm_clearance(model, POST, q).distance for q in points) > 0.0
    straight = [START + share * (GOAL - START) for share in np.linspace(0.0, 1.0, 50)]
    assert min(arm_clearance(model, POST, q).distance for q in straight) < 0.0


def test_the_same_seed_gives_the_same_route(model):
    first, again, other = (
        swing(model, path=PathSettings(seed=seed))[1].route.waypoints for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert first.shape != other.shape or np.any(first != other)


def test_the_same_route_is_followed_as_long_as_plans_get_on(model):
    mission, follow = swing(model)
    estimate, begin = estimate_of(model), 0.0
    for length in np.linspace(0.1, follow.route.length - 0.1, 8):
        ahead = ahead_of(estimate, follow.route.at(length), POST)
        next_one = mission.due(ahead)
        assert next_one.route is follow.route
        assert begin < next_one.begin == pytest.approx(length, abs=0.03)
        begin = next_one.begin
    assert mission.due(ahead_of(estimate, GOAL, POST)) is None


def test_another_route_is_looked_for_when_plans_do_not_get_on(model):
    mission, follow = swing(model, patience=3)
    estimate = estimate_of(model)
    routes = [mission.due(ahead_of(estimate, obstacles=POST)).route for _ in range(3)]
    assert [route is follow.route for route in routes] == [True, True, False]
    assert not np.array_equal(routes[2].waypoints, follow.route.waypoints)


@pytest.mark.slow
def test_a_task_that_never_gets_on_is_said_to_and_begins_anew_later(model):
    """Routes given up in a row end in refusals, as many as make a fault of the planner's node."""
    mission, _ = swing(model, patience=1, routes=2)
    estimate, said = estimate_of(model), []
    for _ in range(8):
        try:
            mission.due(ahead_of(estimate, obstacles=POST))
            said.append('')
        except NoRouteError as error:
            said.append(str(error))
    refused = [bool(sentence) for sentence in said]
    assert refused == [False, False, True, True, False, False, True, True]
    assert said[2].startswith('the task does not get on: 2 routes to the goal were followed')
    mission, _ = swing(model, patience=1, routes=1)
    again = mission.due(ahead_of(estimate, obstacles=POST))
    onward = again.route.toward(START, 0.3)
    assert mission.due(ahead_of(estimate, onward, POST)) is not None  # which is progress


def test_an_arm_that_is_far_from_its_route_gets_another_one(model):
    mission, follow = swing(model)
    aside = START + 0.9 * np.eye(7)[4]
    other = mission.due(ahead_of(estimate_of(model), aside, POST))
    assert other.route is not follow.route
    np.testing.assert_array_equal(other.route.waypoints[0], aside)


@pytest.mark.parametrize(
    ('goal', 'sentence'),
    [
        (GOAL + 4.0 * np.eye(7)[3], 'goal is outside the joint limits: joint_4'),
        (START + 0.8 * np.eye(7)[0], 'in contact at the goal: .* and post'),
        (np.full(7, np.nan), 'goal is outside the joint limits: joint_1 at nan'),
    ],
)
def test_a_goal_that_cannot_be_reached_is_refused_in_a_sentence(model, goal, sentence):
    mission = Mission(model, goal, MissionSettings(exciting=0, **UNHURRIED))
    for _ in range(2):
        with pytest.raises(NoRouteError, match=sentence):
            mission.due(ahead_of(estimate_of(model), obstacles=POST))


def test_a_route_that_takes_too_long_is_refused_and_tried_again(model):
    mission = Mission(model, GOAL, MissionSettings(exciting=0, **UNHURRIED))
    estimate = estimate_of(model)
    with pytest.raises(NoRouteError, match='no path to the goal was found within the time'):
        mission.due(ahead_of(estimate, obstacles=POST, seconds=-1.0))
    assert isinstance(mission.due(ahead_of(estimate, obstacles=POST)), Follow)


@pytest.mark.parametrize(
    'wrong',
    [
        {'exciting': -1},
        {'shrinking': 1.0},
        {'near': 0.0},
        {'least_move': -1.0},
        {'patience': 0},
        {'routes': 0},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ConfigError):
        MissionSettings(**wrong)


def test_a_goal_that_comes_meanwhile_takes_the_place_of_the_one_before(model):
    mission = Mission(model, None, MissionSettings(exciting=0, **UNHURRIED))
    ahead = ahead_of(estimate_of(model, 0.1))
    assert mission.due(ahead) is None
    assert mission.distance(START) is None
    mission.lead_to([START + 0.3])
    assert isinstance(mission.due(ahead), Follow)
    assert mission.distance(START) == pytest.approx(0.3)
    mission.lead_to([START - 0.2])
    aim = mission.due(ahead)
    np.testing.assert_allclose(aim.route.waypoints[-1], START - 0.2)
    mission.lead_to([])
    assert mission.due(ahead) is None


def test_of_several_configurations_one_is_taken_to_which_there_is_a_way(model):
    mission = Mission(model, None, MissionSettings(exciting=0, **UNHURRIED))
    ahead = ahead_of(estimate_of(model, 0.1))
    outside = START + 1e3 * ~model.limits.is_continuous
    mission.lead_to([outside, START + 0.3])
    aim = mission.due(ahead)
    np.testing.assert_allclose(aim.route.waypoints[-1], START + 0.3)
    mission.lead_to([outside])
    assert mission.due(ahead) is None
    assert 'the goal is outside the joint limits' in mission.given_up


def test_a_goal_that_is_led_to_already_changes_nothing(model):
    mission = Mission(model, None, MissionSettings(exciting=0, **UNHURRIED))
    ahead = ahead_of(estimate_of(model, 0.1))
    goal = START + 0.3
    mission.lead_to([goal])
    aim = mission.due(ahead)
    wish = mission.wish(START)
    mission.lead_to([goal.copy()])
    assert mission.wish(START) == wish
    assert mission.due(ahead).route is aim.route
    for others in ([goal + 0.1], [goal + 0.1, goal], []):
        mission.lead_to(others)
        assert mission.wish(START) != wish
        wish = mission.wish(START)


def test_a_goal_that_was_given_up_may_be_tried_again(model):
    mission = Mission(model, None, MissionSettings(exciting=0, **UNHURRIED))
    ahead = ahead_of(estimate_of(model, 0.1))
    outside = START + 1e3 * ~model.limits.is_continuous
    for _ in range(2):
        mission.lead_to([outside])
        assert not mission.given_up
        assert mission.due(ahead) is None
        assert mission.given_up
        wish = mission.wish(START)
    mission.lead_to([outside])
    assert mission.wish(START) != wish


def test_what_a_task_is_asked_for_counts_before_it_where_it_learns_on_its_way(model):
    on_the_way = MissionSettings(on_the_way=True)
    task = Mission(model, None, replace(on_the_way, exciting=0))
    learning = Mission(model, None, on_the_way, task)
    ahead = ahead_of(estimate_of(model, 0.1))
    task.lead_to([START + 0.3])
    assert learning.due(ahead) is None
    wish = learning.wish(START)
    task.lead_to([START + 0.4])
    assert learning.wish(START) == wish
    for nothing_to_do in ([], [START]):
        task.lead_to(nothing_to_do)
        assert learning.wish(START) != wish
        assert isinstance(learning.due(ahead), Excite)


def test_plans_teach_until_bounds_are_as_narrow_as_wanted(model):
    mission = Mission(model, None, MissionSettings(exciting=2))
    estimates = [estimate_of(model, ratio) for ratio in (0.5, 0.4, 0.3, 0.2)]
    wanted = np.zeros(10)
    wanted[0] = 1.01 * estimates[-1].end_effector_bounds.radius[0]
    mission.learn_to(wanted)
    assert teach(mission, (0.5, 0.4, 0.3, 0.2), model) == [Excite] * 3 + [type(None)]
    mission.learn_to(None)
    assert teach(mission, (0.2,), model) == [type(None)]


@pytest.mark.parametrize('taught', [(), (0.5,)])
def test_a_wish_that_was_withdrawn_before_it_was_met_leaves_the_settings_to_learn_by(
    model, taught
):
    """Taken back before anything has moved, say: nothing was learnt for it."""
    mission = Mission(model, None, MissionSettings(exciting=2))
    mission.learn_to(np.full(10, 1e-9))
    assert teach(mission, taught, model) == [Excite] * len(taught)
    mission.learn_to(None)
    left = 2 - len(taught)
    assert teach(mission, (0.4, 0.35, 0.3), model) == [Excite] * left + [type(None)] * (3 - left)


def test_what_was_learned_before_a_wish_stays_learned(model):
    mission = Mission(model, None, MissionSettings(exciting=1))
    assert teach(mission, (0.5, 0.4), model) == [Excite, type(None)]
    mission.learn_to(np.full(10, 1e-9))
    mission.learn_to(None)
    assert teach(mission, (0.4,), model) == [type(None)]
