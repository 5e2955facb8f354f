"""A payload is a body that can exist; the dumbbells are the published one, scaled."""

from model import arm_figures
import numpy as np
import pinocchio as pin
import pytest
import yaml

from safe_sysid.errors import ConfigError
from safe_sysid.model.payload import Placement, read_payload
from safe_sysid.share import payload_names

POUNDS = (4, 5, 6, 7, 8)
HEAD_RADIUS, HEAD_LENGTH, HEAD_CENTRE = 0.0363, 0.0383, 0.0687  # [m], as in the headers
BAR_RADIUS, DENSITY = 0.014, 7200.0  # [m], [kg/m^3]
BODY = {
    'mass': 2.0,
    'com': [0.0, 0.0, 0.1],
    'inertia_about_com': {'ixx': 2.0, 'ixy': 0.1, 'ixz': 0, 'iyy': 3.0, 'iyz': 0, 'izz': 4.0},
    'placement': {'my_arm': {'link': 'hand', 'xyz': [1, 2, 3], 'rpy': [0.1, 0.2, 0.3]}},
    'shapes': {'ball': {'a': [0, 0, 0], 'b': [0, 0, 0], 'radius': 1.4}},
}


def written(tmp_path, **changes):
    path = tmp_path / 'body.yaml'
    path.write_text(yaml.safe_dump({**BODY, **changes}))
    return path


def cylinder(radius, length, centre):
    """Mass, moment about the axis x, moment about y through the origin."""
    mass = DENSITY * np.pi * radius**2 * length
    across = mass * (radius**2 / 4 + length**2 / 12 + centre**2)
    return np.array([mass, mass * radius**2 / 2, across])


def test_the_package_has_the_five_dumbbells_and_a_tool():
    assert payload_names() == [*(f'dumbbell_{pounds}lb' for pounds in POUNDS), 'rod_tool']


@pytest.mark.parametrize('pounds', POUNDS)
def test_dumbbells_are_the_published_one_with_mass_and_inertia_scaled(pounds):
    dumbbell = read_payload(f'dumbbell_{pounds}lb')
    assert dumbbell.mass == pytest.approx(pounds * arm_figures.POUND, rel=1e-14)
    scale = pounds / 6
    expected = np.diag(arm_figures.DUMBBELL_6LB_INERTIA) * scale
    np.testing.assert_allclose(dumbbell.inertia, expected, rtol=1e-14)
    assert dumbbell.com.tolist() == [0, 0, 0]


def test_six_pounds_are_the_published_figures_themselves():
    assert read_payload('dumbbell_6lb').mass == arm_figures.DUMBBELL_6LB_MASS
    assert np.diag(read_payload('dumbbell_6lb').inertia).tolist() == list(
        arm_figures.DUMBBELL_6LB_INERTIA
    )


def test_shape_in_the_header_has_mass_and_inertia_of_the_six_pound_dumbbell():
    head = cylinder(HEAD_RADIUS, HEAD_LENGTH, HEAD_CENTRE)
    bar = cylinder(BAR_RADIUS, 2 * HEAD_CENTRE - HEAD_LENGTH, 0.0)
    mass, along, across = 2 * head + bar
    assert mass == pytest.approx(arm_figures.DUMBBELL_6LB_MASS, rel=0.01)
    assert along == pytest.approx(arm_figures.DUMBBELL_6LB_INERTIA[0], rel=0.01)
    assert across == pytest.approx(arm_figures.DUMBBELL_6LB_INERTIA[1], rel=0.01)


@pytest.mark.parametrize('pounds', POUNDS)
def test_capsule_contains_the_shape_in_the_header(pounds):
    (capsule,) = read_payload(f'dumbbell_{pounds}lb').shapes.values()
    assert capsule.a[1:] == capsule.b[1:] == (0, 0)
    # distance to a segment is convex: the rims of the heads and the bar between them decide
    end = HEAD_CENTRE + HEAD_LENGTH / 2
    assert -capsule.a[0] == capsule.b[0] < end
    assert np.hypot(end - capsule.b[0], HEAD_RADIUS) < capsule.radius
    assert capsule.radius > HEAD_RADIUS and capsule.radius > BAR_RADIUS


@pytest.mark.parametrize('pounds', POUNDS)
def test_kinova_holds_dumbbells_where_the_source_says(pounds):
    link, R, p = read_payload(f'dumbbell_{pounds}lb').placed_on('kinova_gen3')
    assert (link, p.tolist()) == (arm_figures.DUMBBELL_LINK, list(arm_figures.DUMBBELL_XYZ))
    np.testing.assert_allclose(R @ [1, 0, 0], [0, 1, 0], atol=1e-15)  # the bar lies along y


def test_placement_turns_as_a_urdf_does(rng):
    for rpy in rng.uniform(-np.pi, np.pi, (20, 3)):
        R = Placement('hand', (0.0, 0.0, 0.0), tuple(rpy)).rotation()
        np.testing.assert_allclose(R, pin.rpy.rpyToMatrix(rpy), atol=1e-15)


