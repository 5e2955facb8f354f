"""Plans that begin anew on an arm that is seen late, after others, in their place or not."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from reach.test_seen_bounds import (
    ALL,
    CLOCK,
    GAINS,
    LOADED,
    SAMPLING,
    START,
    UNMEASURED,
    Arm,
    bounded,
    faster,
    horizon_of,
    known,
    nominal,
    plan_of,
    sample,
)

from safe_sysid.errors import BoundError, MeasurementError
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.sets.interval import Interval
from safe_sysid.track.law_numbers import law_of, numbers_of
from safe_sysid.track.plan_succession import PlanSuccession, SuccessionSettings
from safe_sysid.track.sensed_passivity import SensedPassivityController
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

Q, REST = np.array([-1.0, 0.5]), np.zeros(2)
LASTS, PERIOD = 0.3, SAMPLING.period
OLDER = replace(SAMPLING, delay=2.5e-3)  # a plan is told more than two samples before it begins


def narrow(center, radius):
    """Known but for a load in a range."""
    model = nominal(LOADED)
    theta, spread = model.theta.copy(), np.zeros_like(model.theta)
    load = model.layout.joint_entries('beta')
    theta[load], spread[load] = center, radius
    return ParameterEstimate(model.layout, theta, Interval(theta - spread, theta + spread))


def heavier(times):
    """Another body may be held, with inertias so many times those of now."""
    model, bounds = nominal(LOADED), known(LOADED).bounds
    upper = bounds.upper.copy()
    for i in range(2):
        upper[model.layout.inertial(i)] *= times
    lower = np.minimum(bounds.lower, upper)
    wide = Interval(lower, np.maximum(bounds.upper, upper))
    return ParameterEstimate(model.layout, wide.center, wide)


@cache
def certified(q=tuple(Q), estimate=None, sampling=SAMPLING, before=None, after=None):
    """Plan that stands still: alone, going on from another one, or anew after it."""
    horizon = Horizon(Bezier(np.array(q), REST, REST, LASTS), REST, REST, 8)
    told = nominal(LOADED), estimate or known(LOADED), horizon, LOADED.gains, NO_OBSTACLES
    problem = Problem(*told, sampling=sampling)
    if before is not None:
        problem = before.continued(problem, LASTS)
    if after is not None:
        problem = replace(problem, before=after.law_at(LASTS))
    return ReachableSet.certify_center(problem)


def standing(start, certificate):
    estimate, curve = certificate.problem.bounds, certificate.problem.horizon.curve
    end, theta = start + LASTS, estimate.theta
    return Plan(start, end, curve, REST, estimate.bounds, None, theta, laws=certificate.laws)


class Run:
    """An arm under the load at the end of its bounds, and the controller that sees it."""

    def __init__(self, certificate, share=1.0 - 1e-9):
        self.sampling = certificate.problem.sampling
        truth = narrow(share * 0.5, 0.0)
        model = nominal(LOADED).with_parameters(truth.theta)
        self.plan, self.estimate = standing(START, certificate), certificate.problem.bounds
        self.arm = Arm(model, self.plan, LOADED.gains)
        self.controller = SensedPassivityController(model, LOADED.gains, CLOCK, self.sampling)
        self.q, self.qd, self.count = Q.copy(), np.zeros(2), 0
        for i in range(-60, 0):
            self.controller.look(self.measured(START + i * PERIOD))
        self.given = [np.zeros(2)] * round(self.sampling.delay / PERIOD)

    @property
    def now(self):
        return START + self.count * PERIOD

    @property
    def reading(self):
        return np.round(self.q / SAMPLING.step) * SAMPLING.step

    def measured(self, t):
        stamp = CLOCK.origin + round(1e9 * t)
        return JointMeasurement(stamp, self.reading, np.full(2, np.nan), UNMEASURED)

    def step(self, *, sees=True):
        told = self.measured(self.now), self.plan, self.estimate
        self.given.append(self.controller.step(*told))
        if sees:
            e = self.plan.desired(max(self.now, self.plan.start_time))[0] - self.q
            r = 10.0 * e - self.qd
            assert np.all(np.abs(self.controller.r[0] - r) <= self.controller.r[1])
        self.move()

    def move(self):
        torque = self.given.pop(0)
        for _ in range(2):
            state = self.now, self.q, self.qd
            self.q, self.qd = self.arm.advance(*state, torque, PERIOD / 2)
        self.count += 1

    def until(self, seconds):
        while self.now < START + seconds:
            self.step()
        return self

    def follow(self, start, certificate):
        self.arm.after = self.plan = standing(start, certificate)
        self.estimate = certificate.problem.bounds


@pytest.mark.parametrize(('after', 'forgets'), [(0.2, False), (0.03, True)])
def test_an_arm_on_a_plan_that_stands_still_stands_from_its_start(after, forgets):
    """What was seen of it counts for the next one, though that stands a step further."""
    certificate = certified()
    run = Run(certificate).until(after)
    run.follow(run.now + run.sampling.age, certificate)
    curve = Bezier(Q + SAMPLING.step, REST, REST, LASTS)
    run.plan = run.arm.after = replace(run.plan, curve=curve)
    assert run.controller.forgets(run.plan) is forgets
    if not forgets:
        for _ in range(60):
            run.step(sees=False)


@pytest.mark.parametrize(
    'sampling',
    [OLDER, pytest.param(SAMPLING, marks=pytest.mark.slow)],
    ids=['several', 'one'],
)
def test_a_plan_that_jumps_to_the_arm_counts_from_its_first_sample_on(sampling):
    """It begins one age ahead, which may be several samples; until then it stands all the same."""
    first = certified(sampling=sampling)
    run = Run(first).until(0.8)
    assert np.abs(run.reading - Q).max() > 0.02
    known_now = narrow(0.475, 0.025)
    again = certified(tuple(run.reading), known_now, sampling, after=first)
    assert not again.law.goes_on
    run.follow(run.now + sampling.age, again)
    for _ in range(100):
        run.step()


@pytest.mark.parametrize('reads', [np.zeros(2), np.full(2, 0.02)], ids=['there', 'beside'])
def test_what_was_seen_under_a_law_of_less_knowledge_needs_a_plan_that_allows_for_it(reads):
    """Under wide bounds r may change faster than those of now allow for, at rest as well."""
    first, known_now = certified(), narrow(0.475, 0.025)
    place = tuple(Q + reads)
    for again, forgets in (
        (certified(place, known_now), True),
        (certified(place, known_now, after=first), False),
    ):
        run = Run(first, share=0.95).until(0.8)
        run.follow(run.now + run.sampling.age, again)
        assert run.controller.forgets(run.plan) == forgets
        assert not again.law.goes_on
        if forgets:
            with pytest.raises(MeasurementError, match='two samples'):
                run.step()


def test_a_plan_that_goes_on_from_another_law_than_that_in_force_is_refused():
    """As where a plan between the two was lost."""
    first = certified()
    on = certified(before=first)
    wild = replace(first, law=replace(faster(first.law, 1.3), first_pace=first.law.first_pace))
    for before, is_refused in ((first, False), (wild, True)):
        run = Run(first, share=0.02)
        run.plan = standing(START, before)
        run.until(LASTS)
        run.follow(run.now + SAMPLING.age, on)
        if is_refused:
            with pytest.raises(BoundError, match='not certified to go on from the law'):
                run.step()
        else:
            run.step()


def test_a_plan_that_comes_late_to_an_arm_that_has_not_moved_is_followed():
    """As after a brake and a start, while encoders say the same as before."""
    first, rest = certified(), np.full(2, np.nan)
    controller = SensedPassivityController(nominal(LOADED), LOADED.gains, CLOCK, SAMPLING)
    succession = PlanSuccession(controller, SuccessionSettings(late=PERIOD), PERIOD)
    succession.offer(standing(START, first))
    for i in range(-60, 800):
        t = START + i * PERIOD
        measured = JointMeasurement(CLOCK.origin + round(1e9 * t), Q, rest, UNMEASURED)
        if i == 700:
            again = standing(t - 0.1 + SAMPLING.age, first)
            succession.begin_anew()
            succession.offer(again)
        plan = succession.step(t + SAMPLING.age, measured, known(LOADED))
        if plan is None:
            controller.note(measured, None, known(LOADED))
        else:
            controller.step(measured, plan, known(LOADED))
    assert plan is again


def test_what_may_be_held_next_is_looked_at_where_the_plan_before_stands_too():
    """In time, and in the same place, so that nothing jumps; V may be that of a heavier body."""
    run = Run(certified()).until(0.8)
    wide = certified(estimate=heavier(1.02))
    run.follow(run.now + SAMPLING.age, wide)
    assert not run.controller.forgets(run.plan)
    with pytest.raises(BoundError, match='would begin with up to .* as far as can be seen'):
        run.step()


def test_where_nobody_pushes_what_may_be_held_next_is_granted():
    run = Run(certified(), share=0.02).until(0.8)
    run.follow(run.now + SAMPLING.age, certified(estimate=heavier(1.02)))
    for _ in range(100):
        run.step()


@pytest.mark.slow
def test_a_plan_that_goes_on_and_stands_needs_no_look_in_time_and_one_when_late():
    """V <= V_M of the plan before says it already, with the error that the arm may have."""
    first = certified()
    on = certified(before=first)
    assert on.law.goes_on
    run = Run(first).until(0.8)
    run.follow(run.now + SAMPLING.age, on)
    for _ in range(100):
        run.step()
    run = Run(first).until(0.8)
    run.follow(run.now + SAMPLING.age, first)
    with pytest.raises(BoundError, match='would begin with up to'):
        run.step()
    late = Run(first).until(0.8)
    late.follow(late.now - 0.1, on)
    with pytest.raises(BoundError, match='would begin with up to'):
        late.step()


def test_a_law_says_whether_it_goes_on_and_what_it_allows_for():
    first = certified()
    on = certified(before=first)
    for law, goes_on in ((first.law, False), (on.law, True)):
        assert law.goes_on == goes_on
        assert law_of(numbers_of(law), 2).goes_on == goes_on
    wild = faster(first.law, 1.3)
    assert on.law.allows_for(first.law, has_same_nominal=False)
    assert first.law.allows_for(first.law, has_same_nominal=True)
    assert not first.law.allows_for(first.law, has_same_nominal=False)
    assert not on.law.allows_for(wild, has_same_nominal=True)


def test_how_an_arm_moved_says_nothing_where_a_plan_does_not_allow_for_it():
    """A plan that stands in the place of one that moved there, and was made as if from rest."""
    first = certified()
    wild = replace(first, law=replace(faster(first.law, 1.3), first_pace=first.law.first_pace))
    for before, forgets in ((first, False), (wild, True)):
        run = Run(first, share=0.02)
        run.plan = replace(standing(START, before), k=np.full(2, 1e-8))  # which moves
        run.until(LASTS)
        run.follow(run.now + SAMPLING.age, first)
        assert run.controller.forgets(run.plan) == forgets
        if forgets:
            with pytest.raises(MeasurementError, match='too few samples|two samples'):
                run.step()
        else:
            run.step()


def test_a_plan_that_comes_late_gets_no_torque():
    """Torques of the plan before would act when it is in force already."""
    law, estimate, k = bounded().law, known(ALL), np.array([0.4, -0.3])
    plan = plan_of(law, estimate, k, horizon_of(k))
    rng = np.random.default_rng(5)

    def answered(extra, last=1e-3):
        controller = SensedPassivityController(nominal(ALL), GAINS, CLOCK, law.sampling)
        q, age = plan.desired(START)[0], law.sampling.age
        for i in range(-60, 40):
            t = START + 1e-3 * i
            measured = sample(
                rng, controller, CLOCK.origin + round(1e9 * t), q, plan, estimate, i >= 0
            )
        start = t + last + age - extra
        after = replace(
            plan_of(law, estimate, k, horizon_of(k), start), curve=plan.curve_from(start, 2.0)
        )
        stamp = CLOCK.origin + round(1e9 * (t + last))
        told = JointMeasurement(stamp, q, q, q)
        refusal = controller.refusal_when_late(after, t + last + age, told)
        assert ('after it should have been known' in refusal) == (extra > last)
        return measured, controller.step(told, after, estimate)

    answered(0.9e-3)
    answered(1.005e-3, last=1.01e-3)  # as late as a sample may be
    with pytest.raises(BoundError, match='a plan came 0.995 ms after it should have been known'):
        answered(0.995e-3, last=0.99e-3)  # the sample before should have had it
    with pytest.raises(BoundError, match='a plan came 2.5 ms after it should have been known'):
        answered(2.5e-3)
