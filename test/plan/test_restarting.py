"""The planner begins again when it has to, and always with an arm at rest."""

from dataclasses import replace

import numpy as np
from plan.kinova_problem import QUICK, START, doubtful_place, kinova_problem, with_unknown_payload
import pytest

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.plan import receding_horizon
from safe_sysid.plan.agreement import Followed
from safe_sysid.plan.mission import Mission
from safe_sysid.plan.receding_horizon import PlannerSettings
from safe_sysid.plan.restarting import SOON, RestartingPlanner
from safe_sysid.plan.result import SearchFinding, SearchOutcome
from safe_sysid.plan.search.best_plan import stand_still

SETTINGS = PlannerSettings(pace=1e4, intervals=64, search=replace(QUICK, slow=0.01))
ORIGIN = 5_000_000_000


class Nothing:
    """A purpose without anything to plan for."""

    def due(self, ahead):
        del ahead

    def rehearsal(self, ahead):
        del ahead
        return iter(())


class Anything(Nothing):
    """A purpose with one kind of aim."""

    def rehearsal(self, ahead):
        del ahead
        return iter(['an aim'])


IDLE = Nothing()


@pytest.fixture(scope='module')
def problem():
    return kinova_problem()


def stamp(seconds):
    return ORIGIN + round(seconds * 1e9)


def at(seconds):
    return JointMeasurement(stamp(seconds), START, np.zeros(7), np.zeros(7))


def warm(planner, problem):
    planner.warm_up([IDLE], at(0.0), problem.bounds)
    return planner


def lockstep(problem):
    return warm(RestartingPlanner(lambda: problem, SETTINGS), problem)


def real_time(problem):
    return warm(RestartingPlanner.in_real_time(lambda: problem, SETTINGS), problem)


def follow(planner):
    """Say that the arm follows the plan in force."""
    plan, clock = planner.result.in_force, planner.clock
    planner.note_followed(Followed(clock.stamp(plan.start_time), clock.stamp(plan.end_time)))


def test_time_begins_with_the_warm_up(problem):
    planner = RestartingPlanner(lambda: problem, SETTINGS)
    assert not planner.is_warm
    warm(planner, problem)
    assert planner.is_warm
    assert planner.clock.origin == ORIGIN
    assert planner.step(IDLE, at(0.25), problem.bounds).plan.start_time == 0.25


@pytest.mark.parametrize(
    ('compiled', 'searches'), [([0, 0], 1), ([0, 7, 7, 7], 2), ([3, 4, 4, 9, 9, 9], 3)]
)
def test_trial_searches_end_with_one_in_which_nothing_was_compiled(
    problem, monkeypatch, compiled, searches
):
    counts, tried = iter(compiled), []
    monkeypatch.setattr(receding_horizon, 'compiled_here', lambda: next(counts))
    planner = RestartingPlanner(lambda: problem, SETTINGS)
    monkeypatch.setattr(
        receding_horizon.RecedingHorizonPlanner, '_search', lambda *told: tried.append(told)
    )
    planner.warm_up([Anything()], at(0.0), problem.bounds)
    assert len(tried) == searches


def test_a_result_is_given_once(problem):
    planner = lockstep(problem)
    result = planner.step(IDLE, at(0.0), problem.bounds)
    assert result is planner.result
    assert planner.step(IDLE, at(0.1), problem.bounds) is None
    assert planner.result is result


def test_it_begins_again_once_the_arm_is_at_rest(problem):
    planner = real_time(problem)
    before = planner.step(IDLE, at(0.0), problem.bounds)
    follow(planner)
    planner.begin_again()
    assert planner.step(IDLE, at(2.999), problem.bounds) is None
    assert planner.result is before
    after = planner.step(IDLE, at(3.0), problem.bounds)
    assert after.plan.start_time == 3.0


def test_it_begins_at_once_where_no_plan_is_followed(problem):
    planner = lockstep(problem)
    planner.step(IDLE, at(0.0), problem.bounds)
    planner.begin_again()
    assert planner.step(IDLE, at(0.2), problem.bounds).plan.start_time == 0.2


def test_a_plan_that_is_not_followed_for_long_is_given_up(problem):
    planner = real_time(problem)
    planner.step(IDLE, at(0.0), problem.bounds)
    for now in (0.1, 0.5):
        assert planner.step(IDLE, at(now), problem.bounds) is None
    assert planner.step(IDLE, at(0.6), problem.bounds).plan.start_time == 0.6
    for now in (0.7, 1.1):  # patient again
        assert planner.step(IDLE, at(now), problem.bounds) is None


