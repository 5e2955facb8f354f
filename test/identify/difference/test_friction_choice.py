"""Terms that few arms have are found by held-out parts, and not found in arms without them."""

from dataclasses import replace

from identify.difference.two_recordings import PAYLOAD, TwoLinks
import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.errors import MeasurementError
from safe_sysid.identify.difference.against_empty import payload_difference
from safe_sysid.identify.difference.friction_choice import chosen_friction
from safe_sysid.identify.difference.rows import stretch_of
from safe_sysid.measure.filters import derivative


def spring(log):
    """Torque of a spring of joint 2 and of a gravity compensator of joint 1 [N m]."""
    return np.stack([6.0 * np.sin(log.q[:, 0] + 0.4), 8.0 * log.q[:, 1]], axis=1)


def coupled(log):
    """Torque of a last motor that turns with both joints [N m]."""
    qd = derivative(log.q, log.rate)
    qdd = derivative(qd, log.rate)
    both = 2.0 * np.tanh(qd.sum(axis=1, keepdims=True) / 0.01)
    return 3.0 * qd[:, ::-1] + 0.5 * qdd[:, ::-1] + both


@pytest.mark.parametrize(
    ('torque', 'name'), slow_after(1, [(spring, 'spring'), (coupled, 'coupled wrist')])
)
def test_a_term_of_few_arms_is_found_and_its_payload_too(rng, torque, name):
    arm = TwoLinks(rng)
    logs = [arm.log(PAYLOAD), arm.log(0.0 * PAYLOAD, 40.0)]
    loaded, empty = (replace(log, tau=log.tau + torque(log)) for log in logs)
    found = payload_difference(replace(arm.problem(loaded, [empty]), friction=None))
    assert name in found.friction.terms.names
    errors = dict(found.friction.table)
    assert errors[name] < 0.7 * errors['Coulomb and viscous']
    for bounds in (found.statistical_bounds, found.guaranteed_bounds):
        assert bounds.lower[0] <= PAYLOAD[0] <= bounds.upper[0]


def test_an_arm_that_friction_explains_is_not_asked_for_springs(rng):
    arm = TwoLinks(rng)
    problem = arm.problem(arm.log(PAYLOAD), [arm.log(0.0 * PAYLOAD, 40.0)])
    found = payload_difference(replace(problem, friction=None))
    assert 'spring' not in dict(found.friction.table)
    assert not {'spring', 'coupled wrist'} & set(found.friction.terms.names)


def test_fewer_rows_than_parts_are_too_few(rng):
    arm = TwoLinks(rng)
    stretch = stretch_of(arm.model, arm.log(0.0 * PAYLOAD), 5.0, 0, loaded=False)
    kept = replace(stretch, kept=slice(60, 60 + 3 * stretch.kept.step, stretch.kept.step))
    few = replace(kept, filtered=stretch.filtered[:3], tau=stretch.tau[:3])
    with pytest.raises(MeasurementError, match='6 rows of moving joints are too few'):
        chosen_friction(arm.model, [few])


@pytest.mark.slow
def test_one_after_the_other_gives_the_same_as_two_at_a_time(monkeypatch):
    def found(threads):
        monkeypatch.setenv('OPENBLAS_NUM_THREADS', threads)
        arm = TwoLinks(np.random.default_rng(2))
        problem = arm.problem(arm.log(PAYLOAD), [arm.log(0.0 * PAYLOAD, 40.0)])
        return payload_difference(replace(problem, friction=None))

    both, one = found('1'), found('2')
    assert both.friction == one.friction
    for name in ('statistical_bounds', 'guaranteed_bounds'):
        np.testing.assert_array_equal(getattr(both, name).lower, getattr(one, name).lower)
        np.testing.assert_array_equal(getattr(both, name).upper, getattr(one, name).upper)
