"""Two horizons of the whole loop: bounds shrink around the truth, and no limit is crossed."""

import numpy as np
import pytest

from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.plan_search import SearchSettings
from safe_sysid.plan.receding_horizon import PlannerSettings
from safe_sysid.reach.obstacles import Obstacles
from safe_sysid.reach.tracking_error import tracking_error
from safe_sysid.report.excitation_episodes import UPRIGHT, Arm, Trial, episode
from safe_sysid.report.plan_trials import GAINS, boxes_beside
from safe_sysid.simulate.contact import ContactGauge

SECONDS = 6.0  # 1.5 s at rest, two plans of which the second brakes
COARSE = PlannerSettings(
    pace=100.0, search=SearchSettings(candidates=16, rounds=1, intervals=32, slow=0.02)
)


@pytest.fixture(scope='module')
def driven():
    rng = np.random.default_rng(7)
    arm = Arm.holding('dumbbell_8lb', rng)
    obstacles = boxes_beside(rng, arm.nominal, UPRIGHT, 3)
    purpose = Mission(arm.nominal, None, MissionSettings(exciting=2))
    return obstacles, episode(rng, Trial(arm, purpose, SECONDS, COARSE, obstacles))


def test_bounds_shrink_around_the_truth_and_never_widen(driven):
    _, done = driven
    assert done.contains_truth
    _, widths = done.widths_over_time()
    assert np.all(np.diff(widths, axis=0) <= 0.0)
    assert np.all(done.half_widths < 0.5 * widths[0])


def test_the_arm_moves_along_certified_plans_only(driven):
    _, done = driven
    plans = {id(s.plan): s.plan for s in done.samples}
    assert len(plans) == 3
    assert all(plan.certificate.holds for plan in plans.values())
    assert np.ptp([s.measurement.position for s in done.samples], axis=0).max() > 0.3
    last = done.samples[-1]
    assert np.abs(last.measurement.velocity).max() < 0.02  # at rest again
    assert last.plan.end_time <= SECONDS


def test_no_limit_is_crossed(driven):
    _, done = driven
    limits = done.arm.truth.limits
    q, qd = (
        np.array([getattr(s.measurement, x) for s in done.samples])
        for x in ('position', 'velocity')
    )
    torque = np.array([s.torque for s in done.samples])
    assert np.all(np.abs(torque) < limits.torque)
    assert np.all(np.abs(qd) < limits.velocity)
    assert np.all((limits.position_lower < q) & (q < limits.position_upper))


def test_errors_stay_within_their_bound(driven):
    _, done = driven
    for sample in done.samples[::40]:
        desired = sample.plan.desired(max(sample.measurement.stamp * 1e-9, sample.plan.start_time))
        error = np.abs(desired[0] - sample.measurement.position)
        bound = tracking_error(done.arm.nominal, sample.estimate, GAINS).position
        assert np.all(error <= bound)
        assert bound.max() < 0.05


def test_nothing_is_touched(driven):
    obstacles, done = driven
    shapes = dict(zip(obstacles.names, obstacles.shapes, strict=True))
    gauge = ContactGauge(done.arm.truth, shapes)
    assert isinstance(obstacles, Obstacles)
    assert min(gauge.clearance(s.measurement.position).distance for s in done.samples[::40]) > 0.0
