"""The whole loop with an arm that is read in steps and moved late, at its stated worst."""

from dataclasses import replace

from integration.seen_arm import WorstArm, known_to_a_percent, seen_kinova, truth_within
import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.bench.experiments.late_arm import PERIOD, START, gains_of, sampling_of
from safe_sysid.bench.experiments.planning import at_rest
from safe_sysid.closed_loop import LoopFault, look, run
from safe_sysid.errors import BoundError, MeasurementError
from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.contact import ContactGauge
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.payload import read_payload
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner
from safe_sysid.plan.result import SearchOutcome
from safe_sysid.plan.search.best_plan import SearchSettings
from safe_sysid.track.sensed_passivity import BrokenPromiseError, SensedPassivityController

NEAR = START + np.array([0.3, -0.1, 0.2, 0.2, -0.2, 0.1, 0.2])
FAR = START + np.array([2.5, -0.7, 1.2, 1.4, -1.2, 0.9, 1.4])  # farther than a motion leads
SETTINGS = PlannerSettings(
    pace=1e4, intervals=32, search=SearchSettings(candidates=16, rounds=0, intervals=32)
)
FAULT = 1.0  # [s], in motion


class Known:
    """An identifier that has nothing to learn."""

    def __init__(self, estimate):
        self.estimate = estimate

    def step(self, _):
        return self.estimate


class Loop:
    """An arm at its worst, its planner and its controller."""

    def __init__(self, seed, goal):
        rng, clock = np.random.default_rng([17, seed]), Clock(0)
        self.model, self.clock = seen_kinova(), clock
        self.gains, self.sampling = gains_of(self.model), sampling_of(self.model)
        self.estimate = known_to_a_percent(self.model)
        problem = at_rest(self.model, self.estimate, START, NO_OBSTACLES)
        problem = replace(problem, gains=self.gains, sampling=self.sampling)
        mission = Mission(self.model, goal, MissionSettings(exciting=0, route_seconds=600.0))
        self.planner = RecedingHorizonPlanner(problem, mission, clock, SETTINGS)
        self.controller = SensedPassivityController(self.model, self.gains, clock, self.sampling)
        self.truth = truth_within(self.model, rng)
        self.robot = WorstArm(self.truth, START, self.sampling, self.gains, rng)
        self.moments, self.least = [], []
        look(self.robot, self.controller, 0.06)

    def watch(self, moment):
        self.robot.plan = moment.result.in_force
        self.moments.append(moment)
        self.least.append(self.controller.least_energy)

    def run(self, seconds):
        stages = Known(self.estimate), self.planner, self.controller
        last = self.moments[-1] if self.moments else None
        run(self.robot, *stages, round(seconds / PERIOD), self.watch, last)

    @property
    def plans(self):
        return list(dict.fromkeys(moment.result.in_force for moment in self.moments))

    def followed(self):
        """True state and plan in force at each sample."""
        before = self.plans[0]
        for truth, moment in zip(self.robot.truths, self.moments, strict=True):
            plan, t = moment.result.in_force, 1e-9 * truth.stamp
            if t >= plan.start_time:
                before = plan
            yield truth, before, max(t, before.start_time)


def refuse_broken_bounds(loop):
    """Compare every sample of the true motion with what was promised for it."""
    limits, V_M = loop.model.limits, loop.gains.V_M
    rigid = loop.truth.pinocchio()
    data, gauge = rigid.createData(), ContactGauge(loop.truth)
    used, energies, clearances = [], [], []
    for i, (truth, plan, t) in enumerate(loop.followed()):
        q_d, qd_d, _ = plan.desired(t)
        e, ed = q_d - truth.position, qd_d - truth.velocity
        error = plan.certificate.error
        used.append([np.max(np.abs(e) / error.position), np.max(np.abs(ed) / error.velocity)])
        assert np.all(np.abs(truth.velocity) < limits.velocity)
        assert np.all(truth.position > limits.position_lower)
        assert np.all(truth.position < limits.position_upper)
        if i % 5 == 0:
            M = pin.crba(rigid, data, truth.position)
            M = np.triu(M) + np.triu(M, 1).T
            r = ed + loop.gains.K_r * e
            energies.append(0.5 * r @ M @ r)
        if i % 100 == 0:
            clearances.append(gauge.clearance(truth.position).distance)
    assert np.max(used) <= 1.0
    assert np.max(energies) <= V_M
    assert np.min(clearances) > 0.0
    assert np.all(np.abs(loop.robot.torques) < limits.torque)
    assert np.max(loop.least) <= V_M


@pytest.mark.slow
def test_the_kinova_goes_to_a_goal_over_several_plans_with_its_published_encoders():
    loop = Loop(0, FAR)
    while not loop.moments or loop.moments[-1].result.outcome is not SearchOutcome.NOTHING_DUE:
        loop.run(0.5)
        assert len(loop.moments) < 15_000
    loop.run(loop.plans[-1].end_time - 1e-9 * loop.robot.truth.stamp + 0.3)
    assert len(loop.plans) >= 3
    assert any(np.abs(plan.desired(plan.start_time)[1]).max() > 0.01 for plan in loop.plans)
    assert np.abs(loop.robot.truth.position - FAR).max() < 0.03
    refuse_broken_bounds(loop)
    certificates = [plan.certificate for plan in loop.plans]
    assert all(
        plan.laws == certificate.laws
        for plan, certificate in zip(loop.plans, certificates, strict=True)
    )
    assert all(certificate.holds for certificate in certificates)
    assert certificates[0].problem.before is None
    for before, after in zip(loop.plans[:-1], loop.plans[1:], strict=True):
        since = after.start_time - before.start_time
        expected = before.certificate.law_at(since)
        assert after.certificate.problem.before.bounds == expected.bounds
        assert np.array_equal(after.certificate.problem.before.pace.rate, expected.pace.rate)


@pytest.mark.slow
@pytest.mark.parametrize(
    ('spoil', 'words'),
    [
        (lambda loop: loop.robot.attach(read_payload('dumbbell_8lb')), 'parameters within'),
        (
            lambda loop: loop.robot.coarsen(40.0),
            'no motion within its bounds fits .* one of these',
        ),
        (lambda loop: loop.robot.lose(40), r'samples came 41 ms apart, 1.01 ms are promised'),
    ],
    ids=['payload', 'steps', 'samples'],
)
def test_what_was_not_promised_is_named_and_the_arm_comes_to_rest(spoil, words):
    loop = Loop(1, NEAR)
    loop.run(FAULT)
    spoil(loop)
    with pytest.raises(LoopFault, match=words) as told:
        loop.run(6.0)
    assert isinstance(told.value.cause, BrokenPromiseError | MeasurementError)
    assert np.abs(loop.robot.truth.velocity).max() < 0.02  # as coarse as readings are by then
    assert np.all(np.abs(loop.robot.torques) <= loop.model.limits.torque)
    assert 1e-9 * loop.robot.truth.stamp >= loop.plans[-1].end_time


@pytest.mark.slow
def test_plans_without_what_late_readings_need_get_no_torque():
    loop = Loop(2, NEAR)
    ideal = replace(loop.planner._problem, sampling=None)
    loop.planner._problem = ideal
    with pytest.raises(LoopFault, match='has 0 laws: it was not certified for an arm') as told:
        loop.run(0.1)
    assert isinstance(told.value.cause, BoundError)
    assert str(told.value).endswith('the arm has got no torque')
