"""What was placed is picked again only where it is certain which object the hand is about."""

from dataclasses import replace

import numpy as np
from plan.kinova_problem import START
from plan.test_handled_places import HELD, MODEL, THERE, place, reached, refusal, standing_with
from plan.test_restarting import IDLE, SETTINGS, at
import pytest
from reach.test_retreat import ALLOWED, NAME

from safe_sysid.model.collision.arm_clearance import arm_clearance
from safe_sysid.model.collision.capsules_to_box import box_about, clearances
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.plan.handled_places import PICK, reached_places
from safe_sysid.plan.path.joint_path import Points, joint_path
from safe_sysid.plan.picked_again import picked_again
from safe_sysid.plan.restarting import RestartingPlanner
from safe_sysid.plan.search.best_plan import Budget
from safe_sysid.plan.search.traverse import looked_at
from safe_sysid.plan.task_goal import GoalError, Surroundings
from safe_sysid.sets.box import Box

OTHER = 'placed: object/8'
OWN = box_about(MODEL, [HELD], START).plus_ball(0.01)


def found(q=START, boxes=None):
    return picked_again(MODEL, q, Obstacles.of(boxes or {NAME: OWN}), ALLOWED, [HELD])


def moved(box, *by):
    return replace(box, center=box.center + by)


def test_what_was_placed_there_is_picked_and_the_way_leads_straight_in():
    picks = found()
    assert picks.name == NAME
    np.testing.assert_array_equal(picks.way[-1], START)
    assert arm_clearance(MODEL, Obstacles.of({NAME: OWN}), picks.way[0]).distance > 0.0
    frames = [joint_frames(MODEL, q) for q in picks.way]
    tips = np.array([p[-1] for _, p in frames])
    middle = np.array(
        [p[-1] + R[-1] @ frames[-1][0][-1].T @ (OWN.center - frames[-1][1][-1]) for R, p in frames]
    )
    line = (tips[-1] - OWN.center) / np.linalg.norm(tips[-1] - OWN.center)
    way = middle - OWN.center
    beside = way - np.outer(way @ line, line)
    assert np.abs(beside).max() < 1e-3
    assert np.all(np.diff(way @ line) < 0.0)


def test_where_the_hand_is_about_nothing_that_was_placed_nothing_is_picked_again():
    assert found(THERE) is None
    assert found(START, {'cup': OWN}) is None
    assert reached(place('pick', START)) == {'pick': pytest.approx(START)}


def test_two_objects_within_reach_are_refused_with_both():
    with pytest.raises(GoalError) as refused:
        found(boxes={NAME: OWN, OTHER: moved(OWN, 0.0, 0.02, 0.0)})
    assert f'inside {NAME} and {OTHER} there; which of them is picked is not' in str(refused.value)


def test_an_object_whose_middle_is_not_in_the_grasp_is_refused():
    box = moved(OWN, *(1.5 * OWN.half_sizes[0] * OWN.rotation[:, 0]))
    with pytest.raises(GoalError, match='that it is picked is not certain') as refused:
        found(boxes={NAME: box})
    assert f'mm inside {NAME}, whose middle is' in str(refused.value)


def test_an_object_that_another_part_of_the_arm_touches_is_refused():
    elbow = next(c for c in range(len(MODEL.capsules.names)) if 1 <= MODEL.capsules.joint[c] < 4)
    R, p = joint_frames(MODEL, START)
    j = MODEL.capsules.joint[elbow]
    center = R[j] @ MODEL.capsules.a[elbow] + p[j]
    with pytest.raises(GoalError, match=f'mm inside {NAME}$'):
        found(boxes={NAME: replace(OWN, center=center)})


def specks(q):
    """Small boxes all about the arm."""
    _, p = joint_frames(MODEL, q)
    away = np.random.default_rng(0).uniform(-0.15, 0.15, (2000, 3))
    return (Box(p[-1] + each, np.full(3, 0.004), np.eye(3)) for each in away)


def gap(box, q):
    return arm_clearance(MODEL, Obstacles.of({'shelf': box}), q).distance


def test_a_way_in_that_begins_inside_something_is_refused():
    begin = found().way[0]
    shelf = next(box for box in specks(begin) if gap(box, START) > 0.0 > gap(box, begin))
    with pytest.raises(GoalError, match=f'where the way straight into {NAME} begins, .* shelf'):
        found(boxes={NAME: OWN, 'shelf': shelf})


def test_at_the_place_the_object_is_in_the_hand_and_the_other_one_is_not():
    beside = START + 0.03 * np.eye(7)[0]
    boxes = {NAME: OWN, OTHER: box_about(MODEL, [HELD], THERE)}
    both = place('pick', START), place('place', beside)
    around = Surroundings(MODEL, Obstacles.of(boxes), THERE + 0.5 * np.eye(7)[0])
    told = reached_places(both, around, standing_with(), [HELD])
    assert told.again.name == NAME
    np.testing.assert_array_equal(told.by_name[PICK], START)
    assert 'inside' in refusal(place('pick', START), place('place', THERE), boxes=boxes)


@pytest.fixture(scope='module')
def problem():
    return standing_with().problem


def test_the_way_in_is_certified_among_all_else(problem):
    picks = found()
    path, is_timed = joint_path(
        MODEL, Points([0.0] * len(picks.way), picks.way, [], []), picks.way[0]
    )
    curve = replace(problem.horizon.curve, q0=picks.way[0])
    begun = replace(problem, horizon=replace(problem.horizon, curve=curve))
    looked_at(begun, path, is_timed, Budget.of(600.0))


@pytest.mark.parametrize('is_noted', [True, False])
def test_a_hand_that_comes_to_rest_on_its_way_in_leaves_it_again(problem, is_noted):
    """Nearer than errors need, and not in contact: it could not stand without the note."""
    picks = found()
    points = np.concatenate(
        [np.linspace(a, b, 20) for a, b in zip(picks.way, picks.way[1:], strict=False)]
    )
    tip = np.flatnonzero(MODEL.capsules.joint == MODEL.layout.tip)
    q = next(q for q in points if 0.0 < clearances(MODEL, q, tip, OWN).min() < 0.004)
    told = replace(problem, obstacles=Obstacles.of({NAME: OWN}))
    planner = RestartingPlanner(lambda: told, replace(SETTINGS, intervals=128))
    planner.warm_up([IDLE], at(0.0), told.bounds)
    if is_noted:
        planner.note_rest(picks.way[-1])
    result = planner.step(IDLE, replace(at(0.0), position=q), told.bounds)
    assert (result.plan is not None) == is_noted, result.finding


def test_a_note_of_a_pick_counts_no_more_once_the_hand_is_elsewhere(problem):
    picks = found()
    told = replace(problem, obstacles=Obstacles.of({NAME: OWN}))
    planner = RestartingPlanner(lambda: told, replace(SETTINGS, intervals=128))
    planner.warm_up([IDLE], at(0.0), told.bounds)
    planner.note_rest(picks.way[-1])
    assert planner.step(IDLE, replace(at(0.0), position=picks.way[0]), told.bounds).plan
    planner.forget()
    assert len(planner._rests) == 1