def test_a_plan_that_is_not_followed_is_forgotten_while_the_arm_moves_on(problem):
    planner = real_time(problem)
    planner.step(IDLE, at(0.0), problem.bounds)
    planner.note_followed(Followed(stamp(-1.0), stamp(2.0)))
    for now in (0.1, 0.6):
        assert planner.step(IDLE, at(now), problem.bounds) is None
    assert planner.result is None
    assert planner.step(IDLE, at(1.9), problem.bounds) is None
    assert planner.step(IDLE, at(2.0), problem.bounds).plan.start_time == 2.0


def test_a_plan_that_is_followed_is_kept(problem):
    planner = real_time(problem)
    planner.step(IDLE, at(0.0), problem.bounds)
    begun = planner.result.plan
    follow(planner)
    for now in (0.1, 0.5, 0.7, 1.3):
        planner.step(IDLE, at(now), problem.bounds)
        assert planner.result.plan is begun


def test_in_lockstep_what_is_followed_does_not_matter(problem):
    planner = lockstep(problem)
    planner.step(IDLE, at(0.0), problem.bounds)
    for now in (0.1, 0.7, 1.3):
        assert planner.step(IDLE, at(now), problem.bounds) is None


def test_it_begins_again_where_the_arm_rests_on_a_later_plan(problem):
    """In lockstep too; else it would never say that nothing is left to do."""
    planner = lockstep(problem)
    begun = planner.step(IDLE, at(0.0), problem.bounds).plan
    planner.note_followed(Followed(stamp(1.0), stamp(3.0)))  # of a planner before
    planner.step(IDLE, at(2.9), problem.bounds)
    assert planner.result.plan is begun
    assert not planner.follows_result
    again = planner.step(IDLE, at(3.1), problem.bounds)
    assert again.plan.start_time == pytest.approx(3.1)
    follow(planner)
    assert planner.follows_result
    planner.step(IDLE, at(9.0), problem.bounds)
    assert planner.result.plan is again.plan


def test_it_begins_again_where_the_arm_rests_on_a_plan_of_before(problem):
    """A controller that was started again may take it over: it stands still where the arm is."""
    planner = lockstep(problem)
    begun = planner.step(IDLE, at(0.0), problem.bounds).plan
    planner.note_followed(Followed(stamp(-4.0), stamp(-1.0)))
    planner.step(IDLE, at(0.4), problem.bounds)  # who follows plans may still have to say so
    assert planner.result.plan is begun
    again = planner.step(IDLE, at(0.6), problem.bounds)
    assert again.plan.start_time == pytest.approx(0.6)


def test_every_beginning_asks_for_the_problem_anew(problem):
    asked = []
    planner = RestartingPlanner(lambda: asked.append(1) or problem, SETTINGS)
    warm(planner, problem)
    for t in (0.0, 0.1):
        planner.step(IDLE, at(t), problem.bounds)
    assert len(asked) == 2  # one to have everything compiled
    planner.begin_again()
    planner.step(IDLE, at(0.2), problem.bounds)
    assert len(asked) == 3


def test_where_time_does_not_wait_for_searches_the_first_motion_begins_soon(problem):
    """Any plan will do, as better ones follow; where none is found there is time for the next."""
    teaching = with_unknown_payload(problem)
    for make, begins in ((lockstep, SETTINGS.wait), (real_time, SOON)):
        planner, mission = make(teaching), Mission(teaching.model, None)
        first = planner.step(mission, at(0.0), teaching.bounds)
        assert first.successor.start_time == pytest.approx(begins)
        later = make(teaching)
        later.step(IDLE, at(0.0), teaching.bounds)
        follow(later)
        assert later.step(IDLE, at(begins), teaching.bounds) is not None
        assert later.step(IDLE, at(begins + 0.9 * SETTINGS.wait), teaching.bounds) is None


def test_only_in_real_time_a_successor_may_be_noticed_late(problem):
    teaching = with_unknown_payload(problem)
    for make, noticed in ((lockstep, False), (real_time, True)):
        planner, mission = make(teaching), Mission(teaching.model, None)
        first = planner.step(mission, at(0.0), teaching.bounds)
        assert first.outcome is SearchOutcome.FOUND
        late = first.successor.start_time + 0.4
        q, qd, _ = first.successor.desired(late)
        moved = JointMeasurement(stamp(late), q, qd, np.zeros(7))
        second = planner.step(mission, moved, teaching.bounds)
        assert (second.plan is first.successor) == noticed
        assert (second.outcome is SearchOutcome.MISSED) == (not noticed)


