"""Rows of a calibration narrow what is known of a payload, for errors as large as it promises."""

from dataclasses import replace
import itertools

from identify.calibrated_arm import SETTINGS, CalibratedArmCase, holds
import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.identify.calibrated_rows import calibrated_rows
from safe_sysid.identify.earlier_payloads import (
    OTHER_CALIBRATION,
    SAME_ARM,
    EarlierPayloads,
    EarlierRows,
)
from safe_sysid.identify.observation import Observation
from safe_sysid.identify.online_identifier import IdentifierSettings, OnlineIdentifier
from safe_sysid.identify.payload_estimator import SolveSettings
from safe_sysid.identify.solves import SolvesAtOnce, SolvesInBackground
from safe_sysid.model.promised_links import CalibratedArm
from safe_sysid.sets.interval import Interval

SECONDS = 1.0


def mean_ratio(found, plain):
    """Mean share of the widths that is left."""
    return np.exp(np.mean(np.log(found.bounds.radius / plain.bounds.radius)))


@pytest.fixture(scope='module')
def case():
    return CalibratedArmCase(np.random.default_rng(0))


@pytest.fixture(scope='module')
def measured(case):
    return case.measured(SECONDS)


@pytest.mark.parametrize('seed', slow_after(1, range(8)))
def test_bounds_with_a_calibration_contain_the_payload_and_are_narrower(seed):
    """Errors at 0.9 of the promise, at random and along the mass of the last link."""
    case = CalibratedArmCase(np.random.default_rng(seed))
    measured = case.measured(SECONDS)
    plain = case.solution(measured)
    assert holds(plain, case.truth)
    for signs in (case.at_random(), case.along(case.model.layout.end_effector.start)):
        found = case.solution(measured, case.links(signs))
        assert holds(found, case.truth)
        assert found.bounds.radius[0] < 0.75 * plain.bounds.radius[0]
        assert mean_ratio(found, plain) < 0.9


@pytest.mark.slow
@pytest.mark.parametrize('seed', range(2))
def test_seven_joints_too_and_at_every_solve_on_the_way(seed):
    case = CalibratedArmCase(np.random.default_rng(seed), 'kinova_gen3')
    measured = case.measured(2.0)
    plain, knowing = case.estimator(), case.estimator(case.links(case.at_random()))
    for begin, end in itertools.pairwise((0.0, 0.5, 1.0, 1.5, 2.1)):
        part = measured.rows((measured.end > begin) & (measured.end <= end))
        for estimator in (plain, knowing):
            estimator.add(part)
        without, found = plain.solve(), knowing.solve()
        assert holds(without, case.truth)
        assert holds(found, case.truth)
        assert mean_ratio(found, without) < 0.8


def test_rows_of_the_file_hold_for_errors_of_nearly_the_whole_promise(case):
    links = case.links(case.at_random(), size=0.99)
    off = np.abs(links.Y @ case.theta - links.tau)
    rounding = links.rounding @ np.array([np.abs(case.theta).sum(), 1.0])
    assert np.all(off <= links.delta + rounding)
    assert off.max() > 0.98 * links.delta.max()
    assert rounding.max() < 1e-6 * links.delta.min()


def test_a_promise_that_is_too_small_loses_the_payload(case, measured):
    links = case.links(case.at_random())
    found = case.solution(measured, replace(links, delta=0.05 * links.delta))
    assert not holds(found, case.truth)


def test_a_gain_and_a_zero_of_then_are_unknowns_as_large_as_promised_of_torques(case):
    """The fit of a calibration contains them, so that no error of its spectra shows them."""
    measured = case.measured(3.0)
    exact = replace(SETTINGS.torques(case.model), ratio=np.zeros(2), absolute=np.zeros(2))
    ranged = replace(exact, ratio=np.full(2, 0.02), absolute=np.full(2, 0.05))
    offset = case.theta.copy()
    offset[case.model.layout.joint_entries('beta')] += [0.045, -0.045]
    for changed in ({'gain': 1.018}, {'theta': offset}):
        links = case.links(case.at_random(), size=0.05, **changed)
        sharp = replace(links, delta=0.06 * links.delta)
        assert holds(case.solution(measured, sharp, ranged), case.truth)
        assert not holds(case.solution(measured, sharp, exact), case.truth)


