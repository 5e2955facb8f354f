"""Windows close where they should, and what is no measurement or no setting is refused."""

from dataclasses import replace

from identify.known_recordings import (
    exact,
    near_bounds,
    share_of_promise,
    smooth_arm,
    smooth_recording,
)
import numpy as np
import pytest

from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.identify.momentum_observation import (
    BackwardStampError,
    MomentumObserver,
    ObservationSettings,
    observe,
    whole_windows,
)
from safe_sysid.measure.joint_log import JointLog, JointMeasurement
from safe_sysid.model.parameters import ratio_bounds
from safe_sysid.sets.interval import Interval


def same_rows(a, b):
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ('Y_e', 'Y_r', 'b', 'delta', 'joint')
    )


# stamps and samples that are not as they should be


def windows(rows):
    return sorted(set(zip(rows.start.tolist(), rows.end.tolist(), strict=True)))


def without(log, missing):
    kept = np.setdiff1d(np.arange(len(log)), missing)
    return JointLog(log.stamp[kept], log.position[kept], log.velocity[kept], log.torque[kept])


def test_windows_follow_each_other_and_have_the_samples_they_should(rng):
    model = smooth_arm(rng, 2)
    log = smooth_recording(rng, model, 0.1, 0.001)
    rows = observe(model, near_bounds(model), exact(window=40), log)
    np.testing.assert_allclose(windows(rows), [(0.0, 0.04), (0.04, 0.08), (0.08, 0.1)])
    assert rows.joint.tolist() == [0, 1] * 3


def test_no_row_spans_a_gap(rng):
    model = smooth_arm(rng, 3)
    log = smooth_recording(rng, model, 0.2, 0.001)
    settings = replace(exact(window=30), longest_step=0.0015)
    gap = without(log, [50, 51, 110])
    rows = observe(model, near_bounds(model), settings, gap)
    spans = windows(rows)
    expected = [(0, 0.03), (0.03, 0.049), (0.052, 0.082), (0.082, 0.109), (0.111, 0.141)]
    np.testing.assert_allclose(spans[:5], expected)
    assert share_of_promise(rows, model.theta, model.layout).max() <= 1.0


def test_a_piece_of_less_than_three_samples_gives_no_rows(rng):
    model = smooth_arm(rng, 2)
    log = without(smooth_recording(rng, model, 0.1, 0.001), [10, 13, 40, 42])
    settings = replace(exact(window=200), longest_step=0.0015)
    spans = windows(observe(model, near_bounds(model), settings, log))
    np.testing.assert_allclose(spans, [(0, 0.009), (0.014, 0.039), (0.043, 0.1)])


def observed_one_by_one(model, settings, measurements):
    observer = MomentumObserver(model, near_bounds(model), settings)
    parts = [observer.add(measurement) for measurement in measurements]
    return [part for part in [*parts, observer.finish()] if part is not None]


def observed_together(model, settings, log):
    observer = MomentumObserver(model, near_bounds(model), settings)
    rows = [*whole_windows(observer, log)]
    last = observer.finish()
    return rows if last is None else [*rows, last]


def refusal_of(observed, *arguments):
    try:
        names = ('Y_e', 'Y_r', 'b', 'delta', 'start', 'end')
        rows = observed(*arguments)
        return [[getattr(each, name).tolist() for name in names] for each in rows]
    except MeasurementError as error:
        return str(error)


@pytest.mark.parametrize('signal', ['sampled', 'held', 'held_until'])
@pytest.mark.parametrize('spoilt', ['nothing', 'stamps', 'values'])
def test_samples_taken_together_give_what_they_give_one_by_one(spoilt, signal, rng):
    """To the last bit: gaps, lost samples, uneven, doubled and backward stamps, no numbers."""
    model = smooth_arm(rng, 2)
    whole = smooth_recording(rng, model, 0.3, 0.001)
    for _ in range(6):
        log = without(whole, rng.choice(300, rng.integers(0, 6), replace=False))
        stamps, velocity = log.stamp.copy(), log.velocity.copy()
        if spoilt == 'stamps':
            stamps += rng.integers(-200_000, 200_000, len(stamps)) * rng.integers(0, 2)
            stamps[rng.integers(1, len(stamps))] += rng.choice([-1_000_000, 0, 1_000_000])
            dense = rng.integers(20, 400)  # from there on
            stamps[dense:] -= (stamps[dense:] - stamps[dense : dense + 1]) // 4 * 3
        if spoilt == 'values' and rng.random() < 0.5:
            velocity[rng.integers(len(stamps)), 1] = np.nan
        log = JointLog(stamps, log.position, velocity, log.torque)
        window, longest = int(rng.integers(3, 60)), rng.choice([0.0011, 0.0015, 0.0025])
        settings = replace(exact(window=window), torque_signal=signal, longest_step=longest)
        settings = replace(settings, velocity_error=[None, (1e-3,)][rng.integers(2)])
        one_by_one = [log[k] for k in range(len(log))]
        expected = refusal_of(observed_one_by_one, model, settings, one_by_one)
        assert refusal_of(observed_together, model, settings, log) == expected


