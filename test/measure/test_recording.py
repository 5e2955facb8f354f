"""Stamps of a recording are put in order, and what that cost is said."""

import numpy as np
import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.measure.recording import Samples, recording_of

AB = ('a', 'b')


def samples(rng, stamp, velocity=True):
    numbers = rng.normal(size=(3, len(stamp), 2))
    stamp = np.asarray(stamp, dtype=np.int64)
    return Samples(stamp, numbers[0], numbers[1] if velocity else None, numbers[2])


def test_repeated_and_backward_stamps_are_left_out_and_counted(rng):
    stamp = np.arange(1000) * 10**6
    stamp[100] = stamp[99]  # repeated
    stamp[300] = stamp[290] + 1  # older than what came before
    stamp[301] = stamp[290] + 2
    given = samples(rng, stamp)
    recording = recording_of('x', AB, given, ())
    kept = np.delete(np.arange(1000), [100, 300, 301])
    np.testing.assert_array_equal(recording.stamp, stamp[kept])
    np.testing.assert_array_equal(recording.effort, given.effort[kept])
    assert (recording.timing.duplicates, recording.timing.backward) == (1, 2)
    assert (np.diff(recording.stamp) > 0).all()


def test_a_clock_that_was_set_back_is_refused(rng):
    stamp = np.concatenate([np.arange(500), np.arange(400, 900)]) * 10**6
    with pytest.raises(MeasurementError, match=r'99 of 1000 samples .* number 500 by 0\.099 s'):
        recording_of('x', AB, samples(rng, stamp), ())


def test_gaps_and_jitter_are_measured(rng):
    steps = np.full(999, 10**6)
    steps[[200, 400]] = 5 * 10**6, 250 * 10**6
    steps[500:520] += 3 * 10**5
    stamp = np.concatenate([[0], np.cumsum(steps)])
    timing = recording_of('x', AB, samples(rng, stamp), ()).timing
    assert timing.gaps == (
        (pytest.approx(0.404), pytest.approx(0.25)),
        (pytest.approx(0.2), pytest.approx(0.005)),
    )
    assert timing.period == pytest.approx(1e-3)
    assert timing.jitter == pytest.approx(3e-4)
    assert timing.longest_step == pytest.approx(0.25)
    assert 'gaps, the longest first: 250 ms at 0.404 s, 5 ms at 0.200 s' in timing.sentences()


def test_numbers_that_are_not_finite_are_left_out(rng):
    given = samples(rng, np.arange(10) * 10**6)
    given.effort[3, 1], given.velocity[4, 0], given.position[5, 0] = np.nan, np.inf, np.nan
    recording = recording_of('x', AB, given, ())
    assert recording.timing.not_finite == 3
    assert len(recording) == 7


@pytest.mark.parametrize('missing', [[0, 1], [1]])
def test_velocities_that_are_never_numbers_count_as_not_recorded(missing, rng):
    given = samples(rng, np.arange(10) * 10**6)
    given.velocity[:, missing] = np.nan
    recording = recording_of('x', AB, given, ('before',))
    assert recording.velocity is None and len(recording) == 10
    assert recording.timing.not_finite == 0
    named = ', '.join(AB[i] for i in missing)
    assert recording.remarks[0] == 'before'
    assert recording.remarks[1].startswith(f'no sample has finite velocities ({named})')
    given.velocity[4] = 0.0  # one is a number, so the others are holes
    given.velocity[7:] = 0.0
    assert len(recording_of('x', AB, given, ())) == 4


def test_what_is_not_finite_is_named(rng):
    given = samples(rng, np.arange(10) * 10**6)
    given.effort[:, 1] = np.nan
    given.position[3, 0] = np.inf
    with pytest.raises(MeasurementError) as refused:
        recording_of('x', AB, given, ())
    assert 'of 10: not finite are position in 1, effort in 10)' in str(refused.value)


def test_samples_without_news_are_counted(rng):
    given = samples(rng, np.arange(10) * 10**6)
    given.position[5], given.effort[5] = given.position[4], given.effort[4]
    assert recording_of('x', AB, given, ()).timing.repeated == 1