BESIDE = START + 1e-3  # where the arm is measured, within what it may be off


def rested(planner, problem):
    """Stand on a plan to its end, and begin again with another mission."""
    planner.step(IDLE, at(0.0), problem.bounds)
    follow(planner)
    planner.forget()


def first_of_the_next(planner, estimate, seconds=4.0, position=BESIDE):
    """Where the first plan of the next planner stands."""
    sample = replace(at(seconds), position=position)
    return planner.step(IDLE, sample, estimate).plan


def stands_at(plan, place):
    """Whether a plan stands there, as it goes on from another one or begins anew."""
    goes_on = plan.certificate.problem.error_at_start is not None
    assert goes_on == (place is START)
    return np.array_equal(plan.curve.q0, place)


def test_for_another_mission_the_arm_stays_where_its_plan_has_brought_it(problem):
    """Each beginning where it is measured would bring it a tracking error farther."""
    planner = real_time(problem)
    rested(planner, problem)
    planner.forget()  # for a third one
    assert stands_at(first_of_the_next(planner, problem.bounds), START)
    planner.forget()  # before the plan was heard of
    assert stands_at(first_of_the_next(planner, problem.bounds, 4.1), START)


def test_where_that_is_not_followed_each_way_is_tried_in_turn(problem):
    planner = real_time(problem)
    rested(planner, problem)
    places = START, BESIDE, START, BESIDE
    for now, place in zip((4.0, 4.6, 5.2, 5.8), places, strict=True):
        assert stands_at(first_of_the_next(planner, problem.bounds, now), place)
        planner.step(IDLE, at(now + 0.05), problem.bounds)


@pytest.mark.parametrize('why', ['begin_again', 'nobody', 'another', 'wider'])
def test_where_the_arm_may_not_be_on_its_plan_it_begins_where_it_is_measured(problem, why):
    planner, bounds = real_time(problem), problem.bounds
    rested(planner, problem)
    if why == 'begin_again':
        planner.begin_again()
    elif why == 'wider':  # of what may be held
        bounds = with_unknown_payload(problem).bounds
    else:
        other = None if why == 'nobody' else Followed(stamp(0.5), stamp(3.5))
        planner.note_followed(other)
    assert stands_at(first_of_the_next(planner, bounds), BESIDE)


@pytest.mark.parametrize(
    ('is_doubted', 'where', 'stays'),
    [
        (True, 'beside', True),
        (True, 'far', False),
        (False, 'far', True),
        (False, 'elsewhere', False),
    ],
)
def test_in_doubt_it_begins_with_an_energy_that_is_small_for_all_that_may_be_held(
    problem, is_doubted, where, stays
):
    planner = real_time(problem)
    rested(planner, problem)
    if is_doubted:
        planner.doubt()
    places = {'beside': BESIDE, 'far': doubtful_place(problem), 'elsewhere': START - 0.1}
    plan = first_of_the_next(planner, problem.bounds, position=places[where])
    assert stands_at(plan, START if stays else places[where])


def test_a_doubt_is_over_once_a_plan_has_begun(problem):
    planner = real_time(problem)
    rested(planner, problem)
    planner.doubt()
    first_of_the_next(planner, problem.bounds)
    follow(planner)
    planner.forget()
    far = doubtful_place(problem)
    assert stands_at(first_of_the_next(planner, problem.bounds, 8.0, far), START)


@pytest.mark.parametrize('passing', [True, False])
def test_where_staying_is_not_certified_the_arm_begins_where_it_is_measured(
    problem, monkeypatch, passing
):
    """Where neither is, both are tried again."""
    planner = real_time(problem)
    rested(planner, problem)
    refused = [True]

    def stand(problem, budget, settings):
        goes_on = problem.error_at_start is not None
        if (refused[0] or not passing) and (goes_on or passing):
            return SearchFinding(SearchOutcome.INFEASIBLE)
        return stand_still(problem, budget, settings)

    monkeypatch.setattr(receding_horizon, 'stand_still', stand)
    first = planner.step(IDLE, replace(at(4.0), position=BESIDE), problem.bounds)
    if passing:
        assert first.plan is None
        refused[0] = False
        first = planner.step(IDLE, replace(at(4.7), position=BESIDE), problem.bounds)
    assert stands_at(first.plan, START if passing else BESIDE)
