"""`safe-sysid bench plan --arms`: an arm of light wrists has certified plans, bare and loaded."""

import numpy as np
import pytest

from safe_sysid.bench.arm_plans import plans_of_arms
from safe_sysid.bench.experiments.calibrated_arms import ARMS, LOADS, CalibratedArm

KEYS = {
    'starts',
    'can_stand_still',
    'certified_bare',
    'certified_2kg',
    'first_plan_s_median',
    'first_plan_s_p95',
    'cpu_s_median',
    'moving',
}


@pytest.mark.parametrize('name', ARMS)
def test_what_is_known_of_an_arm_contains_it(name):
    for payload in LOADS.values():
        arm = CalibratedArm.holding(name, payload)
        bounds, entries = arm.estimate.bounds, arm.model.layout.joint_entries('Ia')
        assert np.all((bounds.lower <= arm.model.theta) & (arm.model.theta <= bounds.upper))
        assert np.all(bounds.lower[entries] > 0.0)


@pytest.mark.slow
def test_an_lbr_has_certified_plans_bare_and_loaded():
    figures = plans_of_arms(1, 1, 200, lambda _: None, ['lbr_med7'])
    arm = figures['arms']['lbr_med7']
    assert arm.keys() >= KEYS
    assert arm['starts'] == arm['certified_bare'] == arm['certified_2kg'] == 1
    assert arm['falsified'] == 0
    assert 'armature of A7' in arm['without_assumed_armature']
    assert figures['arms_assumed']
    late = arm['late']  # a light wrist with much viscous friction
    assert late['starts'] == 1
    assert 0.0 < late['largest']['period and delay, together [s]'] < 0.002
    assert 'viscous friction changes the velocity of A7' in late['refused'][0]
    assert 'tracking error' not in arm['these_break']
    assert figures['late_assumed']
