"""What is said to be known before contains every arm of which it is true."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from safe_sysid.config import from_mapping
from safe_sysid.errors import ConfigError
from safe_sysid.identify.payload_prior import RecordingPriorSettings, prior_of, sentences
from safe_sysid.model import inertia
from safe_sysid.model.arm_knowledge import LABELS, NAMES, unknown_range
from safe_sysid.model.body_widths import body_sizes
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.uncertainty import Uncertainty, Width
from safe_sysid.simulate.random_arm import random_body


def moved_centre(phi, offset):
    """The body with the same inertia about its centre of mass, which is somewhere else."""
    mass, com, about_com = inertia.mass_com_inertia(phi)
    return inertia.from_mass_com_inertia(mass, com + offset, about_com)


def test_links_may_be_denser_and_have_their_centre_of_mass_elsewhere(rng):
    model = RobotModel.named('kinova_gen3')
    settings = RecordingPriorSettings(links=0.1, com=0.02)
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
    bounds = prior_of(model, RecordingPriorSettings(links=0.05, friction=0.05)).bounds
    share = Fraction(0.05)
    for i in model.layout.rest:
        x = Fraction(model.theta[i])
        assert Fraction(bounds.lower[i]) <= x - share * abs(x)
        assert x + share * abs(x) <= Fraction(bounds.upper[i])


def test_a_payload_may_be_any_body_of_that_mass_within_reach(rng):
    model = RobotModel.named('two_link')
    settings = RecordingPriorSettings(payload_mass=3.0, reach=0.2)
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
    model = RobotModel.named('two_link')
    bounds = prior_of(model, RecordingPriorSettings(friction=None)).bounds
    viscous = model.layout.joint_entries('Fv')
    assert (bounds.lower[viscous] == 0.0).all()
    np.testing.assert_allclose(
        bounds.upper[viscous] * model.limits.velocity, 0.3 * model.limits.torque
    )
    assert '30 % of the torque limit' in ' '.join(
        sentences(model, RecordingPriorSettings(friction=None))
    )


@pytest.mark.parametrize('robot', ['two_link', 'kinova_gen3', 'lbr_med7', 'digit_left_leg'])
def test_unknown_friction_contains_twice_what_the_arm_is_described_with(robot):
    model = RobotModel.named(robot)
    bounds = prior_of(model, RecordingPriorSettings(friction=None)).bounds
    for kind in ('Fc', 'Fv', 'Ia', 'beta'):
        place = model.layout.joint_entries(kind)
        assert (bounds.lower[place] <= 0.0).all()
        assert (bounds.upper[place] >= 2.0 * np.abs(model.theta[place])).all()


@pytest.mark.parametrize('robot', ['kinova_gen3', 'lbr_med7'])
def test_a_figure_of_0_promises_nothing(robot):
    """Neither friction, armature and offset of a joint, nor a product of inertia of a link."""
    model = RobotModel.named(robot)
    bounds = prior_of(model, RecordingPriorSettings(friction=0.01)).bounds
    zeros = np.flatnonzero(model.theta == 0.0)
    assert len(zeros) > 10
    assert (bounds.upper[zeros] > 1e-5).all()
    offset = model.layout.joint_entries('beta')
    assert (bounds.lower[offset] < 0.0).all()


def test_a_share_of_an_offset_says_nothing():
    model = RobotModel.named('two_link')
    theta, place = model.theta.copy(), model.layout.joint_entries('beta')
    theta[place] = 0.01  # what a fit finds where there is none
    bounds = prior_of(model.with_parameters(theta), RecordingPriorSettings(friction=0.05)).bounds
    assert (bounds.lower[place] < -1.0).all() and (bounds.upper[place] > 1.0).all()


def test_a_link_may_be_turned_and_moved_a_little(rng):
    """A share of its size: of the radius of gyration, and of its axes of inertia."""
    model = RobotModel.named('lbr_med7')
    bounds = prior_of(model, RecordingPriorSettings(links=0.05)).bounds
    for _ in range(200):
        for joint in range(model.n - 1):
            place = model.layout.inertial(joint)
            body = model.theta[place]
            R = Rotation.from_rotvec(0.005 * rng.uniform(-1.0, 1.0, 3)).as_matrix()
            gyration = np.sqrt(0.5 * body[[4, 6, 9]].sum() / body[0])
            turned = inertia.moved(body, R, 0.002 * gyration * rng.uniform(-1.0, 1.0, 3))
            assert (bounds.lower[place] <= turned).all() and (turned <= bounds.upper[place]).all()


def test_no_entry_of_a_body_is_larger_than_its_size(rng):
    bodies = np.array([random_body(rng) for _ in range(500)])
    sizes = body_sizes(bodies)
    assert (np.abs(bodies) <= sizes).all()
    np.testing.assert_array_equal(sizes[:, [0, 4, 6, 9]], bodies[:, [0, 4, 6, 9]])


def test_stated_widths_count_for_their_kind_and_joint():
    model = RobotModel.named('two_link')
    stated = Uncertainty(
        offset=Width(absolute=(0.2, 0.3)), coulomb=Width((0.1,), (1.0,)), mass=Width((0.0, 0.5))
    )
    known = RecordingPriorSettings(stated=stated)
    bounds = prior_of(model, known).bounds
    layout = model.layout
    np.testing.assert_allclose(bounds.upper[layout.joint_entries('beta')], [0.2, 0.3])
    np.testing.assert_allclose(bounds.lower[layout.joint_entries('beta')], [-0.2, -0.3])
    coulomb = model.theta[layout.joint_entries('Fc')]
    np.testing.assert_allclose(bounds.upper[layout.joint_entries('Fc')], 1.1 * coulomb + 1.0)
    assert (bounds.lower[layout.joint_entries('Fc')] == 0.0).all()  # friction is not negative
    assert bounds.upper[0] == pytest.approx(model.theta[0], rel=1e-12)
    said = ' '.join(sentences(model, known))
    assert 'the offset of the joints is from -0.2, -0.3 to 0.2, 0.3 N m' in said
    assert 'mass of a link is within 0 %, 50 % of that and 0 kg' in said


def with_figures(kind, figures):
    """Two links with these figures of one kind."""
    model = RobotModel.named('two_link')
    theta = model.theta.copy()
    theta[model.layout.joint_entries(LABELS[kind])] = figures
    return model.with_parameters(theta)


@pytest.mark.parametrize('kind', ['coulomb', 'viscous', 'armature', 'offset'])
def test_a_share_of_a_figure_that_nobody_has_is_no_width(kind):
    """Of 0 it would promise exactly 0; what the other joint has is within its share."""
    model = with_figures(kind, [0.25, 0.0])
    place = model.layout.joint_entries(LABELS[kind])
    wide = unknown_range(kind, model.theta[place], model.limits)
    known = RecordingPriorSettings(stated=Uncertainty(**{kind: Width((0.1,))}))
    bounds = prior_of(model, known).bounds
    assert (bounds.lower[place][1], bounds.upper[place][1]) == (wide[0][1], wide[1][1])
    np.testing.assert_allclose(bounds.lower[place][0], 0.9 * 0.25)
    np.testing.assert_allclose(bounds.upper[place][0], 1.1 * 0.25)
    assert 'as nobody states that of joint_2: ' in ' '.join(sentences(model, known))

    exactly = RecordingPriorSettings(stated=Uncertainty(**{kind: Width((0.1,), (0.0,))}))
    assert abs(prior_of(model, exactly).bounds.upper[place][1]) < 1e-200
    assert 'as nobody states that of' not in ' '.join(
        x for x in sentences(model, exactly) if NAMES[kind] in x
    )


@pytest.mark.parametrize('said', [{}, {'ratio': None}])
def test_a_width_that_states_nothing_is_refused(said):
    with pytest.raises(ConfigError, match='mass: a width states neither ratio nor absolute'):
        from_mapping(Uncertainty, {'mass': said}, 'test')


def test_a_width_for_another_number_of_joints_is_refused():
    known = RecordingPriorSettings(stated=Uncertainty(armature=Width((0.1, 0.1, 0.1))))
    with pytest.raises(ConfigError, match=r'armature\.ratio has 3 entries; 1, or 2'):
        prior_of(RobotModel.named('two_link'), known)


def test_friction_that_looks_like_a_placeholder_is_said_and_not_relied_on():
    """What lbr_description has for simulators: the same on every joint."""
    model = RobotModel.named('lbr_med7')
    bounds = prior_of(model, RecordingPriorSettings(friction=0.01)).bounds
    viscous = model.layout.joint_entries('Fv')
    assert (bounds.lower[viscous] == 0.0).all() and (bounds.upper[viscous] >= 20.0).all()
    assert 'viscous friction that lbr_med7 is described with looks like a placeholder' in ' '.join(
        sentences(model, RecordingPriorSettings())
    )
    stated = RecordingPriorSettings(stated=Uncertainty(viscous=Width((0.1,))))
    assert prior_of(model, stated).bounds.upper[viscous] == pytest.approx(11.0)
    assert 'viscous friction that' not in ' '.join(sentences(model, stated))
    assert 'placeholder' not in ' '.join(
        sentences(RobotModel.named('two_link'), RecordingPriorSettings())
    )


@pytest.mark.parametrize(
    ('settings', 'sentence'),
    [({'links': -0.1}, 'links is -0.1'), ({'reach': 0.0}, 'reach is 0.0'),
     ({'friction': np.inf}, 'friction is inf')],
)  # fmt: skip
def test_what_cannot_be_known_is_refused(settings, sentence):
    with pytest.raises(ConfigError, match=sentence):
        RecordingPriorSettings(**settings)
