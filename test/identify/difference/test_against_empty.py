"""A payload between recordings: both intervals contain it, or are withheld."""

from dataclasses import replace

from identify.difference.two_recordings import PAYLOAD, PLAIN, TwoLinks
import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.calibrate.calibration import calibrate
from safe_sysid.calibrate.settings import CalibrationSettings
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.difference import guaranteed
from safe_sysid.identify.difference.against_empty import (
    payload_difference,
    with_proven_nominal,
)
from safe_sysid.identify.difference.answer_text import caution
from safe_sysid.identify.difference.friction_choice import FrictionChoice
from safe_sysid.identify.difference.friction_terms import FrictionTerms
from safe_sysid.sets.interval import Interval

UNDER_LOAD = FrictionChoice(FrictionTerms(load=True), 0.0, ())


@pytest.mark.parametrize('seed', slow_after(1, range(3)))
def test_both_intervals_contain_the_payload_of_an_unknown_arm(seed):
    arm = TwoLinks(np.random.default_rng(seed))
    found = payload_difference(arm.problem(arm.log(PAYLOAD), [arm.log(0.0 * PAYLOAD, 40.0)]))
    assert found.withheld is None
    assert found.not_guaranteed is None
    given, sure = found.statistical.bounds, found.guaranteed_bounds
    seen = np.r_[0:4, 9]  # two links in a plane show no more
    assert np.all((given.lower <= PAYLOAD)[seen])
    assert np.all((given.upper >= PAYLOAD)[seen])
    assert np.all((sure.lower <= PAYLOAD) & (sure.upper >= PAYLOAD))
    assert given.radius[0] < 0.3
    assert sure.radius[0] < 0.8
    assert with_proven_nominal(found) is found
    doubted = replace(found, statistical=None, nominal=found.nominal + 5.0)
    assert sure.contains(with_proven_nominal(doubted).nominal)


@pytest.mark.parametrize(
    ('false', 'option', 'left'),
    [({'reach': 0.1}, '--payload-reach', True), ({'payload_mass': 0.5}, '--payload-mass', False)],
)
def test_a_payload_beyond_what_is_assumed_of_it_gets_no_guaranteed_interval(
    rng, false, option, left
):
    """Its centre is 0.2 m away, and it weighs 1.5 kg: bounds on another body would be given."""
    arm = TwoLinks(rng)
    problem = arm.problem(arm.log(PAYLOAD), [arm.log(0.0 * PAYLOAD, 40.0)])
    found = payload_difference(replace(problem, **false))
    assert found.guaranteed_bounds is None
    assert option in found.not_guaranteed
    assert (found.statistical is not None) == left


def test_a_joint_that_always_stands_takes_no_guaranteed_interval_away(rng):
    arm = TwoLinks(rng)
    loaded, empty = arm.log_of_joint_1(PAYLOAD), arm.log_of_joint_1(0.0 * PAYLOAD, 40.0)
    found = payload_difference(arm.problem(loaded, [empty]))
    sure = found.guaranteed_bounds
    assert np.all((sure.lower <= PAYLOAD) & (sure.upper >= PAYLOAD))
    assert sure.radius[1] < 1.0  # 2.5 kg m by the largest payload and its reach


@pytest.mark.parametrize('seed', range(3))
def test_a_joint_that_moves_with_the_payload_alone_says_nothing_for_certain(seed):
    """Nobody saw its errors without the payload."""
    arm = TwoLinks(np.random.default_rng(seed))
    loaded, empty = arm.log(PAYLOAD), arm.log_of_joint_1(0.0 * PAYLOAD, 40.0)
    found = payload_difference(arm.problem(loaded, [empty]))
    sure = found.guaranteed_bounds
    assert sure is None or np.all((sure.lower <= PAYLOAD) & (sure.upper >= PAYLOAD))


