"""The probe finds out what a driver does with a torque, and the arm hardly moves for it.

The driver is the one of `tools/mujoco_sim`, which takes efforts in many ways.
"""

import importlib.util
from pathlib import Path
import sys

import numpy as np
import pytest

from safe_sysid.bench.experiments.kinova_dumbbell import kinova_prior
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.track.gains import Gains
from safe_sysid.track.obey_probe import Obedience, ObeyProbe, ProbeSettings
from safe_sysid.track.robust_passivity import RobustPassivityController

pytest.importorskip('mujoco', reason='MuJoCo is an extra')
FOLDER = Path(__file__).parents[2] / 'tools' / 'mujoco_sim'
START = [0.0, 0.3, 0.0, 1.2, 0.0, 0.9, 0.0]  # [rad]
PERIOD = 0.005  # [s]
LONGEST = 120.0  # [s]
FAR = 5e-3  # [rad]
MODEL = RobotModel.named('kinova_gen3').with_payload(read_payload('dumbbell_5lb'))
GAINS = Gains(np.full(7, 5.0), 0.02, 25.0)


def loaded(name):
    spec = importlib.util.spec_from_file_location(f'probed_{name}', FOLDER / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def probed(friction=0.0, order=range(7), **habits):
    """A probe that has come to its end, with how far the arm was moved and for how long."""
    arms, drivers = loaded('arm'), loaded('driver')
    facts = arms.facts_of('kinova_gen3', 'dumbbell_5lb')
    facts.coulomb[:] = [friction] * 4 + [0.5 * friction] * 3
    driver = drivers.Driver(
        arms.Arm(facts, START), facts.joints, drivers.Habits(**{'period': PERIOD, **habits})
    )
    clock = Clock(driver.stamp)
    law = RobustPassivityController(MODEL, GAINS, clock)
    probe = ObeyProbe(MODEL, ProbeSettings(), clock, law)
    estimate, furthest = kinova_prior(MODEL), 0.0
    while probe.obedience is Obedience.UNKNOWN:
        assert driver.ticks * PERIOD < LONGEST
        names, *columns = driver.state()
        rows = [np.array([c[names.index(n)] for n in facts.joints]) for c in columns]
        torque = probe.step(JointMeasurement(driver.stamp, *rows), estimate)
        assert np.all(np.abs(torque) <= MODEL.limits.torque)
        driver.command(torque[list(order)])
        driver.tick()
        furthest = max(furthest, np.abs(driver.arm.q - START).max())
    return probe, furthest, driver.ticks * PERIOD


@pytest.mark.slow
@pytest.mark.parametrize('friction', [0.0, 2.0])
@pytest.mark.parametrize('habits', [{}, {'delay': 2}, {'encoder': 3.5e-4}], ids=str)
def test_a_driver_that_obeys_is_known_to(friction, habits):
    probe, furthest, seconds = probed(friction, **habits)
    assert probe.obedience is Obedience.OBEYS, probe.reason
    assert furthest < FAR
    assert seconds < 40.0


@pytest.mark.slow
@pytest.mark.parametrize('friction', [0.0, 2.0])
def test_a_driver_that_holds_its_position_whatever_it_is_told_is_refused(friction):
    probe, furthest, seconds = probed(friction, ignores=True)
    assert probe.obedience is Obedience.REFUSED
    assert 'joint_1 did not move while its torque changed by' in probe.reason
    assert furthest == 0.0
    assert seconds < 12.0


@pytest.mark.slow
def test_a_driver_that_reports_the_command_as_effort_and_ignores_it_is_refused():
    assert probed(ignores=True, effort='command')[0].obedience is Obedience.REFUSED


def test_an_order_of_joints_that_is_not_ours_is_refused():
    probe, furthest, _ = probed(order=[1, 0, 2, 3, 4, 5, 6])
    assert probe.obedience is Obedience.REFUSED
    assert probe.is_wild
    assert furthest < 2.0 * ProbeSettings().far


@pytest.mark.parametrize('friction', [0.0, 2.0])
def test_a_sign_that_is_wrong_is_refused_before_the_arm_has_gone_far(friction):
    probe, furthest, _ = probed(friction, sign=-1)
    assert probe.obedience is Obedience.REFUSED
    assert probe.is_wild
    assert furthest < 2.0 * ProbeSettings().far


def test_trusted_drivers_are_not_probed():
    probe = ObeyProbe(MODEL, ProbeSettings(driver='trusted'), Clock(0), None)
    assert probe.obedience is Obedience.OBEYS