def test_a_part_keeps_its_samples_and_measures_its_own_stamps(rng):
    given = samples(rng, np.concatenate([np.arange(100), np.arange(150, 200)]) * 10**6)
    recording = recording_of('x', AB, given, ())
    part = recording.between(0.010, 0.090)
    np.testing.assert_array_equal(part.effort, given.effort[10:91])
    assert recording.timing.gaps
    assert not part.timing.gaps
    with pytest.raises(MeasurementError, match=r'0 samples from 5 to 6 s; .* lasts 0\.199 s'):
        recording.between(5.0, 6.0)


def test_effort_becomes_torque_with_sign_and_scale(rng):
    given = samples(rng, np.arange(10) * 10**6)
    log = recording_of('x', AB, given, ()).log(np.array([1.0, -1.0]), np.array([2.0, 3.0]))
    np.testing.assert_array_equal(log.torque, given.effort * [2.0, -3.0])
    np.testing.assert_array_equal(log.velocity, given.velocity)


def test_a_missing_velocity_is_the_slope_of_the_positions(rng):
    given = samples(rng, np.arange(10) * 10**6, velocity=False)
    given.position[:] = 0.5 * (np.arange(10) * 1e-3)[:, None] * [1.0, -2.0]
    log = recording_of('x', AB, given, ()).log(np.ones(2), np.ones(2))
    assert len(log) < 10  # the ends have no neighbours
    np.testing.assert_allclose(log.velocity, np.broadcast_to([0.5, -1.0], (len(log), 2)))


def test_velocities_are_not_taken_across_a_gap(rng):
    stamp = np.concatenate([np.arange(100), np.arange(200, 300)]) * 10**7
    given = samples(rng, stamp, velocity=False)
    given.position[:] = np.sin(3e-9 * stamp)[:, None]
    log = recording_of('x', AB, given, ()).log(np.ones(2), np.ones(2))
    assert len(log) == 196
    expected = 3.0 * np.cos(3e-9 * log.stamp)[:, None]
    np.testing.assert_allclose(log.velocity, np.broadcast_to(expected, (196, 2)), atol=1e-3)


def test_a_recording_needs_three_samples(rng):
    with pytest.raises(MeasurementError, match='2 samples of a, b'):
        recording_of('x', AB, samples(rng, [0, 1]), ())
    with pytest.raises(MeasurementError, match='stamps of their own'):
        recording_of('x', AB, samples(rng, [5, 5, 5]), ())


def test_torn_samples_are_left_out_and_counted(rng):
    given = samples(rng, np.arange(400) * 10**6)
    given.position[:] = 0.1 * np.sin(np.arange(400) / 50.0)[:, None]
    given.position[100, 1] = 2.5  # and back again
    given.effort[200, 0] = 1e4
    given.effort[300, 1] = 1e282
    recording = recording_of('x', AB, given, ())
    assert (recording.timing.torn, recording.timing.not_finite) == (2, 1)
    assert len(recording) == 397
    assert '2 samples that jump away' in ' '.join(recording.timing.sentences())


def test_a_step_that_stays_is_no_torn_sample(rng):
    given = samples(rng, np.arange(400) * 10**6)
    given.position[:] = 0.0
    given.position[200:] = 2.0  # a wrapped joint
    assert recording_of('x', AB, given, ()).timing.torn == 0


def test_a_joint_that_stands_at_the_end_of_a_turn_is_not_torn(rng):
    """It is reported at both ends, now here, now there."""
    q = np.pi + rng.normal(0.0, 1e-4, 400)
    q = np.remainder(q + np.pi, 2.0 * np.pi) - np.pi
    assert np.abs(np.diff(q)).max() > 6.0
    stamp = 10_000_000 * np.arange(400)
    given = Samples(stamp, np.stack([q, 0.0 * q], axis=1), None, rng.normal(size=(400, 2)))
    recording = recording_of('x', AB, given, ())
    assert (len(recording), recording.timing.torn) == (400, 0)


def test_many_torn_samples_are_refused(rng):
    given = samples(rng, np.arange(400) * 10**6)
    given.position[:] = 0.0
    given.position[10:200:20] = 3.0
    with pytest.raises(MeasurementError, match='first numbers 11, 31, 51, 71, 91'):
        recording_of('x', AB, given, ())