def test_file_of_ones_own_is_read_by_its_path(tmp_path):
    payload = read_payload(written(tmp_path))
    assert (payload.name, payload.mass, payload.com.tolist()) == ('body', 2.0, [0, 0, 0.1])
    assert payload.inertia.tolist() == [[2.0, 0.1, 0], [0.1, 3.0, 0], [0, 0, 4.0]]
    assert payload.placed_on('my_arm')[0] == 'hand'
    assert payload.shapes['ball'].radius == 1.4


def moments(ixx, iyy, izz, ixy=0.0):
    entries = {'ixx': ixx, 'iyy': iyy, 'izz': izz, 'ixy': ixy, 'ixz': 0.0, 'iyz': 0.0}
    return {'inertia_about_com': entries}


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'mass': 0}, r'body.yaml: mass is 0.0, it has to be above 0'),
        ({'mass': float('nan')}, r'mass is nan, it has to be above 0'),
        ({'mass': float('inf')}, r'mass is inf'),
        ({'com': [0, 0]}, r'com: \[0, 0\] has 2 entries, not 3'),
        ({'com': [0, float('nan'), 0]}, r'com is \[0.0, nan, 0.0\], it has to be three finite'),
        (moments(1, 1, 2), r'principal moments 1, 1, 2 kg m\^2; no body has one that is not less'),
        (moments(1, 1, 1, 1.5), r'principal moments -0.5, 1, 2.5 kg m\^2, all have to exceed 0'),
        (moments(1, 1, float('nan')), r'it has to be 3x3 finite numbers'),
        ({'shapes': {}}, r'shapes is empty, list capsules'),
        (
            {'shapes': {'ball': {'a': [0, 0, 0], 'b': [0, 0, 0], 'radius': 0}}},
            r'shapes.ball: radius is 0.0, it has to be above 0',
        ),
        (
            {
                'placement': {
                    'my_arm': {'link': 'hand', 'xyz': [0, 0, float('inf')], 'rpy': [0] * 3}
                }
            },
            r'placement.my_arm: xyz is \(0.0, 0.0, inf\), it has to be finite',
        ),
        ({'com': [0, 0, 1.5]}, r'com is \[0.0, 0.0, 1.5\] \[m\], outside the shapes, .* 1.4\] m'),
        ({'com': [-14, 2, 4]}, r'outside the shapes.* from \[-1.4, -1.4, -1.4\] to'),  # cm
        (moments(3, 3, 5), r'moment of 5 kg m\^2 about com; 2 kg .* reach 1.5 m .* 4.5 at most'),
        ({'masss': 1}, r"unknown key 'masss', did you mean 'mass'\?"),
    ],
)
def test_what_is_no_body_is_refused_with_its_file_and_value(tmp_path, changes, message):
    with pytest.raises(ConfigError, match=message):
        read_payload(written(tmp_path, **changes))


def test_every_body_that_its_shapes_contain_is_taken(tmp_path, rng):
    """Points of mass anywhere in the capsules, also as far out as there are any."""
    for _ in range(200):
        ends, radii = rng.uniform(-0.2, 0.2, (2, 2, 3)), rng.uniform(0.01, 0.1, 2)
        names = ('one', 'other')
        shapes = {
            name: {'a': a.tolist(), 'b': b.tolist(), 'radius': float(r)}
            for name, (a, b), r in zip(names, ends, radii, strict=True)
        }
        which, along = rng.integers(0, 2, 6), rng.choice([0.0, 0.3, 1.0], 6)
        away = rng.normal(size=(6, 3))
        away *= radii[which, None] / np.linalg.norm(away, axis=1)[:, None]
        points = ends[which, 0] * (1.0 - along)[:, None] + ends[which, 1] * along[:, None] + away
        masses = rng.exponential(size=6)
        com = masses @ points / masses.sum()
        x = points - com
        S = (masses[:, None] * x).T @ x
        I = np.trace(S) * np.eye(3) - S  # noqa: E741 - as in the literature
        entries = {'ixx': (0, 0), 'ixy': (0, 1), 'ixz': (0, 2), 'iyy': (1, 1), 'iyz': (1, 2)}
        entries['izz'] = (2, 2)
        changes = {
            'mass': float(masses.sum()),
            'com': com.tolist(),
            'inertia_about_com': {name: float(I[place]) for name, place in entries.items()},
            'shapes': shapes,
        }
        assert read_payload(written(tmp_path, **changes)).mass == pytest.approx(masses.sum())


def test_missing_key_is_named(tmp_path):
    path = tmp_path / 'body.yaml'
    path.write_text(yaml.safe_dump({key: BODY[key] for key in BODY if key != 'com'}))
    with pytest.raises(ConfigError, match="key 'com' is missing"):
        read_payload(path)


def test_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match="no payload 'anvil', the package has .*dumbbell_4lb"):
        read_payload('anvil')


def test_unknown_robot_is_answered_with_the_known_ones(tmp_path):
    with pytest.raises(ConfigError, match=r"how 'crane' holds it, it does for \['my_arm'\]"):
        read_payload(written(tmp_path)).placed_on('crane')