def test_a_sensor_behind_the_gear_feels_no_friction_and_no_rotors(case, measured):
    layout, felt = case.model.layout, np.ones(case.model.layout.size)
    for label in ('Fc', 'Fv', 'Ia'):
        felt[layout.joint_entries(label)] = 0.0
    links = case.links(case.at_random(), felt=felt)
    torques = SETTINGS.torques(case.model)
    behind = replace(torques, has_rotors=False)
    assert holds(case.solution(measured, links, behind), case.truth)
    assert not holds(case.solution(measured, links, torques), case.truth)


def test_a_calibration_of_another_arm_is_named_and_left_out_from_then_on(case, measured):
    theta = case.theta.copy()
    theta[:10] *= 1.3
    estimator = case.estimator(case.links(case.at_random(), theta=theta))
    estimator.add(measured)
    solution = estimator.solve()
    assert 'those of the calibration' in str(solution.contradiction)
    assert 'payloads before' not in str(solution.contradiction)
    assert not estimator._earlier.has_calibration
    estimator.new_payload(None)
    estimator.add(measured)
    assert holds(estimator.solve(), case.truth)


def one_row(value):
    """theta_r = value within 0.1, with one unknown of its own that is 0."""
    one = np.ones(1)
    return EarlierRows(
        Observation(np.zeros((1, 10)), np.ones((1, 1)), value * one, 0.1 * one, np.zeros(1, int),
                    0.0 * one, one),
        np.ones((1, 3)), Interval(np.zeros(3), np.zeros(3)),
    )  # fmt: skip


def of_payload(value):
    return replace(one_row(value).rows, Y_e=np.ones((1, 10)))


BOX = Interval(np.zeros(10), np.ones(10))


def columns(earlier):
    """Right sides of all rows, and unknowns that are not shared."""
    every, _, rest = earlier.with_calibration(
        of_payload(9.0), np.array([0]), Interval(np.zeros(1), np.ones(1))
    )
    return every.b.tolist(), rest.lower.size - 1


def test_a_calibration_stays_while_payloads_come_and_go():
    earlier = EarlierPayloads(1)
    earlier.calibrate(one_row(5.0))
    for value in (1.0, 2.0):
        earlier.remember(of_payload(value), BOX)
    assert columns(earlier) == ([9.0, 5.0, 2.0], 13)
    earlier.forget()
    assert columns(earlier) == ([9.0, 5.0], 3)


def test_a_contradiction_ends_the_use_of_all_that_was_before():
    earlier = EarlierPayloads(2)
    earlier.calibrate(one_row(5.0))
    earlier.remember(of_payload(1.0), BOX)
    assert earlier.doubt() == (SAME_ARM, OTHER_CALIBRATION)
    assert columns(earlier) == ([9.0], 0)
    assert earlier.doubt() == ()


def test_where_a_calibration_says_little_it_takes_no_work_from_the_other_rows(case, measured):
    """Errors so large that it says nothing, and few pivots."""
    links = case.links(case.at_random())
    vague = replace(links, delta=1e3 * links.delta)
    found, plain = (case.solution(measured, x, pivots=150) for x in (vague, None))
    assert np.all(found.bounds.radius <= plain.bounds.radius)
    assert plain.bounds.radius[0] < case.prior.end_effector_bounds.radius[0]


def test_an_arm_that_may_change_takes_no_calibration(case, measured):
    links = case.links(case.at_random())
    assert not case.estimator(links, remembered_payloads=0)._earlier.has_calibration
    earlier = case.estimator(links, row_budget=80)._earlier
    assert len(columns_of_rows(earlier, measured)) == 20


