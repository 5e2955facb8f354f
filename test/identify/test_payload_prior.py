"""What is said to be known before contains every arm of which it is true."""

from fractions import Fraction

import numpy as np
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.identify.payload_prior import PriorSettings, prior_of, sentences
from safe_sysid.model import inertia
from safe_sysid.model.robot_model import RobotModel


def moved_centre(phi, offset):
    """The body with the same inertia about its centre of mass, which is somewhere else."""
    mass, com, about_com = inertia.mass_com_inertia(phi)
    return inertia.from_mass_com_inertia(mass, com + offset, about_com)


def test_links_may_be_denser_and_have_their_centre_of_mass_elsewhere(rng):
    model = RobotModel.named('kinova_gen3')
    settings = PriorSettings(links=0.1, com=0.02)
    bounds = prior_of(model, settings).bounds
    for trial in range(300):
        theta = model.theta.copy()
        for joint in range(model.n - 1):
            offset = rng.uniform(-1.0, 1.0, 3) if trial % 2 else rng.choice([-1.0, 1.0], 3)
            density = 1.0 + 0.1 * (rng.uniform(-1.0, 1.0) if trial % 2 else rng.choice([-1, 1]))
            place = model.layout.inertial(joint)
            theta[place] = moved_centre(density * theta[place], 0.02 * offset)
        inside = (bounds.lower <= theta + 1e-12) & (theta - 1e-12 <= bounds.upper)
        assert inside[: 10 * (model.n - 1)].all()


def test_links_are_within_a_share_to_the_last_digit():
    """Compared in exact rationals, as a promise of 5 % contains the arm that is 5 % heavier."""
    model = RobotModel.named('kinova_gen3')
    bounds = prior_of(model, PriorSettings(links=0.05, friction=0.05)).bounds
    share = Fraction(0.05)
    for i in model.layout.rest:
        x = Fraction(model.theta[i])
        assert Fraction(bounds.lower[i]) <= x - share * abs(x)
        assert x + share * abs(x) <= Fraction(bounds.upper[i])


def test_a_payload_may_be_any_body_of_that_mass_within_reach(rng):
    model = RobotModel.named('two_link')
    settings = PriorSettings(payload_mass=3.0, reach=0.2)
    bounds = prior_of(model, settings).end_effector_bounds
    for _ in range(300):
        points = rng.normal(size=(6, 3))
        points *= 0.2 * rng.uniform(size=(6, 1)) ** 0.1 / np.linalg.norm(points, axis=1)[:, None]
        masses = rng.uniform(size=6)
        masses *= 3.0 * rng.uniform() / masses.sum()
        body = sum(
            inertia.from_mass_com_inertia(m, p, np.zeros((3, 3)))
            for m, p in zip(masses, points, strict=True)
        )
        assert (bounds.lower <= body).all() and (body <= bounds.upper).all()


def test_unknown_friction_is_what_the_joints_can_overcome():
    model = RobotModel.named('kinova_gen3')
    bounds = prior_of(model, PriorSettings(friction=None)).bounds
    viscous = model.layout.joint_entries('Fv')
    assert (bounds.lower[viscous] == 0.0).all()
    np.testing.assert_allclose(
        bounds.upper[viscous] * model.limits.velocity, 0.3 * model.limits.torque
    )
    assert 'at most 30 %' in ' '.join(sentences(model, PriorSettings(friction=None)))


@pytest.mark.parametrize(
    ('settings', 'sentence'),
    [({'links': -0.1}, 'links is -0.1'), ({'reach': 0.0}, 'reach is 0.0'),
     ({'friction': np.inf}, 'friction is inf')],
)  # fmt: skip
def test_what_cannot_be_known_is_refused(settings, sentence):
    with pytest.raises(ConfigError, match=sentence):
        PriorSettings(**settings)
