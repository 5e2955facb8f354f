"""Intervals of friction that a promise gives, against the friction that the arm has."""

from identify.difference.two_recordings import PAYLOAD, TwoLinks
import numpy as np
import pytest

from safe_sysid.identify.difference.arm_evidence import arm_evidence
from safe_sysid.simulate.excited_motion import SimulatedMotion


def intervals(arm, log):
    return arm_evidence(arm.model, [[log]]).as_mapping()['friction']['intervals']


def test_friction_of_a_joint_that_stands_is_not_told(rng):
    arm = TwoLinks(rng)
    t = np.arange(3000) / 100.0
    rates = 2.0 * np.pi * np.array([0.13, 0.31])
    q, qd, qdd = (np.zeros((len(t), 2)) for _ in range(3))
    for rate in rates:
        q[:, 0] += np.sin(rate * t)
        qd[:, 0] += rate * np.cos(rate * t)
        qdd[:, 0] -= rate**2 * np.sin(rate * t)
    first, second = intervals(
        arm, arm.log_of(SimulatedMotion(t, q, qd, qdd), 0.0 * PAYLOAD)
    ).values()
    assert first['Fc'][0] < first['Fc'][1]
    assert second == {'Fc': None, 'Fv': None}


@pytest.mark.nightly
def test_intervals_contain_the_friction_though_errors_are_correlated():
    """With deviations of independent errors 92 of 160 contained it at two of them."""
    inside = []
    for seed in range(20):
        arm = TwoLinks(np.random.default_rng(seed), correlated=0.3)
        found = intervals(arm, arm.log(0.0 * PAYLOAD, 40.0))
        for label in ('Fc', 'Fv'):
            true = arm.truth.theta[arm.truth.layout.joint_entries(label)]
            inside += [
                ends[label][0] <= x <= ends[label][1]
                for ends, x in zip(found.values(), true, strict=True)
            ]
    assert np.mean(inside) == 1.0