def test_most_samples_of_a_recording_are_taken_together(rng):
    model = smooth_arm(rng, 2)
    log = smooth_recording(rng, model, 0.3, 0.001)
    observer = MomentumObserver(model, near_bounds(model), exact(window=50))
    for k in range(20):
        observer.add(log[k])
    assert observer.add_regular(log, 20) == 30
    observer.add(log[50])
    assert observer.add_regular(log, 51) == 49


def test_windows_are_taken_together_too_but_none_that_ends_at_a_time_or_later(rng):
    model = smooth_arm(rng, 2)
    log = smooth_recording(rng, model, 0.3, 0.001)
    whole = observed_together(model, exact(window=50), log)
    observer = MomentumObserver(model, near_bounds(model), exact(window=50))
    assert observer.add_windows(log, 0) == (0, [])
    for k in range(20):
        observer.add(log[k])
    count, rows = observer.add_windows(log, 20, until=0.15)
    assert (count, len(rows)) == (130, 2)  # up to the one before the sample at 0.15 s
    assert observer.add_windows(log, 150, until=0.15) == (0, [])
    rows.append(observer.add(log[150]))
    count, later = observer.add_windows(log, 151)
    assert (count, len(later)) == (len(log) - 151, 3)
    for one, other in zip([*rows, *later], whole, strict=True):
        assert same_rows(one, other)
        assert windows(one) == windows(other)


def test_a_stamp_that_comes_twice_is_ignored(rng):
    model = smooth_arm(rng, 2)
    log = smooth_recording(rng, model, 0.1, 0.001)
    settings = exact(window=30)
    samples = [log[i] for i in range(len(log))]
    twice = [sample for sample in samples for _ in range(2)]
    once = observed_one_by_one(model, settings, samples)
    again = observed_one_by_one(model, settings, twice)
    assert len(once) == len(again)
    assert all(same_rows(a, b) for a, b in zip(once, again, strict=True))


def test_a_backward_stamp_is_an_error_that_says_which_and_by_how_much(rng):
    model = smooth_arm(rng, 2)
    log = smooth_recording(rng, model, 0.1, 0.001)
    observer = MomentumObserver(model, near_bounds(model), exact(window=30))
    observer.add(log[4])
    observer.add(log[5])
    with pytest.raises(BackwardStampError, match='stamp 2000000 ns is 3000000 ns before'):
        observer.add(log[2])


BAD = [
    ('position', [np.nan, 0.0, 0.0], r'position of j0 is nan at 5000000 ns.*finite'),
    ('velocity', [0.0, 0.0, -np.inf], r'velocity of j2 is -inf at 5000000 ns.*finite'),
    ('torque', [0.0, np.nan, 0.0], r'torque of j1 is nan at 5000000 ns.*finite'),
    ('torque', [0.0, 0.0], r"torque has shape \(2,\) at 5000000 ns.*3 joints.*'j0', 'j1', 'j2'"),
    ('position', 0.0, r'position has shape \(\) at 5000000 ns'),
]


@pytest.mark.parametrize(('name', 'value', 'message'), BAD)
def test_a_bad_measurement_is_named_and_changes_nothing(rng, name, value, message):
    model = smooth_arm(rng, 3)
    log = smooth_recording(rng, model, 0.1, 0.001)
    settings = exact(window=30)
    samples = [log[i] for i in range(len(log))]
    good = observed_one_by_one(model, settings, samples)
    observer = MomentumObserver(model, near_bounds(model), settings)
    parts = []
    for sample in samples:
        if sample.stamp in (5_000_000, 35_000_000):
            with pytest.raises(MeasurementError):
                observer.add(replace(sample, **{name: np.array(value)}))
        parts.append(observer.add(sample))
    parts = [part for part in [*parts, observer.finish()] if part is not None]
    assert all(same_rows(a, b) for a, b in zip(good, parts, strict=True))
    with pytest.raises(MeasurementError, match=message):
        observer.add(replace(samples[5], **{name: np.array(value)}))


def test_a_backward_stamp_changes_nothing(rng):
    model = smooth_arm(rng, 2)
    log = smooth_recording(rng, model, 0.1, 0.001)
    settings = exact(window=30)
    good = observed_one_by_one(model, settings, [log[i] for i in range(len(log))])
    observer = MomentumObserver(model, near_bounds(model), settings)
    parts = []
    for i in range(len(log)):
        if i == 50:
            with pytest.raises(BackwardStampError):
                observer.add(log[20])
        parts.append(observer.add(log[i]))
    parts = [part for part in [*parts, observer.finish()] if part is not None]
    assert all(same_rows(a, b) for a, b in zip(good, parts, strict=True))


def test_numbers_too_large_for_a_row_spoil_their_window_only(rng):
    model = smooth_arm(rng, 2)
    log = smooth_recording(rng, model, 0.1, 0.001)
    observer = MomentumObserver(model, near_bounds(model), exact(window=20))
    parts, refused = [], 0
    for i in range(len(log)):
        sample = log[i] if i != 30 else replace(log[i], velocity=np.full(2, 1e200))
        try:
            parts.append(observer.add(sample))
        except MeasurementError:
            refused += 1
    rows = [part for part in parts if part is not None]
    assert refused == 1
    assert [float(part.start[0]) for part in rows] == pytest.approx([0.0, 0.04, 0.06, 0.08])
    for part in rows:
        assert share_of_promise(part, model.theta, model.layout).max() <= 1.0


