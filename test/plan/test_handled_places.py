"""Places of `handle` are refused before anything moves exactly where the arm could not stand."""

from dataclasses import replace
from functools import partial

import numpy as np
from plan.kinova_problem import START, estimate_of, kinova_problem
from plan.test_restarting import IDLE, SETTINGS, at
import pytest
from reach.test_retreat import ALLOWED, NAME

from safe_sysid.bench.experiments.reach import kinova_with_dumbbell
from safe_sysid.model.collision.capsules_to_box import box_about
from safe_sysid.model.collision.moving_box import MotionBounds, MovingBox
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.plan.handled_places import Place, StandingAt, reached_places, with_hand
from safe_sysid.plan.restarting import RestartingPlanner
from safe_sysid.plan.task_goal import GoalError, Surroundings, choices_of_joints
from safe_sysid.sets.box import Box
from safe_sysid.sets.interval import Interval

HELD = 'dumbbell_8lb.dumbbell'
MODEL = kinova_with_dumbbell()
HAND = MODEL.theta[MODEL.layout.end_effector]
THERE = START + 0.9 * np.eye(7)[0]
BENT = np.array([0.0, 0.3, 0.0, 2.2, 0.0, 1.0, 0.0])
STRETCHED = np.array([0.0, 1.57, 0.0, 0.0, 0.0, 0.0, 0.0])


def standing_with(heaviest=1.0):
    """Of a hand with anything up to a multiple of what the model holds."""
    problem = replace(kinova_problem(), model=MODEL, bounds=estimate_of(MODEL), retreat=ALLOWED)
    ends = np.stack([0.9 * HAND, heaviest * HAND])
    held = Interval(ends.min(axis=0) - 1e-3, ends.max(axis=0) + 1e-3)
    return StandingAt(problem, 3.0, held, HAND)


def place(name, *configurations):
    """One of joints, or of a pose that several configurations lead to."""

    def choices(around):
        return tuple(q for each in configurations for q in choices_of_joints(each, around))

    return Place(name, choices)


def reached(*places, boxes=None, at_start=START, standing=None):
    around = Surroundings(MODEL, Obstacles.of(boxes or {}), at_start)
    return reached_places(places, around, standing or standing_with(), [HELD]).by_name


def refusal(*places, **other):
    with pytest.raises(GoalError) as refused:
        reached(*places, **other)
    return str(refused.value)


def about(q, half=0.05):
    """Something where the last joint is."""
    middle = box_about(MODEL, [HELD], q).center
    return Box(middle, np.full(3, half), np.eye(3))


def test_places_in_which_the_arm_may_stand_are_all_reached():
    found = reached(place('pick', START), place('lift', THERE), place('place', THERE))
    assert list(found) == ['pick', 'lift', 'place']
    np.testing.assert_array_equal(found['lift'], THERE)


@pytest.mark.parametrize('q', [START, THERE, STRETCHED])
@pytest.mark.parametrize('heaviest', [1.0, 1.4])
def test_what_is_refused_is_what_a_planner_would_not_stand_with(q, heaviest):
    """The plan that an announced change waits for, made where the arm would be then."""
    told = standing_with(heaviest)
    trouble = told.trouble(q, NO_OBSTACLES)
    bounds = with_hand(told.problem.bounds, told.held, told.nominal)
    planner = RestartingPlanner(lambda: told.problem, replace(SETTINGS, intervals=128))
    planner.warm_up([IDLE], at(0.0), bounds)
    found = planner.step(IDLE, replace(at(0.0), position=q), bounds)
    assert (found.plan is None) == bool(trouble), (trouble, found.finding)


def test_a_place_where_the_heaviest_is_too_heavy_is_refused_with_joint_and_torque():
    reached(place('pick', START), place('place', THERE))
    said = refusal(place('pick', BENT), place('place', THERE), standing=standing_with(1.4))
    assert said.startswith('place: standing there is not certified for the hand with whatever')
    assert 'torque of joint_2' in said
    assert f'to {1.4 * HAND[0] + 1e-3:.3g} kg' in said


def test_where_the_hand_does_not_change_only_the_shapes_count():
    assert standing_with().trouble(STRETCHED, NO_OBSTACLES)
    reached(place('pick', START), place('lift', STRETCHED))


@pytest.mark.parametrize('name', ['pick', 'lift', 'place'])
def test_a_place_in_an_obstacle_is_refused_with_both_shapes_and_how_far(name):
    said = refusal(place(name, THERE), boxes={'shelf': about(THERE)})
    assert said.startswith(f'{name}: ')
    assert said.endswith('mm inside shelf')


def test_a_place_that_only_errors_would_touch_is_refused_too():
    """Nearer than the arm may be off while it stands there."""
    box = about(THERE)
    away = choices_away(box)
    said = refusal(place('place', THERE), boxes={'shelf': away})
    assert 'obstacle clearance of' in said
    assert 'shelf' in said
    reached(place('lift', THERE), boxes={'shelf': away})


def choices_away(box):
    """The same at a millimetre from the arm at THERE."""
    for height in np.arange(0.05, 0.6, 0.0005):
        moved = replace(box, center=box.center - [0.0, 0.0, height])
        around = Surroundings(MODEL, Obstacles.of({'shelf': moved}), START)
        try:
            choices_of_joints(THERE, around)
        except GoalError:
            continue
        return moved
    raise AssertionError


def test_a_configuration_is_enough_and_the_first_one_says_why_none_is():
    np.testing.assert_array_equal(reached(place('place', STRETCHED, START))['place'], START)
    said = refusal(place('place', STRETCHED, STRETCHED))
    assert 'in none of 2 configurations; in the first standing there is not' in said


def test_what_moves_may_be_gone_and_is_not_in_the_way():
    box = about(THERE)
    told = partial(MovingBox, box.center, box.half_sizes, box.rotation, stamp=0)
    moving = told(velocity=np.zeros(3), bounds=MotionBounds(0.0, 0.1, 0.1, 0.1))
    reached(place('place', THERE), boxes={'visitor': moving})


def test_what_is_picked_goes_with_the_hand_and_all_else_stays():
    """Placed a little beside where the hand that has not left it picks it."""
    own, beside = box_about(MODEL, [HELD], START), START + 0.03 * np.eye(7)[0]
    reached(place('place', beside), boxes={NAME: own})
    assert f'inside {NAME}' in refusal(place('place', beside), boxes={NAME: own}, at_start=THERE)
    assert 'inside table' in refusal(place('place', beside), boxes={'table': own})
    other = 'placed: object/8'
    boxes = {NAME: own, other: box_about(MODEL, [HELD], THERE)}
    assert f'inside {other}' in refusal(place('place', THERE), boxes=boxes)


def test_a_place_that_cannot_be_read_or_reached_is_said_with_its_name():
    def nowhere(around):
        del around
        raise GoalError('out of reach')

    assert refusal(Place('pick', nowhere)) == 'pick: out of reach'
