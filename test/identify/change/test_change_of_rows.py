"""Windows on either side of a change belong to different bodies; both bounds hold."""

from dataclasses import replace

import numpy as np
import pinocchio
import pytest
from tiers import slow_after

from safe_sysid.bench.experiments.changing_payload import Event, prior, random_motion
from safe_sysid.errors import ConfigError
from safe_sysid.identify.change.held_next import (
    HeldNext,
    body_bounds,
    from_library,
    placed,
)
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.identify.observation import Observation
from safe_sysid.identify.online_identifier import (
    IdentificationFault,
    IdentifierSettings,
    OnlineIdentifier,
)
from safe_sysid.identify.payload_estimator import PayloadEstimator, SolveSettings
from safe_sysid.identify.solves import SolvesAtOnce, SolvesInBackground
from safe_sysid.model.grasp import GraspError
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

PICKED = Event('picked', 1.0)
AT, LATE = 1000, 200  # sample of the change; samples until it is told
SETTINGS = IdentifierSettings(
    ObservationSettings(
        window=50, torque_ratio=(0.025,), position_error=(0.0,), velocity_error=(0.0,)
    ),
    SolveSettings(seconds=100.0, remembered_payloads=1),
)


@pytest.fixture(scope='module')
def motion():
    return random_motion(np.random.default_rng(4), 'two_link', 2.2, 0.0)


def bounds_after(motion, after, before, solves=SolvesAtOnce):
    """Bounds of what is held in the end, if the change is told to be between two samples."""
    identifier = OnlineIdentifier(motion.truth, motion.prior, SETTINGS, solves)
    first, then = motion.log(0, last=AT + 1), motion.log(AT, PICKED)
    for k in range(AT + 1):
        identifier.step(first[k])
    held = HeldNext(motion.prior.end_effector_bounds, motion.prior.end_effector)
    for k in range(1, len(then)):
        identifier.step(then[k])
        if k == LATE:
            identifier.change(after * 1_000_000, before * 1_000_000, held)
    bounds = identifier.finish().end_effector_bounds
    identifier.close()
    return bounds


def truths(motion):
    body = motion.truth.theta[motion.truth.layout.end_effector]
    return body, body + motion._change(PICKED)


@pytest.mark.parametrize(
    'solves', [SolvesAtOnce, pytest.param(SolvesInBackground, marks=pytest.mark.slow)]
)
def test_bounds_after_a_change_contain_the_next_body_and_not_the_last(motion, solves):
    last, after = truths(motion)
    bounds = bounds_after(motion, AT - 30, AT + 30, solves)
    assert bounds.contains(after)
    assert not bounds.contains(last)


def test_windows_of_both_bodies_contradict_each_other_if_nobody_tells(motion):
    with pytest.raises(IdentificationFault):
        bounds_after(motion, AT - 900, AT - 800)


def rows(times):
    m, t = len(times), np.array(times, dtype=float)
    return Observation(
        np.eye(10)[:1].repeat(m, 0),
        np.ones((m, 18)),
        np.ones(m),
        np.full(m, 50.0),
        np.zeros(m, dtype=int),
        t,
        t + 0.1,
    )


def test_windows_that_touch_a_change_are_of_neither_body_whenever_they_come(motion):
    estimator = PayloadEstimator(motion.truth, motion.prior, SETTINGS.solve)
    for start in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5):
        estimator.add(rows([start]))
    held = HeldNext(motion.prior.end_effector_bounds, motion.prior.end_effector)
    estimator.change(0.25, 0.4, held)
    for start in (0.35, 0.6):
        estimator.add(rows([start]))
    (episode,) = estimator._earlier._payloads
    assert episode.rows.start.tolist() == [0.0, 0.1]
    assert estimator._buffer.rows()[0].start.tolist() == [0.4, 0.5, 0.6]
    estimator.new_payload(None)
    estimator.add(rows([0.0]))  # time has begun again
    assert len(estimator._buffer) == 1


