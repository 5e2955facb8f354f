"""Readings within their promised errors are not doubted; others name joint and figure."""

from math import copysign

import numpy as np
import pytest

from safe_sysid.identify.doubted_readings import DoubtedReadings

PERIOD, SAMPLES, NAMES = 0.002, 1500, ('shoulder', 'elbow')  # [s]
ARMATURE, ACCELERATION = 2.0, np.array([5.0, 10.0])
STEP, SCATTER = 3e-4, 2e-3  # [rad], [rad/s]


def motion(rng, armature=ARMATURE):
    """True positions, velocities and torques of joints pushed by torques that jump."""
    t = PERIOD * np.arange(SAMPLES)
    torque = 4.0 * np.sin(np.outer(t, [3.0, 5.0])) + rng.uniform(-0.3, 0.3, size=(SAMPLES, 2))
    torque[:100] = 0.0
    qd = np.cumsum(torque / armature * PERIOD, axis=0)
    return np.cumsum(qd * PERIOD, axis=0), qd, torque


def look(position, velocity, armature=ARMATURE, dry=0.0):
    errors = np.full(2, position), np.full(2, velocity)
    return DoubtedReadings(errors, armature, np.full(2, dry), ACCELERATION)


def doubts(samples, position, velocity, armature=ARMATURE, stamps=None, dry=0.0):
    looked = look(position, velocity, armature, dry)
    times = 2_000_000 * np.arange(1, SAMPLES + 1) if stamps is None else stamps
    for stamp, *rows in zip(times.tolist(), *samples, strict=True):
        looked.take(stamp, np.array(rows))
    return looked.sentences(NAMES)


@pytest.mark.parametrize('wide', [1.0, 0.3])
def test_samples_taken_together_say_what_they_say_one_by_one(wide, rng):
    samples = np.stack(read(rng), axis=1)
    stamps = 2_000_000 * np.arange(1, SAMPLES + 1) + rng.integers(0, 300_000, SAMPLES)
    one, other = (look(wide * 0.5 * STEP, wide * SCATTER) for _ in range(2))
    for stamp, sample in zip(stamps.tolist(), samples, strict=True):
        one.take(stamp, sample)
    cuts = np.sort(rng.integers(1, SAMPLES, 20))
    for part in np.split(np.arange(SAMPLES), cuts):
        other.take_all(stamps[part], samples[part])
    assert one.sentences(NAMES) == other.sentences(NAMES)
    assert bool(one.sentences(NAMES)) == (wide < 1.0)


def read(rng, step=STEP, scatter=SCATTER):
    q, qd, torque = motion(rng)
    ends = rng.choice([-1.0, 1.0], size=qd.shape)  # the worst that is promised
    return step * np.round(q / step), qd + scatter * ends, torque


@pytest.mark.parametrize('seed', range(5))
def test_readings_at_the_ends_of_their_promise_are_not_doubted(seed):
    samples = read(np.random.default_rng(seed))
    assert doubts(samples, 0.5 * STEP, SCATTER) == ()


def test_exact_readings_of_torques_that_jump_are_not_doubted(rng):
    assert doubts(motion(rng), 0.0, 1e-6) == ()


def test_coarser_steps_are_named(rng):
    said = doubts(read(rng, scatter=0.0), 0.25 * STEP, SCATTER)
    assert [sentence.split()[0] for sentence in said] == ['shoulder', 'elbow']
    assert f'in steps of {STEP:.3g} rad' in said[0]


def test_an_exact_arm_that_often_begins_to_move_has_no_steps(rng):
    """It stands for ten samples, and then goes on by some way, from 1e-6 to 1e-3 rad."""
    ways = np.zeros((SAMPLES, 2))
    ways[::10] = 10.0 ** rng.uniform(-6.0, -3.0, size=ways[::10].shape)
    q = np.cumsum(ways, axis=0)
    assert doubts((q, np.zeros_like(q), np.zeros_like(q)), 0.0, 1.0) == ()


def test_more_scatter_is_named_with_less_than_there_is(rng):
    said = doubts(read(rng), 0.5 * STEP, 0.4 * SCATTER)
    assert [sentence.split()[2] for sentence in said] == ['shoulder', 'elbow']
    assert 0.4 * SCATTER < float(said[0].split()[6]) <= SCATTER + 1e-9


def test_an_arm_without_armature_and_uneven_samples_say_nothing_of_velocities(rng):
    samples = read(rng)
    assert doubts(samples, 0.5 * STEP, 0.0, armature=0.0) == ()
    uneven = np.cumsum(rng.integers(1_000_000, 9_000_000, size=SAMPLES))
    assert len(doubts(samples, 0.5 * STEP, SCATTER, stamps=uneven)) == 0


def rubbed(seconds, dry):
    """Joints with dry friction that torques push to and fro, smoothly, without an error."""
    moments = np.cumsum(seconds)
    qd, last, step = np.zeros((SAMPLES, 2)), [0.0, 0.0], 2e-5
    torque = 4.0 * np.sin(np.outer(moments, [3.0, 5.0]))
    for k, moment in enumerate(moments):
        t = np.arange(moment - seconds[k], moment - 0.5 * step, step)
        for push in (step / ARMATURE * 4.0 * np.sin(np.outer(t, [3.0, 5.0]))).tolist():
            pushed = [v + p for v, p in zip(last, push, strict=True)]
            last = [copysign(max(abs(v) - step / ARMATURE * dry, 0.0), v) for v in pushed]
        qd[k] = last
    return np.cumsum(qd * seconds[:, None], axis=0), qd, torque


def test_an_exact_arm_whose_joints_turn_round_in_dry_friction_is_not_doubted():
    samples = rubbed(np.full(SAMPLES, PERIOD), 1.5)
    rounds = int((np.diff(np.sign(samples[1][:, 1])) != 0).sum())
    many = tuple(np.tile(rows, (1 + 40 // rounds, 1)) for rows in samples)
    stamps = 2_000_000 * np.arange(1, len(many[0]) + 1)
    assert doubts(many, 0.0, 1e-7, stamps=stamps, dry=1.5) == ()
    assert len(doubts(many, 0.0, 1e-7, stamps=stamps, dry=0.0)) == 2


def test_an_exact_arm_that_is_read_a_little_unevenly_is_not_doubted(rng):
    nanoseconds = rng.integers(1_910_000, 2_080_000, size=SAMPLES)
    samples = rubbed(1e-9 * nanoseconds, 0.0)
    assert doubts(samples, 0.0, 1e-7, stamps=np.cumsum(nanoseconds)) == ()
