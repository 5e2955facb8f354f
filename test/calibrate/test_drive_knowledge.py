"""Friction and armature that nothing tells are no figures: not in the files, and said."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.bench.experiments.calibration import altered, motion_in_limits, simulated_log
from safe_sysid.calibrate.calibration import Calibration, calibrate
from safe_sysid.calibrate.drive_knowledge import DriveKnowledge
from safe_sysid.calibrate.settings import CalibrationSettings
from safe_sysid.export.calibrated_arm import write_calibrated_arm
from safe_sysid.model.arm import arm_of
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.calibrate_page import as_mapping, as_page

KNOWN = DriveKnowledge(
    names=('a', 'b'),
    figures=np.array([[2.0, 1.0], [1.0, 2.0], [0.1, 0.2]]),
    deviation=np.array([[0.1, 0.1], [0.1, 0.1], [0.01, 0.0]]),
    speed=np.array([1.0, 0.5]),
    slow=np.array([0.003, 0.003]),
    slides=np.array([False, False]),
    scale=np.array([[10.0, 10.0], [5.0, 5.0], [1.0, 1.0]]),
    behind_gear=False,
)
SLIDING = {'slow': np.array([0.003, 0.001]), 'slides': np.array([False, True])}
NOTHING = np.zeros((3, 2), dtype=bool)


def test_what_is_well_known_stays():
    assert (KNOWN.unknown == NOTHING).all()
    assert KNOWN.cautions() == ()


@pytest.mark.parametrize(
    ('changes', 'unknown', 'words'),
    [
        ({'speed': np.array([1.0, 0.008])}, [(0, 1), (1, 1), (2, 1)], 'b (0.008 of 0.009 rad/s)'),
        ({'speed': np.array([1.0, 0.002]), **SLIDING}, [(0, 1), (1, 1), (2, 1)],
         'b (0.002 of 0.003 m/s)'),
        ({'figures': KNOWN.figures * [[1.0, 1.0], [1.0, 1e-9], [1.0, 1.0]], **SLIDING}, [(1, 1)],
         'b.Fv 2e-09 +- 0.1 N s/m'),
        ({'figures': KNOWN.figures * [[1.0, 1.0], [1e-9, 1.0], [1.0, 1.0]]}, [(1, 0)],
         'a.Fv 1e-09 +- 0.1 N m s/rad'),
        ({'deviation': KNOWN.deviation * [[1.0, 1.0], [1.0, 1.0], [6.0, 1.0]]}, [(2, 0)],
         'a.Ia 0.1 +- 0.06 kg m^2'),
    ],
)  # fmt: skip
def test_what_is_not_known_is_named(changes, unknown, words):
    knowledge = replace(KNOWN, **changes)
    assert [tuple(x) for x in np.argwhere(knowledge.unknown)] == unknown
    (caution,) = knowledge.cautions()
    assert words in caution
    assert 'The files have 0' in caution
    hidden = replace(knowledge, behind_gear=True)
    assert (hidden.unknown == NOTHING).all()
    behind = hidden.cautions()
    assert len(behind) == hidden.standing.any()
    assert not any('The files have 0' in sentence for sentence in behind)
    assert all(words in sentence for sentence in behind)


def test_a_figure_that_is_small_beside_the_torque_of_the_arm_stays():
    """Anything up to a third of the torque limit would say less than that it is small."""
    small = replace(KNOWN, scale=KNOWN.scale * 100.0, figures=0.5 * KNOWN.deviation + 1e-3)
    assert not small.unknown.any()
    assert replace(small, scale=KNOWN.scale * 0.1).unknown[0].all()


@pytest.fixture(scope='module')
def locked() -> Calibration:
    """A fit of an arm whose fourth joint stood still."""
    rng = np.random.default_rng(1)
    model = RobotModel.named('ur5e')
    truth = altered(model, rng)
    motion = motion_in_limits(truth, rng, 20.0, 200.0)
    for signal in (motion.q, motion.qd, motion.qdd):
        signal[:, 3] = 0.0
    return calibrate(model, [simulated_log(truth, motion, rng)], [], CalibrationSettings())


def test_a_joint_that_stood_has_no_friction_and_no_armature_in_the_files(locked, tmp_path):
    assert locked.refused is None
    assert any('hardly moved: wrist_1_joint (' in sentence for sentence in locked.cautions())
    write_calibrated_arm(tmp_path, arm_of('ur5e', None), locked)
    read = RobotModel.from_config(tmp_path / 'ur5e.yaml')
    drives = read.layout.friction(read.theta)[:3]
    assert (drives[:, 3] == 0.0).all()
    assert (np.delete(drives[:2], 3, axis=1) > 0.0).all()
    for kind in ('coulomb', 'viscous', 'armature'):
        assert ArmKnowledge().unknown(read)[kind][3]


@pytest.fixture(scope='module', params=[0.0, 0.1])
def held(request) -> Calibration:
    """A fit of an arm whose first joint was read at one value throughout."""
    rng = np.random.default_rng(1)
    truth = altered(RobotModel.named('ur5e'), rng)
    motion = motion_in_limits(truth, rng, 8.0, 200.0)
    for signal in (motion.q, motion.qd, motion.qdd):
        signal[:, 0] = 0.0
    log = simulated_log(truth, motion, rng)
    log.q[:, 0] = request.param
    return calibrate(RobotModel.named('ur5e'), [log], [], CalibrationSettings())


def test_a_reading_that_never_changes_is_no_motion_of_the_size_of_rounding(held):
    assert held.refused is None
    assert held.cautions()[0].startswith('hardly moved: shoulder_pan_joint (0 of 0.009 rad/s);')
    assert held.quality.relative < 0.01
    assert 1.0 < held.quality.condition < 1e4


def test_the_report_has_no_figures_of_what_no_row_shows(held):
    found = as_mapping(RobotModel.named('ur5e'), held)
    assert np.flatnonzero(np.isnan(found['x'])).tolist() == [60, 66, 72]
    deviation = dict(zip(found['base_labels'], found['base_deviation'], strict=True))
    assert np.isnan(deviation['shoulder_pan_joint.Fc'])
    assert np.nanmax(found['base_deviation']) < 100.0
    for combination in found['worst_combinations']:
        assert 0.0 < combination['relative_deviation'] < 1.0
        assert not {x for x in combination['parameters'] if x.startswith('shoulder_pan_joint.F')}
    unseen = found['excitation']['unseen']
    assert unseen >= 3
    page = as_page(RobotModel.named('ur5e'), held, ())
    assert f'without {unseen} base parameters that no row shows' in page
    assert '| shoulder_pan_joint.Fc | unknown | not shown | N m |' in page
    assert '| shoulder_pan_joint.Ia | unknown | not shown | kg m^2 |' in page
    uncertainty = replace(held.uncertainty, covariance=1e9 * held.uncertainty.covariance)
    vague = as_page(RobotModel.named('ur5e'), replace(held, uncertainty=uncertainty), ())
    assert '\n- not known at all: ' in vague
    assert '\n- not known at all: ' not in page


@pytest.fixture(scope='module')
def behind_gear() -> Calibration:
    """A fit of an arm whose sensors do not feel its drives, and whose last joint stood."""
    rng = np.random.default_rng(1)
    model = RobotModel.named('fr3')
    motion = motion_in_limits(model, rng, 8.0, 200.0)
    for signal in (motion.q, motion.qd, motion.qdd):
        signal[:, 6] = 0.0
    bodies = model.theta.copy()
    bodies[70:91] = 0.0
    log = simulated_log(model.with_parameters(bodies), motion, rng)
    return calibrate(model, [log], [], CalibrationSettings())


def test_drives_that_no_sensor_feels_are_in_no_table(behind_gear):
    model = RobotModel.named('fr3')
    page = as_page(model, behind_gear, ())
    table = page.partition('## Friction, rotor inertia, offset')[2].partition('## Masses')[0]
    assert 'Torque is measured behind the gears' in table
    assert 'the files keep those of the settings' in table
    names = [line.split(' ')[1] for line in table.splitlines() if line.startswith('| joint')]
    assert names == [f'{name}.beta' for name in model.layout.joint_names]
    found = as_mapping(model, behind_gear)
    assert np.flatnonzero(np.isnan(found['x'])).tolist() == list(range(70, 91))
    base = zip(found['base_labels'], found['base_values'], found['base_deviation'], strict=True)
    drives = [x for label, *x in base if label.rpartition('.')[2] in ('Fc', 'Fv', 'Ia')]
    assert np.isnan(drives).all()
    (caution,) = [x for x in behind_gear.cautions() if x.startswith('hardly moved: ')]
    assert f'hardly moved: {model.layout.joint_names[6]} (' in caution
    assert 'The files have 0' not in caution


def test_a_stated_width_is_none_of_a_figure_that_is_unknown(tmp_path):
    rng = np.random.default_rng(2)
    arm = arm_of('two_link', None)
    truth = altered(arm.model, rng)
    log = simulated_log(truth, motion_in_limits(truth, rng, 20.0, 200.0), rng)
    found = calibrate(arm.model, [log], [], CalibrationSettings())
    deviation = found.drives.deviation.copy()
    deviation[0, 1] = 10.0
    write_calibrated_arm(
        tmp_path, arm, replace(found, drives=replace(found.drives, deviation=deviation))
    )
    read = RobotModel.from_config(tmp_path / 'two_link.yaml')
    stated = arm.model.uncertainty.coulomb
    bounds = ArmKnowledge(stated=read.uncertainty).bounds(read)
    first, second = np.arange(20, 22)
    assert bounds.upper[second] == pytest.approx(0.3 * read.limits.torque[1])
    assert bounds.lower[second] == 0.0
    half = stated.ratio[0] * read.theta[first] + stated.absolute[0]
    assert bounds.upper[first] - read.theta[first] == pytest.approx(half)