def test_stamps_since_1970_lose_nothing(rng):
    model = smooth_arm(rng, 2)
    log = smooth_recording(rng, model, 0.1, 0.001)
    settings = exact(window=30)
    late = replace(log, stamp=log.stamp + 1_800_000_000_123_456_789)
    early_rows = observe(model, near_bounds(model), settings, log)
    late_rows = observe(model, near_bounds(model), settings, late)
    assert same_rows(early_rows, late_rows)
    assert windows(early_rows) == windows(late_rows)


def test_an_observer_can_start_again_after_it_has_finished(rng):
    model = smooth_arm(rng, 2)
    log = smooth_recording(rng, model, 0.1, 0.001)
    observer = MomentumObserver(model, near_bounds(model), exact(window=200))
    assert observer.finish() is None
    first, second = [
        ([observer.add(log[i]) for i in range(len(log))], observer.finish())[1] for _ in range(2)
    ]
    assert same_rows(first, second)
    assert observer.finish() is None


# settings


REFUSED = [
    ({'window': 1}, r'window is 1, it has to be at least 2 \(samples'),
    ({'quadrature': 'simpson'}, "quadrature is 'simpson', it has to be one of trapezoid, euler"),
    (
        {'torque_signal': 'zoh'},
        "torque_signal is 'zoh', it has to be one of held, held_until, sampled",
    ),
    ({'torque_ratio': (-0.1,)}, r'torque_ratio is \(-0.1,\), it has to be at least 0'),
    ({'torque_error': (np.nan,)}, r'torque_error is \(nan,\), it has to be at least 0'),
    ({'position_error': (np.inf,)}, r'position_error is \(inf,\), it has to be at least 0'),
    ({'velocity_error': (0.0, -1.0)}, r'velocity_error is \(0.0, -1.0\), it has to be at least 0'),
    ({'safety_factor': 0.9}, 'safety_factor is 0.9, it has to be at least 1'),
    ({'safety_factor': np.inf}, 'safety_factor is inf, it has to be at least 1 and finite'),
    ({'longest_step': 0.0}, r'longest_step is 0.0, it has to be above 0 and finite \(\[s\]'),
    ({'curvature': (1.0,), 'quadrature': 'euler'}, 'curvature bounds the trapezoid.*euler'),
    ({'curvature': (-1.0,)}, r'curvature is \(-1.0,\), it has to be at least 0'),
    ({'curvature': (np.nan,)}, r'curvature is \(nan,\), it has to be at least 0'),
]


@pytest.mark.parametrize(('values', 'message'), REFUSED)
def test_settings_out_of_range_are_refused(values, message):
    with pytest.raises(ConfigError, match=message):
        ObservationSettings(**values)


@pytest.mark.parametrize('name', ['torque_ratio', 'position_error', 'curvature'])
def test_one_entry_for_all_joints_or_one_each(rng, name):
    model = smooth_arm(rng, 3)
    log = smooth_recording(rng, model, 0.1, 0.001)
    one = observe(model, near_bounds(model), exact(**{name: (0.5,)}), log)
    each = observe(model, near_bounds(model), exact(**{name: (0.5,) * 3}), log)
    assert same_rows(one, each)
    with pytest.raises(ConfigError, match=f'{name} has 2 entries; 1 or 3'):
        MomentumObserver(model, near_bounds(model), exact(**{name: (0.5, 0.5)}))


def test_a_parameter_without_finite_bounds_is_refused(rng):
    model = smooth_arm(rng, 2)
    bounds = near_bounds(model)
    upper = bounds.upper.copy()
    upper[13] = np.inf
    with pytest.raises(ConfigError, match='j1.mcz has no finite bounds.*wide interval'):
        MomentumObserver(model, Interval(bounds.lower, upper), exact())


def test_a_recording_too_coarse_for_its_settings_says_so(rng):
    model = smooth_arm(rng, 2)
    log = smooth_recording(rng, model, 0.1, 0.004)
    with pytest.raises(MeasurementError, match='less than 0.0015 s apart.*longest_step above'):
        observe(model, near_bounds(model), ObservationSettings(), log)


def test_wider_parameter_bounds_make_wider_errors(rng):
    model = smooth_arm(rng, 2)
    log = smooth_recording(rng, model, 0.1, 0.001)
    settings = exact(window=30, position_error=(1e-4,))
    near = observe(model, near_bounds(model), settings, log)
    wide = observe(model, ratio_bounds(model.theta, 0.5, 0.1), settings, log)
    assert (wide.delta > near.delta).all()
    assert np.array_equal(wide.Y_e, near.Y_e)


def test_a_single_measurement_has_the_fields_of_the_log(rng):
    log = smooth_recording(rng, smooth_arm(rng, 2), 0.01, 0.001)
    assert isinstance(log[3], JointMeasurement)
    assert log[3].stamp == 3_000_000