def test_a_solution_for_the_body_of_before_is_not_taken_for_the_next(motion):
    identifier = OnlineIdentifier(motion.truth, motion.prior, SETTINGS, SolvesAtOnce)
    log = motion.log(0)
    for k in range(len(log)):
        identifier.step(log[k])
        if identifier._waiting:
            break
    box = motion.prior.end_effector_bounds
    held = HeldNext(Interval(box.lower, 0.98 * box.upper), 0.1 * box.center)
    identifier.change(int(log.stamp[k]), int(log.stamp[k]) + 700_000_000, held)
    for later in range(k + 1, k + 650):  # a solve of no rows is among what is done here
        estimate = identifier.step(log[later])
    np.testing.assert_array_equal(estimate.end_effector_bounds.upper, held.bounds.upper)
    np.testing.assert_array_equal(estimate.end_effector, held.nominal)
    for later in range(k + 650, len(log)):
        identifier.step(log[later])
    bounds = identifier.finish().end_effector_bounds
    assert bounds.contains(truths(motion)[0])
    assert bounds.radius[0] < held.bounds.radius[0]


def test_what_may_be_held_next_lies_in_the_prior(motion):
    identifier = OnlineIdentifier(motion.truth, motion.prior, SETTINGS, SolvesAtOnce)
    box = motion.prior.end_effector_bounds
    wide = Interval(box.lower, np.append(2.0 * box.upper[0], box.upper[1:]))
    with pytest.raises(ConfigError, match='m of what may be held next is 0 to 10, beyond'):
        identifier.change(0, 1, HeldNext(wide, box.center))
    with pytest.raises(ConfigError, match='after 2 ns and before 1 ns'):
        identifier.change(2, 1, HeldNext(box, box.center))