def test_intervals_that_have_nothing_in_common_are_said(rng):
    arm = TwoLinks(rng)
    found = payload_difference(arm.problem(arm.log(PAYLOAD), [arm.log(0.0 * PAYLOAD, 40.0)]))
    assert caution(found) is None
    bounds = found.guaranteed.bounds
    heavier = Interval(bounds.lower + np.eye(10)[0], bounds.upper + np.eye(10)[0])
    other = replace(found, guaranteed=replace(found.guaranteed, bounds=heavier))
    assert 'interval of m have no value in common' in caution(other)


def test_a_motion_in_the_payloads_own_frame_gives_the_same_mass(rng):
    arm = TwoLinks(rng)
    problem = arm.problem(arm.log(PAYLOAD), [arm.log(0.0 * PAYLOAD)])
    moved = np.eye(10)
    moved[1, 0] = -0.1  # first moment about a point 0.1 m along x
    elsewhere = replace(problem, frame=('tool', moved, 0.1), inertia_prior=1e6)
    here, there = (payload_difference(p) for p in (replace(problem, inertia_prior=1e6), elsewhere))
    assert there.nominal[0] == pytest.approx(here.nominal[0], abs=1e-6)
    assert there.nominal[1] == pytest.approx(here.nominal[1] - 0.1 * here.nominal[0], abs=1e-6)


def test_friction_that_grows_with_the_load_biases_an_arm_without_it(rng):
    arm = TwoLinks(rng, load_friction=0.1, noise=0.002)
    loaded, empty = arm.log(PAYLOAD), arm.log(0.0 * PAYLOAD)
    plain, under_load = (
        payload_difference(arm.problem(loaded, [empty], friction))
        for friction in (PLAIN, UNDER_LOAD)
    )
    assert under_load.error[1] < 0.5 * plain.error[1]
    off = [abs(found.nominal[0] - PAYLOAD[0]) for found in (under_load, plain)]
    assert off[0] < 0.02
    assert under_load.withheld is None
    assert 'friction that grows with the load' in plain.withheld


def test_an_effort_whose_unit_is_uncertain_widens_both_intervals(rng):
    arm = TwoLinks(rng)
    loaded, empty = arm.log(PAYLOAD), arm.log(0.0 * PAYLOAD, 60.0)
    exact, doubtful = (
        payload_difference(arm.problem(loaded, [empty], gain_error=g)) for g in (0.0, 0.1)
    )
    assert doubtful.refused is None
    assert np.all(exact.statistical.from_gains == 0.0)
    assert doubtful.statistical.from_gains[0] >= 0.09 * doubtful.nominal[0]
    assert doubtful.guaranteed_bounds.radius[0] > exact.guaranteed_bounds.radius[0] + 0.05


def test_bounds_for_which_no_work_was_left_get_more_of_it_or_are_said_to_be_the_priors(
    rng, monkeypatch
):
    """As of long recordings, whose rows take more steps."""
    arm = TwoLinks(rng)
    problem = arm.problem(arm.log(PAYLOAD), [arm.log(0.0 * PAYLOAD)])
    monkeypatch.setattr(guaranteed, 'ROUNDS', ((60.0, 0.05),) * 2)
    found = payload_difference(problem)
    assert not found.guaranteed.is_cut_short
    assert 'too long for the work' not in (caution(found) or '')
    monkeypatch.setattr(guaranteed, 'IF_CUT_SHORT', ())
    short = payload_difference(problem)
    assert 'too long for the work' in caution(short)
    assert (short.guaranteed_bounds.lower < found.guaranteed_bounds.lower - 0.1).any()


def test_a_gain_that_differs_in_the_loaded_recording_is_not_believed(rng):
    arm = TwoLinks(rng, noise=0.005)
    loaded, empty = arm.log(PAYLOAD), arm.log(0.0 * PAYLOAD)
    halved = replace(loaded, tau=loaded.tau * np.array([0.4, 1.0]))
    found = payload_difference(arm.problem(halved, [empty]))
    assert found.guaranteed_bounds is None
    assert 'contradict' in found.not_guaranteed
    assert found.withheld is None or 'joint_1' in found.withheld


