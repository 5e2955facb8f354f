"""A mission begins by leading the hand off what it has placed; then that is an obstacle."""

from dataclasses import replace

import numpy as np
from plan.kinova_problem import START, estimate_of, kinova_problem
from plan.test_restarting import IDLE, SETTINGS, at
import pytest
from reach.test_retreat import ALLOWED, NAME, partly_off

from safe_sysid.bench.experiments.reach import kinova_with_dumbbell
from safe_sysid.model.collision.arm_clearance import arm_clearance
from safe_sysid.model.collision.capsules_to_box import box_about
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.plan.aims import Excite
from safe_sysid.plan.mission import Mission, MissionSettings, NoRouteError
from safe_sysid.plan.path.leaving import is_clear
from safe_sysid.plan.path.route import Follow
from safe_sysid.plan.purpose import Ahead
from safe_sysid.plan.restarting import RestartingPlanner
from safe_sysid.plan.search.best_plan import Budget

HELD = 'dumbbell_8lb.dumbbell'
MODEL = kinova_with_dumbbell()
GOAL = START + 0.9 * np.eye(7)[0]
PLACED = box_about(MODEL, [HELD], START)


def ahead_of(end):
    """A plan that begins where the arm has let go, and one in force that ends there or later."""
    problem = replace(kinova_problem(), model=MODEL, bounds=estimate_of(MODEL))
    told = replace(problem, obstacles=Obstacles.of({NAME: PLACED}), retreat=ALLOWED)
    return Ahead(told.lifting(START), end, 1.5, Budget.of(60.0))


def mission_to(goal, exciting):
    return Mission(MODEL, goal, MissionSettings(exciting, route_seconds=600.0))


@pytest.mark.parametrize(('goal', 'exciting'), [(GOAL, 0), (None, 2)])
def test_the_way_off_comes_before_learning_and_before_the_task(goal, exciting):
    mission, ahead = mission_to(goal, exciting), ahead_of(START)
    leaving = mission.due(ahead)
    assert isinstance(leaving, Follow)
    end = leaving.route.waypoints[-1]
    assert is_clear(MODEL, ahead.problem.lift, end)
    assert np.abs(end - START).max() < 0.5
    after = mission.due(ahead_of(end))
    assert isinstance(after, Excite if exciting else Follow)
    assert getattr(after, 'route', None) is not leaving.route


def test_where_nothing_is_due_the_arm_stays():
    assert mission_to(None, 0).due(ahead_of(START)) is None
    assert mission_to(START, 0).due(ahead_of(START)) is None


def test_once_it_is_left_routes_lead_around_it():
    """From one side of it to the other, straight through."""
    end = mission_to(GOAL, 0).due(ahead_of(START)).route.waypoints[-1]
    aside, beyond = end - 0.6 * np.eye(7)[0], START + 0.6 * np.eye(7)[0]
    obstacles = Obstacles.of({NAME: PLACED})
    straight = aside + np.linspace(0.0, 1.0, 50)[:, None] * (beyond - aside)
    assert min(arm_clearance(MODEL, obstacles, q).distance for q in straight) < 0.0
    assert arm_clearance(MODEL, obstacles, beyond).distance > 0.01
    route = mission_to(beyond, 0).due(ahead_of(aside)).route
    points = [route.at(x) for x in np.linspace(0.0, route.length, 200)]
    assert min(arm_clearance(MODEL, obstacles, q).distance for q in points) > 0.0


def test_where_no_joints_lead_off_that_is_said():
    """An arm that is as far back as its joints allow."""
    limits = MODEL.limits
    stuck = replace(
        MODEL,
        limits=replace(limits, position_lower=START - 1e-3, position_upper=START + 1e-3),
    )
    mission = Mission(stuck, None, MissionSettings(2))
    with pytest.raises(NoRouteError, match=f'the hand is about {NAME}, and no joints lead it'):
        mission.due(ahead_of(START))


@pytest.mark.parametrize('ends', [RestartingPlanner.begin_again, RestartingPlanner.forget])
def test_a_planner_that_begins_again_on_the_way_off_goes_on_leaving(ends):
    """Somebody braked: the next planner knows where the one before had let it go."""
    told = replace(ahead_of(START).problem, lift=None, obstacles=Obstacles.of({NAME: PLACED}))
    q = partly_off(replace(told, obstacles=NO_OBSTACLES), PLACED)

    def begun_at(position):
        planner = RestartingPlanner(lambda: told, SETTINGS)
        planner.warm_up([IDLE], at(0.0), told.bounds)
        return planner, planner.step(IDLE, replace(at(0.0), position=position), told.bounds)

    planner, first = begun_at(START)
    assert first.plan is not None
    ends(planner)
    after = planner.step(IDLE, replace(at(0.2), position=q), told.bounds)
    assert after.plan is not None, after.finding
    assert after.plan.start_time == 0.2
    assert begun_at(q)[1].plan is None
