"""A plan that is not followed counts as one that is, for as long as word of it may take."""

import math

from safe_sysid.plan.agreement import Agreement, Followed

OURS = Followed(5_000_000_000, 8_000_000_000)
OTHER = Followed(3_500_000_000, 6_500_000_000)


def test_a_plan_that_is_followed_is_agreed_on_at_all_times():
    agreement = Agreement(0.5)
    assert all(agreement.holds(OURS.start, OURS, now) for now in (0.0, 0.4, 100.0))


def test_a_difference_is_borne_within_the_patience_and_not_beyond():
    for followed in (OTHER, None):
        agreement = Agreement(0.5)
        assert agreement.holds(OURS.start, followed, 10.0)
        assert agreement.holds(OURS.start, followed, 10.499)
        assert not agreement.holds(OURS.start, followed, 10.5)
        assert not agreement.holds(OURS.start, followed, 11.0)


def test_the_patience_begins_anew_after_an_agreement():
    agreement = Agreement(0.5)
    assert agreement.holds(OURS.start, OTHER, 10.0)
    assert agreement.holds(OURS.start, OURS, 10.3)
    assert agreement.holds(OURS.start, OTHER, 10.6)
    assert agreement.holds(OURS.start, OTHER, 11.0)
    assert not agreement.holds(OURS.start, OTHER, 11.1)


def test_a_clock_that_begins_at_zero_is_one_like_any_other():
    agreement = Agreement(0.5)
    assert agreement.holds(OURS.start, None, 0.0)
    assert not agreement.holds(OURS.start, None, 0.6)


def test_patience_without_an_end_agrees_with_everything():
    agreement = Agreement(math.inf)
    assert all(agreement.holds(OURS.start, None, now) for now in (0.0, 1e9))
