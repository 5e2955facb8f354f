"""Each wrong unit is named rightly, and a clean recording has no finding."""

import numpy as np
import pytest

from safe_sysid.calibrate.recorded_motion import recorded
from safe_sysid.calibrate.unit_findings import remarks_on_units, unit_findings
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.recording import Samples, recording_of
from safe_sysid.measure.recording_choice import RecordingChoice
from safe_sysid.model.arm import arm_of
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import JointLimits

LIMITS = RobotModel.named('lbr_med7').limits
NAMES = tuple(f'A{i}' for i in range(1, 8))


def recording(period=0.01, position=1.0, velocity=1.0, slope=1.0):
    """Smooth motion inside the limits, with factors on what is reported."""
    t = np.arange(1000) * 0.01
    w = 2 * np.pi * np.linspace(0.1, 0.3, 7)
    q = 1.5 * np.sin(t[:, None] * w)
    qd = 1.5 * w * np.cos(t[:, None] * w)
    stamp = np.round(np.arange(1000) * period * 1e9).astype(np.int64)
    samples = Samples(stamp, position * q, slope * velocity * qd, np.ones_like(q))
    return recording_of('log.csv', NAMES, samples, ())


def test_a_clean_recording_has_no_finding():
    assert unit_findings(recording(), LIMITS) == ()
    assert remarks_on_units(recording(), LIMITS) == ()


@pytest.mark.parametrize(
    ('given', 'quantity', 'words'),
    [
        ({'period': 10.0}, 'time', 'milliseconds'),
        ({'period': 1e4}, 'time', 'microseconds'),
        ({'position': 180 / np.pi, 'velocity': 180 / np.pi}, 'position', 'degrees'),
        ({'velocity': 180 / np.pi}, 'velocity', 'degrees per second'),
        ({'velocity': np.pi / 180}, 'velocity', 'radians twice'),
        ({'velocity': 30 / np.pi}, 'velocity', 'turns per minute'),
        ({'velocity': 0.5 / np.pi}, 'velocity', 'turns per second'),
        ({'position': 0.5 / np.pi}, 'position', 'turns; multiply them by 6.28'),
        ({'velocity': -1.0}, 'velocity', 'the other way round'),
        ({'velocity': 0.0}, 'velocity', 'reports none'),
        ({'velocity': 0.5}, 'velocity', '0.5 times the slope'),
        ({'position': 0.1}, 'velocity', 'positions are not a tenth'),
        ({'velocity': 0.1}, 'velocity', 'a tenth of what they should be'),
        ({'position': 3.0, 'velocity': 3.0}, 'limit', 'another unit'),
    ],
)
def test_what_is_wrong_is_named_and_nothing_else(given, quantity, words):
    (finding,) = unit_findings(recording(**given), LIMITS)
    assert finding.quantity == quantity
    assert words in finding.sentence


def test_stamps_of_too_few_digits_are_not_taken_for_milliseconds():
    few = np.repeat(np.arange(20) * 10**9, 100)
    q = recording().position[: len(few)]
    rows = np.tile(q, (2, 1))
    log = recording_of('log.csv', NAMES, Samples(few, rows, None, np.ones_like(rows)), ())
    (finding,) = unit_findings(log, LIMITS)
    assert finding.quantity == 'time'
    assert 'too few digits' in finding.sentence


def test_time_and_positions_are_refused_and_velocities_remarked():
    with pytest.raises(MeasurementError, match='multiply them by 0.0174533'):
        degrees = 180 / np.pi
        remarks_on_units(recording(position=degrees, velocity=degrees), LIMITS)
    (remark,) = remarks_on_units(recording(velocity=-1.0), LIMITS)
    assert 'not used' in remark


def test_a_joint_without_limits_tells_no_unit():
    unlimited = JointLimits(
        np.full(7, -np.inf), np.full(7, np.inf), *([np.ones(7)] * 3), np.ones(7, dtype=bool)
    )
    degrees = recording(position=180 / np.pi, velocity=180 / np.pi)
    assert unit_findings(degrees, unlimited) == ()


@pytest.mark.parametrize(
    ('columns', 'factor', 'words'),
    [(slice(0, 1), 1000.0, 'milliseconds'), (slice(1, 3), 180.0 / np.pi, 'degrees')],
)
def test_a_calibration_names_units_before_it_fits(columns, factor, words, tmp_path):
    t = np.arange(1000) * 0.01
    motion = np.column_stack([np.sin(t), np.cos(2.0 * t), np.sin(t), np.cos(t)])
    table = np.column_stack([t, motion])
    table[:, columns] *= factor
    path = tmp_path / 'empty.csv'
    np.savetxt(path, table, '%.9g', ',', header='time,q_0,q_1,tau_0,tau_1', comments='')
    with pytest.raises(MeasurementError, match=words):
        recorded([RecordingChoice(path)], arm_of('two_link', None))


def test_velocities_are_not_compared_across_a_gap():
    whole = recording()
    kept = np.r_[0:250, 600:1000]
    samples = Samples(
        whole.stamp[kept], whole.position[kept], whole.velocity[kept], whole.effort[kept]
    )
    assert unit_findings(recording_of('log.csv', NAMES, samples, ()), LIMITS) == ()


@pytest.mark.parametrize('hours', [12, 500_000])
def test_a_clock_that_is_set_costs_no_time_and_no_memory(hours):
    whole = recording()
    stamp = whole.stamp + (np.arange(len(whole)) >= 500) * hours * 3600 * 10**9
    samples = Samples(stamp, whole.position, 0.5 * whole.velocity, whole.effort)
    (found,) = unit_findings(recording_of('log.csv', NAMES, samples, ()), LIMITS)
    assert found.quantity == 'velocity'


def test_equal_limits_are_none():
    nothing = JointLimits(*[np.zeros(7)] * 2, *([np.ones(7)] * 3), np.zeros(7, dtype=bool))
    assert unit_findings(recording(), nothing) == ()