@pytest.mark.parametrize(('order', 'word'), [([1, 0], 'another order'), ([0, 1], 'axes')])
def test_columns_exchanged_or_of_the_other_sign_with_the_payload_are_named(rng, order, word):
    arm = TwoLinks(rng)
    loaded, empty = arm.log(PAYLOAD), arm.log(0.0 * PAYLOAD, 40.0)
    sign = 1.0 if order == [1, 0] else -1.0
    found = payload_difference(
        arm.problem(replace(loaded, tau=sign * loaded.tau[:, order]), [empty], gain_error=0.1)
    )
    assert found.refused.startswith('with the payload the effort signal')
    assert word in found.refused


def test_the_effort_of_another_unit_is_refused_where_nobody_vouches_for_it(rng):
    arm = TwoLinks(rng)
    logs = [arm.log(PAYLOAD), arm.log(0.0 * PAYLOAD)]
    currents = [replace(log, tau=0.05 * log.tau) for log in logs]
    problem = replace(arm.problem(currents[0], [currents[1]]), unit_is_stated=False)
    assert 'unit' in payload_difference(problem).refused


def test_rows_that_refute_the_usual_factor_get_more_room_than_just_enough():
    """A set just short of empty is the narrowest, and at 1.3 times the least factor was wrong."""
    arm = TwoLinks(np.random.default_rng(1))
    loaded, empty = arm.log(PAYLOAD), arm.log(0.0 * PAYLOAD)
    problem = arm.problem(replace(loaded, tau=1.05 * loaded.tau), [empty])
    found = payload_difference(problem).guaranteed
    usual = guaranteed.FACTOR_OF_FEW
    assert found.promise.blocks < guaranteed.FEW_BLOCKS
    assert usual < found.least < guaranteed.LARGEST_OF_FEW
    assert found.factor >= usual * found.least
    assert found.bounds.lower[0] <= PAYLOAD[0] <= found.bounds.upper[0]


def test_an_effort_of_strange_size_is_said_where_somebody_vouches_for_it(rng):
    arm = TwoLinks(rng)
    logs = [arm.log(PAYLOAD), arm.log(0.0 * PAYLOAD)]
    currents = [replace(log, tau=0.2 * log.tau) for log in logs]
    found = payload_difference(arm.problem(currents[0], [currents[1]]))
    assert found.statistical is not None
    assert 'not of the size' in caution(found)


@pytest.mark.parametrize('factor', [-1.0, 6.0])
def test_a_payload_that_no_body_is_gets_no_interval(factor, rng):
    arm = TwoLinks(rng)
    logs = [arm.log(PAYLOAD), arm.log(0.0 * PAYLOAD)]
    if factor < 0.0:
        logs.reverse()
    scaled = [replace(log, tau=abs(factor) * log.tau) for log in logs]
    found = payload_difference(arm.problem(scaled[0], [scaled[1]]))
    assert found.refused is not None
    assert 'would weigh' in found.withheld


def test_another_unit_of_all_joints_with_the_payload_is_not_taken_for_mass(rng):
    arm = TwoLinks(rng)
    loaded, empty = arm.log(PAYLOAD), arm.log(0.0 * PAYLOAD)
    louder = replace(loaded, tau=1.5 * loaded.tau)
    found = payload_difference(arm.problem(louder, [empty]))
    assert 'once the recording with it is explained too' in found.withheld


def test_a_faster_motion_than_the_empty_ones_gets_no_guarantee(rng):
    arm = TwoLinks(rng)
    empty = arm.log(0.0 * PAYLOAD)
    quick = arm.log(PAYLOAD)
    quick = replace(quick, rate=2.0 * quick.rate)
    found = payload_difference(arm.problem(quick, [replace(empty, begin=0.0)]))
    assert found.guaranteed is None
    assert 'say nothing' in found.not_guaranteed