def corners_of(payload):
    """Return points at the ends of its shapes, as far out as they go, and a few beside."""
    (shape,) = payload.shapes.values()
    ends = np.array([shape.a, shape.b])
    ends *= (1.0 + shape.radius / np.linalg.norm(ends, axis=1))[:, None]
    beside = 0.01 * np.array([[0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    return np.concatenate([ends, beside])


def ten(points, masses):
    """Ten parameters of point masses, by sums."""
    sigma = np.einsum('k,ki,kj->ij', masses, points, points)
    inertia = np.trace(sigma) * np.eye(3) - sigma
    entries = inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    return np.array([masses.sum(), *(masses @ points), *entries])


def test_no_grasp_within_its_error_leaves_the_bounds_of_a_payload(rng):
    model, error = RobotModel.named('kinova_gen3'), GraspError(0.01, 0.0873, 0.02)
    payload = read_payload('dumbbell_4lb')
    points = corners_of(payload)
    masses = payload.mass * np.array([0.94, 0.02, 0.01, 0.01, 0.01, 0.01])  # at one end
    body = ten(points, masses)
    whole = pinocchio.Inertia.FromDynamicParameters(body)
    inertia = 0.5 * (whole.inertia + whole.inertia.T)
    payload = replace(payload, com=whole.lever, inertia=inertia)
    bounds = body_bounds(model, payload, error)
    link, R, p = payload.placed_on('kinova_gen3')
    frame = model.frames[link]
    R, p = frame.R @ R, frame.R @ p + frame.p
    closest = np.inf
    for k in range(2000):
        axis, way = rng.normal(size=(2, 3))
        turn = pinocchio.exp3(error.turned * axis / np.linalg.norm(axis))
        if k % 2:  # both move the heavy end the same way
            way = turn @ points[0] - points[0]
        way *= error.displaced / np.linalg.norm(way)
        weight = 1.0 + error.weight * rng.choice([-1.0, 1.0])
        there = (points @ turn.T + way) @ R.T + p
        held = ten(there, weight * masses)
        assert bounds.contains(held)
        closest = min(closest, np.min((bounds.upper - held) / bounds.radius))
    assert closest < 0.1  # the bounds are not that wide


def test_a_library_contains_all_its_payloads_and_the_empty_hand():
    model, names = RobotModel.named('kinova_gen3'), ('dumbbell_4lb', 'dumbbell_8lb')
    empty = model.theta[model.layout.end_effector]
    own = Interval.from_center_radius(empty, 0.05 * np.abs(empty))
    payloads = [read_payload(name) for name in names]
    held = from_library(model, payloads, GraspError(), own)
    assert held.bounds.contains(empty)
    assert held.bounds.contains(held.nominal)
    for payload in payloads:
        whole = model.with_payload(payload).theta[model.layout.end_effector]
        np.testing.assert_allclose(empty + placed(model, payload), whole, atol=1e-12)
        assert held.bounds.contains(whole)
    assert prior(model).end_effector_bounds.contains(held.nominal)
    with pytest.raises(ConfigError, match='do not contain the hand of the model'):
        from_library(model, payloads, GraspError(), own + Interval.of(np.full(10, 9.0)))


def test_after_a_new_payload_a_change_leaves_out_no_more_than_what_was_before(motion):
    """Both at one stamp, as a person says who has looked; rows count from the first one on."""
    identifier = OnlineIdentifier(motion.truth, motion.prior, SETTINGS, SolvesAtOnce)
    log, place = motion.log(0), motion.prior.layout.end_effector
    for k in range(AT + 1):
        identifier.step(log[k])
    stamp, prior_box = int(log.stamp[AT]), motion.prior.end_effector_bounds
    identifier.new_payload(stamp)
    identifier.change(stamp, stamp, HeldNext(prior_box, motion.prior.end_effector))
    for k in range(AT + 1, AT + 900):  # as many as a stamp in place of a time leaves out
        identifier.step(log[k])
    bounds = identifier.finish().end_effector_bounds
    identifier.close()
    assert bounds.radius[0] < 0.5 * prior_box.radius[0]
    truth = motion.truth.theta[place]
    assert np.all((bounds.lower <= truth) & (truth <= bounds.upper))


@pytest.mark.parametrize('samples', [0, 1])  # of the payload in between, before the change is told
def test_no_sample_between_the_stamps_of_a_change_counts_whenever_the_first_comes(motion, samples):
    """Those of the body before would narrow the bounds on the next one."""
    log, begin = motion.log(0), 300
    end = begin + 600
    identifier = OnlineIdentifier(motion.truth, motion.prior, SETTINGS, SolvesAtOnce)
    identifier.new_payload(int(log.stamp[begin - 1]))
    for k in range(begin, begin + samples):
        identifier.step(log[k])
    held = HeldNext(motion.prior.end_effector_bounds, motion.prior.end_effector)
    identifier.change(int(log.stamp[begin - 100]), int(log.stamp[end]), held)
    for k in range(begin + samples, end + 1):
        identifier.step(log[k])
    between = identifier.finish().end_effector_bounds
    np.testing.assert_array_equal(between.radius, held.bounds.radius)
    for k in range(end + 1, len(log)):
        identifier.step(log[k])
    bounds = identifier.finish().end_effector_bounds
    identifier.close()
    assert bounds.radius[0] < held.bounds.radius[0]  # those after it do


@pytest.mark.parametrize('size', slow_after(1, [0.3, 0.1, 1.0]))
@pytest.mark.parametrize('seed', slow_after(1, [4, 5]))
def test_where_nobody_knows_when_no_row_before_the_answer_counts(size, seed):
    """As after an event whose stamp cannot be: from before the recording until it is told."""
    motion = random_motion(np.random.default_rng(seed), 'two_link', 2.2, 0.0)
    event = Event('picked', size)
    identifier = OnlineIdentifier(motion.truth, motion.prior, SETTINGS, SolvesAtOnce)
    first, then = motion.log(0, last=AT + 1), motion.log(AT, event)
    place = motion.truth.layout.end_effector
    truth = motion.truth.theta[place] + motion._change(event)
    for k in range(AT + 1):
        identifier.step(first[k])
    held = HeldNext(motion.prior.end_effector_bounds, motion.prior.end_effector)
    for k in range(1, len(then)):
        estimate = identifier.step(then[k])
        if k == LATE:
            identifier.change(-30_000_000, int(then.stamp[k]) + 50_000_000, held)
        elif k > LATE:
            assert estimate.end_effector_bounds.contains(truth)
    bounds = identifier.finish().end_effector_bounds
    assert bounds.contains(truth)
    assert bounds.radius[0] < held.bounds.radius[0]
