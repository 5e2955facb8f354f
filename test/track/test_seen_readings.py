"""Readings themselves say where their steps and times are not as promised."""

import numpy as np
import pytest

from safe_sysid.track.seen_law import Sampling
from safe_sysid.track.seen_readings import SeenReadings

STEP, PERIOD = 1e-4, 1e-3
NAMES = ('a', 'b')
STAMPS = PERIOD * np.arange(2000)


def taken(step=STEP, stamps=STAMPS, turns=False):
    """Two joints that move to and fro, the second one in steps of another size."""
    readings = SeenReadings(Sampling(np.full(2, STEP), PERIOD, PERIOD), np.array([False, turns]))
    for t in stamps:
        q = 0.02 * np.sin(3.0 * t) + np.array([0.0, np.pi if turns else 0.0])
        q = np.array([STEP, step]) * np.rint(q / np.array([STEP, step]))
        readings.take(float(t), np.angle(np.exp(1j * q)) if turns else q)
    return readings


@pytest.mark.parametrize('turns', [False, True])
def test_readings_as_promised_contradict_nothing(turns):
    assert taken(turns=turns).contradictions(NAMES) == ''


def test_steps_that_are_coarser_than_promised_are_named():
    said = taken(step=3.0 * STEP).contradictions(NAMES)
    assert said == 'b is read in steps of 0.0003 rad, 0.0001 rad are promised'


def test_a_joint_that_moves_fast_says_nothing_of_its_step():
    readings = SeenReadings(Sampling(np.full(2, STEP), PERIOD, PERIOD), np.zeros(2, dtype=bool))
    for t in STAMPS:
        q = STEP * np.rint(0.47 * t / STEP) * np.ones(2)
        readings.take(float(t), q)
    assert readings.contradictions(NAMES) == ''


def test_samples_that_are_too_far_apart_are_named():
    stamps = np.delete(STAMPS, [700, 701])
    said = taken(stamps=stamps).contradictions(NAMES)
    assert said == 'samples came 3 ms apart, 1.01 ms are promised'


def test_what_may_be_false_begins_with_what_is_contradicted():
    each = (taken(step=x) for x in (STEP, 3.0 * STEP))
    fine, coarse = (x.what_may_be_false(x.contradictions(NAMES)) for x in each)
    assert fine.startswith('one of these is false: readings within 0.05 mrad and every 1 ms')
    assert coarse.startswith('b is read in steps') and coarse.endswith(fine)