def test_seconds_that_are_too_few_are_named(rng):
    arm = TwoLinks(rng)
    loaded, empty = arm.log(PAYLOAD), [arm.log(0.0 * PAYLOAD)]
    with pytest.raises(MeasurementError, match='s of motion with the payload.*--poses'):
        payload_difference(arm.problem(loaded.part(0.0, 0.08), empty))
    found = payload_difference(arm.problem(loaded.part(0.0, 0.15), empty))
    assert found.statistical is None
    assert '4 s or more are needed' in found.withheld
    bounds = found.guaranteed_bounds  # every block makes them narrower, few leave them wide
    assert bounds.lower[0] <= PAYLOAD[0] <= bounds.upper[0]


@pytest.mark.slow
def test_more_empty_recordings_need_less_enlarging(rng):
    arm = TwoLinks(rng)
    loaded = arm.log(PAYLOAD)
    empty = [arm.log(0.0 * PAYLOAD) for _ in range(3)]
    factors = [
        payload_difference(arm.problem(loaded, empty[:count])).statistical.kappa[0]
        for count in (1, 2, 3)
    ]
    assert factors[0] >= 2.0
    assert factors[1] >= 1.5
    assert factors[2] < 2.0


def test_a_delay_counts_for_any_payload_in_the_bounds_and_not_only_the_estimate(rng, monkeypatch):
    """Another round starts from bounds that hold, so it may only make them tighter."""
    arm = TwoLinks(rng)
    problem = arm.problem(arm.log(PAYLOAD), [arm.log(0.0 * PAYLOAD, 40.0)])
    found = payload_difference(problem).guaranteed
    assert found.promise.late > 0.0
    monkeypatch.setattr(guaranteed, 'ROUNDS', guaranteed.ROUNDS[1:])
    once = payload_difference(problem).guaranteed_bounds
    assert np.all(once.lower <= PAYLOAD) & np.all(once.upper >= PAYLOAD)
    told = 0.02 * found.bounds.radius  # how near optima are told
    assert np.all(once.lower <= found.bounds.lower + told)
    assert np.all(once.upper >= found.bounds.upper - told)
    assert np.all(once.radius[:4] > found.bounds.radius[:4])


def test_a_motion_that_calibrate_refuses_gives_the_payload_by_comparison(rng):
    arm = TwoLinks(rng)
    empty = arm.log_in_phase(0.0 * PAYLOAD, 40.0)
    refused = calibrate(arm.model, [empty], [], CalibrationSettings()).refused
    assert 'in phase' in refused
    assert '--empty' in refused
    found = payload_difference(arm.problem(arm.log_in_phase(PAYLOAD), [empty]))
    given, sure = found.statistical_bounds, found.guaranteed_bounds
    assert given.lower[0] <= PAYLOAD[0] <= given.upper[0]
    assert sure.lower[0] <= PAYLOAD[0] <= sure.upper[0]
    assert given.radius[0] < 0.3


def test_moves_from_pose_to_pose_give_both_intervals(rng):
    """Blocks are as short as the moves are; rests say nothing, as friction is anything there."""
    arm = TwoLinks(rng, noise=0.01)
    poses = rng.uniform(-1.2, 1.2, (13, 2))
    empty = arm.log_from_pose_to_pose(0.0 * PAYLOAD, poses)
    loaded = arm.log_from_pose_to_pose(PAYLOAD, poses[::-1][:9])
    found = payload_difference(arm.problem(loaded, [empty]))
    given, sure = found.statistical_bounds, found.guaranteed_bounds
    assert given.lower[0] <= PAYLOAD[0] <= given.upper[0]
    assert found.guaranteed.promise.seconds < 3.0
    assert sure.lower[0] <= PAYLOAD[0] <= sure.upper[0]
    assert sure.radius[0] < 0.8