def columns_of_rows(earlier, measured):
    """Rows that come on top of those measured."""
    none = np.arange(len(measured))
    rest = Interval(np.zeros(measured.Y_r.shape[1]), np.ones(measured.Y_r.shape[1]))
    return earlier.with_calibration(measured, none, rest)[0].b[len(measured) :]


def test_the_hand_of_then_is_within_the_prior_or_that_of_the_links(case):
    """A prior that excludes the empty hand, as with a payload that is always there."""
    prior, place = case.prior, case.model.layout.end_effector
    lower, theta = prior.bounds.lower.copy(), case.loaded.theta.copy()
    lower[place.start] = case.hand.upper[0] + 0.1
    heavy = replace(prior, theta=theta, bounds=Interval(lower, prior.bounds.upper))
    arm = CalibratedArm(case.links(case.at_random()), case.hand)
    rows = calibrated_rows(arm, heavy, SETTINGS.torques(case.model), 10)
    assert rows.bounds.lower[0] == case.hand.lower[0]
    assert len(rows.rows) == 10


@pytest.mark.slow
def test_the_process_that_computes_bounds_has_the_rows_too(case):
    arm = CalibratedArm(case.links(case.at_random()), case.hand)
    settings = IdentifierSettings(SETTINGS, SolveSettings(seconds=1e4, fit_seconds=1e4))
    log, found = case.log(1.0), []
    for solves, known in (
        (SolvesAtOnce, arm), (SolvesInBackground, arm), (SolvesInBackground, None),
    ):  # fmt: skip
        identifier = OnlineIdentifier(case.model, case.prior, settings, solves, None, known)
        for i in range(len(log)):
            identifier.step(log[i])
        found.append(identifier.finish().end_effector_bounds)
        identifier.close()
    at_once, behind, without = found
    assert behind.contains(case.truth)
    assert behind.radius[0] == pytest.approx(at_once.radius[0], rel=0.05)
    assert behind.radius[0] < 0.75 * without.radius[0]


@pytest.mark.parametrize('pivots', slow_after(1, [60, 150, 4000]))
def test_bounds_are_never_wider_for_a_calibration_solve_after_solve(case, measured, pivots):
    """Whatever work is left, with a full buffer too: the other rows go on as without one."""
    few = {'pivots': pivots, 'row_budget': 60}
    plain, knowing = case.estimator(**few), case.estimator(case.links(case.at_random()), **few)
    for begin, end in itertools.pairwise(np.linspace(0.0, 1.1 * SECONDS, 8)):
        part = measured.rows((measured.end > begin) & (measured.end <= end))
        if len(part):
            for estimator in (plain, knowing):
                estimator.add(part)
            assert plain.solve().bounds.contains(knowing.solve().bounds)


def test_a_calibration_of_which_no_row_is_kept_is_none(case):
    links = case.links(case.at_random())
    rows = calibrated_rows(
        CalibratedArm(links, case.hand), case.prior, SETTINGS.torques(case.model), 0
    )
    earlier = EarlierPayloads(2)
    earlier.calibrate(rows)
    assert not earlier.has_calibration
    assert earlier.doubt() == ()


@pytest.mark.parametrize(
    'changed',
    [
        {'Y': lambda links: 1e300 * links.Y},
        {'Y': lambda links: links.Y.astype(complex)},
        {'tau': lambda links: np.full_like(links.tau, np.nan)},
        {'delta': lambda links: -links.delta},
        {'joint': lambda links: links.joint + 7},
        {'joint': lambda links: links.joint.astype(float)},
        {'seconds': lambda links: np.nan * links.seconds},
    ],
)
def test_rows_that_calibrate_does_not_write_are_refused(case, changed):
    links = case.links(case.at_random())
    with pytest.raises(
        ValueError, match='links|blocks'
    ):  # which the reader of the file tells with its name
        replace(links, **{name: of(links) for name, of in changed.items()})
