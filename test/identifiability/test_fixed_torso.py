"""What a leg on a test stand teaches about the leg of a robot that jumps, as published."""

from identifiability.reference_mechanisms import LEG, leg_rotors
import numpy as np
import pytest

from safe_sysid.identifiability.joint_conditions import Torques
from safe_sysid.identifiability.mechanism_regressor import stacked_regressor

SAMPLES = 60
LEG_TORQUES, FORCES, BODY_TORQUES = slice(6, 9), slice(0, 3), slice(3, 6)


def errors(Y, theta, truth, rows):
    """RMS of the torque error of every row."""
    return np.sqrt(np.mean((Y @ (theta - truth)).reshape(-1, rows) ** 2, axis=0))


def identified(Y, truth):
    """Least squares without a prior."""
    return np.linalg.pinv(Y, rcond=1e-9) @ (Y @ truth)


@pytest.fixture(params=['rotors', 'no rotors'])
def case(request, rng):
    """Rows on the stand and in the air, each to learn from and to check with, and the truth."""
    with_rotors = request.param == 'rotors'
    stand = leg_rotors(LEG) if with_rotors else LEG
    air = LEG.on_floating_base('torso')
    air = leg_rotors(air) if with_rotors else air

    def rows(tree):
        return stacked_regressor(tree, Torques.OF_MOTION, SAMPLES, rng)

    truth = rng.uniform(0.5, 2.0, size=52 if with_rotors else 40)
    return rows(stand), rows(stand), rows(air), rows(air), truth, with_rotors


def test_identified_in_the_air_it_predicts_both(case):
    _, stand, learn, air, truth, _ = case
    theta = identified(learn, truth)
    assert errors(air, theta, truth, 9).max() < 1e-8
    assert errors(stand, theta[10:], truth[10:], 3).max() < 1e-8


def test_identified_on_the_stand_it_predicts_only_the_stand(case):
    learn, stand, _, air, truth, with_rotors = case
    theta = np.concatenate([truth[:10], identified(learn, truth[10:])])
    assert errors(stand, theta[10:], truth[10:], 3).max() < 1e-8
    wrong = errors(air, theta, truth, 9)
    abduction, hip, knee = wrong[LEG_TORQUES]
    assert abduction > 1e-2
    assert (hip > 1e-2) == with_rotors
    assert knee < 1e-8
    assert wrong[FORCES].min() > 1e-2
    assert wrong[BODY_TORQUES].min() > 1e-2
