"""A recording refuses parts that do not fit together, and gives back what was put in."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.measure.joint_log import JointLog


def recording(rng, samples=5, joints=3):
    position, velocity, torque = rng.normal(size=(3, samples, joints))
    return JointLog(1_800_000_000_000_000_001 + np.arange(samples), position, velocity, torque)


def test_samples_are_those_that_were_recorded(rng):
    log = recording(rng)
    assert len(log) == 5
    for i in range(5):
        sample = log[i]
        assert sample.stamp == 1_800_000_000_000_000_001 + i  # to the nanosecond
        assert isinstance(sample.stamp, int)
        np.testing.assert_array_equal(sample.position, log.position[i])
        np.testing.assert_array_equal(sample.velocity, log.velocity[i])
        np.testing.assert_array_equal(sample.torque, log.torque[i])


def test_an_index_beyond_the_end_is_an_error(rng):
    with pytest.raises(IndexError):
        recording(rng)[5]


def test_an_empty_recording_is_one():
    nothing = np.zeros((0, 3))
    assert len(JointLog(np.zeros(0, dtype=np.int64), nothing, nothing, nothing)) == 0


@pytest.mark.parametrize('name', ['velocity', 'torque'])
@pytest.mark.parametrize('shape', [(4, 3), (5, 2), (5,), (3, 5)])
def test_parts_of_another_shape_are_refused(rng, name, shape):
    with pytest.raises(MeasurementError, match=rf'{name} has shape \({shape[0]}.*\(5, 3\)'):
        replace(recording(rng), **{name: np.zeros(shape)})


@pytest.mark.parametrize('count', [4, 6])
def test_a_stamp_too_many_or_too_few_is_refused(rng, count):
    with pytest.raises(MeasurementError, match=rf'shape \({count},\).*5 whole numbers'):
        replace(recording(rng), stamp=np.arange(count))


def test_stamps_in_seconds_are_refused(rng):
    # a float near 2e9 s is 2.4e-7 s from its neighbours
    with pytest.raises(MeasurementError, match='float64.*whole numbers of nanoseconds'):
        replace(recording(rng), stamp=1.8e9 + 0.001 * np.arange(5))


def test_a_recording_cannot_be_exchanged_in_place(rng):
    with pytest.raises(FrozenInstanceError):
        recording(rng).torque = np.zeros((5, 3))
