"""An arm made of a description: its files, its capsules as written, its unknown figures."""

from dataclasses import replace
import re
from xml.etree import ElementTree

from model.collision.hull_distance import box, l_shape, write_stl
import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial import ConvexHull
from tiers import slow_after
import yaml

import safe_sysid as ss
from safe_sysid.cli.doctor import robot_checks
from safe_sysid.cli.doctor.findings import Verdict
from safe_sysid.cli.main import main
from safe_sysid.errors import ConfigError, ModelError
from safe_sysid.excite.design import design_problem, random_start
from safe_sysid.excite.settings import settings_of
from safe_sysid.model.collision.pair_separation import segment_distances
from safe_sysid.model.payload import read_payload, read_tool
from safe_sysid.share import share_directory

BODY = """<link name="{name}"><inertial><mass value="{mass}"/><origin xyz="0 0 0.1"/>
  <inertia ixx="0.02" iyy="0.021" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  {shapes}</link>"""
SHAPE = (
    '<{tag}><origin xyz="{xyz}" rpy="0.3 -0.2 0.5"/>'
    '<geometry><mesh filename="package://parts/{file}" scale="{scale}"/></geometry></{tag}>'
)
JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>
  <limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="2"/>{more}</joint>"""
SETTINGS = ss.NewArmSettings('torque-sensor', tip='hand', capsules=1)


def link(name, *files, mass=1.0, scale='1 1 1', tag='visual', xyz='0 0 0.05'):
    shapes = ''.join(SHAPE.format(tag=tag, file=file, scale=scale, xyz=xyz) for file in files)
    return BODY.format(name=name, mass=mass, shapes=shapes)


def joint(name, parent, child, kind='revolute', axis='0 0 1', xyz='0 0 0.3', **other):
    values = {'rpy': '0 0 0', 'lower': -2, 'upper': 2, 'effort': 90, 'more': '', **other}
    return JOINT.format(
        name=name, parent=parent, child=child, kind=kind, axis=axis, xyz=xyz, **values
    )


@pytest.fixture
def description(tmp_path):
    """An arm of two joints with a gripper whose second finger mimics the first."""
    package = tmp_path / 'a folder' / 'parts_of_ü'
    package.mkdir(parents=True)
    (package / 'package.xml').write_text('<package><name>parts</name></package>')
    write_stl(package / 'l.stl', l_shape())
    write_stl(package / 'bar.STL', box((0, 0, 0.1), (0.03, 0.02, 0.12)))
    write_stl(package / 'finger.stl', box((0, 0, 40), (10, 5, 40)))
    parts = [
        link('base', 'bar.STL'),
        link('upper', 'bar.STL', 'l.stl', scale='1 -1 1', tag='collision'),
        link('hand', 'bar.STL', mass=0.5),
        link('left', 'finger.stl', scale='0.001 0.001 0.001', mass=0.05),
        link('right', 'finger.stl', scale='0.001 0.001 0.001', mass=0.05),
        joint('j1', 'base', 'upper', axis='0 1 0'),
        joint('j2', 'upper', 'hand', axis='1 0 0', xyz='0.1 0 0.5', rpy='0.1 0.2 0.3', effort=30),
        joint('f1', 'hand', 'left', 'prismatic', '0 1 0', '0 0.02 0.25', lower=0.01, upper=0.06),
        joint('f2', 'hand', 'right', 'revolute', '1 0 0', '0 -0.02 0.25', lower=-1, upper=1,
              more='<mimic joint="f1" multiplier="-15" offset="0.1"/>'),
    ]  # fmt: skip
    path = package / 'arm.urdf'
    path.write_text(f'<robot name="arm">{"".join(parts)}</robot>', encoding='utf-8')
    return path


def corners():
    return {
        'bar.STL': box((0, 0, 0.1), (0.03, 0.02, 0.12)).reshape(-1, 3).astype(np.float32),
        'l.stl': l_shape().reshape(-1, 3).astype(np.float32),
        'finger.stl': 1e-3 * box((0, 0, 40), (10, 5, 40)).reshape(-1, 3).astype(np.float32),
    }


def in_link(points, mirror=1.0):
    R = pin.rpy.rpyToMatrix(0.3, -0.2, 0.5)
    return (points * [1.0, mirror, 1.0]) @ R.T + [0, 0, 0.05]


PARTS = {
    'base': ('bar.STL',), 'upper': ('bar.STL', 'l.stl'), 'hand': ('bar.STL',),
    'left': ('finger.stl',), 'right': ('finger.stl',),
}  # fmt: skip


def sticking_out(urdf, written, values):
    """How far the vertices are outside of the capsules of their body [m]; frames by Pinocchio."""
    model = pin.buildModelFromUrdf(str(urdf))
    data = model.createData()
    q = np.zeros(model.nq)
    for name, value in values.items():
        q[model.joints[model.getJointId(name)].idx_q] = value
    pin.framesForwardKinematics(model, data, q)
    place = {link: data.oMf[model.getFrameId(link)] for link in PARTS}
    carrier = {'base': 'base', 'upper': 'upper', 'hand': 'hand', 'left': 'hand', 'right': 'hand'}
    worst = -np.inf
    for name, files in PARTS.items():
        for file in files:
            points = in_link(corners()[file].astype(float), -1.0 if name == 'upper' else 1.0)
            points = np.array([place[name].act(point) for point in points])
            nearest = np.full(len(points), np.inf)
            for shape in written['collision']['shapes'].values():
                if shape['link'] == carrier[name]:
                    T = place[shape['link']]
                    ends = (T.act(np.array(shape[end], dtype=float)) for end in 'ab')
                    a, b = (np.broadcast_to(end, points.shape) for end in ends)
                    nearest = np.minimum(
                        nearest, segment_distances(points, points, a, b) - shape['radius']
                    )
            worst = max(worst, nearest.max())
    return worst


def read(folder):
    return yaml.safe_load((folder / 'arm.yaml').read_text(encoding='utf-8'))


def test_what_is_written_contains_every_vertex_with_fingers_anywhere(description, tmp_path, rng):
    out = tmp_path / 'out'
    made = ss.new_arm(description, SETTINGS, out, poses=0)
    written = read(out)
    assert written['held'] == {'f1': 0.01, 'f2': pytest.approx(-0.05)}
    for f1 in (0.01, 0.06, *rng.uniform(0.01, 0.06, 20)):
        pose = {'j1': rng.uniform(-2, 2), 'j2': rng.uniform(-2, 2), 'f1': f1, 'f2': 0.1 - 15 * f1}
        assert sticking_out(description, written, pose) <= 1e-8
    assert made.load().model.n == 2
    assert [cover.outside for cover in made.described.found.covers] == [0, 0, 0]


def test_fingers_that_stay_are_covered_where_they_are(description, tmp_path):
    held = ss.NewArmSettings(
        'torque-sensor', tip='hand', capsules=1, grip='held', hold={'f1': 0.02}
    )
    ss.new_arm(description, held, tmp_path / 'out', poses=0)
    written = read(tmp_path / 'out')
    here = {'f1': 0.02, 'f2': 0.1 - 15 * 0.02}
    assert sticking_out(description, written, here) <= 1e-8
    assert sticking_out(description, written, {'f1': 0.06, 'f2': -0.8}) > 1e-3


def test_the_same_input_gives_the_same_bytes_and_nothing_is_overwritten(description, tmp_path):
    first = ss.new_arm(description, SETTINGS, tmp_path / 'out', poses=0)
    bytes_of = {key: path.read_bytes() for key, path in first.files.items()}
    with pytest.raises(ConfigError, match=r'arm\.yaml.*exist already; --force'):
        ss.new_arm(description, SETTINGS, tmp_path / 'out', poses=0)
    again = ss.new_arm(description, SETTINGS, tmp_path / 'out', existing='replaced', poses=0)
    assert {key: path.read_bytes() for key, path in again.files.items()} == bytes_of


def test_an_arm_without_shapes_is_made_and_says_so(description, tmp_path):
    root = ElementTree.parse(description)
    for body in root.iter('link'):
        for shape in [*body.findall('visual'), *body.findall('collision')]:
            body.remove(shape)
    root.write(description)
    made = ss.new_arm(description, SETTINGS, tmp_path / 'out', poses=1)
    assert made.load().model.n == 2
    assert made.load().facts.collision.shapes == {}
    assert 'no link has a shape' in str(made)
    assert 'No shapes:' in made.files['page'].read_text(encoding='utf-8')


def test_a_mesh_that_is_made_flat_is_refused(description, tmp_path):
    text = description.read_text(encoding='utf-8')
    assert 'scale="1 -1 1"' in text
    description.write_text(text.replace('scale="1 -1 1"', 'scale="1 0 1"'), encoding='utf-8')
    with pytest.raises(ModelError, match=r"scale of .*bar\.STL is '1 0 1': 0 makes"):
        ss.new_arm(description, SETTINGS, tmp_path / 'out', poses=0)


def test_a_mesh_that_is_nowhere_is_named(description, tmp_path):
    (description.parent / 'bar.STL').rename(description.parent / 'bar.stl')
    with pytest.raises(ModelError, match=r'package://parts/bar\.STL.*exists as .*bar\.stl'):
        ss.new_arm(description, SETTINGS, tmp_path / 'out', poses=0)


def test_position_limits_in_degrees_are_named_before_efforts_are_blamed(description, tmp_path):
    text = description.read_text(encoding='utf-8')
    degrees = re.sub(r'lower="[^"]*" upper="[^"]*"', 'lower="-170" upper="170"', text)
    assert degrees != text
    description.write_text(degrees, encoding='utf-8')
    with pytest.raises(ConfigError, match='look like degrees.*in rad:\n *j.*: limits -170 to 170'):
        ss.new_arm(description, SETTINGS, tmp_path / 'out', poses=0)
    trusting = replace(SETTINGS, trust=(*SETTINGS.trust, 'position-degrees'))
    ss.new_arm(description, trusting, tmp_path / 'out', poses=0)


@pytest.mark.parametrize(
    ('old', 'new', 'rule'),
    slow_after(2,
    [('effort="30"', 'effort="0"', 'effort-zero'),
     ('velocity="2"', 'velocity="3.14"', 'velocity-half-turn'),
     ('effort="30"', 'effort="1000"', 'effort-large'),
     ('effort="30"', 'effort="0.3"', 'effort-weak'),
     ('velocity="2"', 'velocity="100"', 'velocity-large')]),
)  # fmt: skip
def test_limits_that_nobody_knows_are_asked_for(old, new, rule, description, tmp_path):
    text = description.read_text(encoding='utf-8')
    description.write_text(text.replace(old, new), encoding='utf-8')
    with pytest.raises(ConfigError, match=f'j2: .*{rule}(.|\n)*--{rule.partition("-")[0]} j'):
        ss.new_arm(description, SETTINGS, tmp_path / 'out', poses=0)
    given = {'effort': {'j2': 25.0}, 'velocity': {'j1': 1.0, 'j2': 1.5}}
    whole = ss.NewArmSettings('current', tip='hand', capsules=1, **given)
    made = ss.new_arm(description, whole, tmp_path / 'out', poses=0).load()
    np.testing.assert_array_equal(made.model.limits.torque, [90.0, 25.0])
    np.testing.assert_array_equal(made.model.limits.velocity, [1.0, 1.5])


@pytest.mark.parametrize('limit', ['effort', 'velocity'])
@pytest.mark.parametrize('name', ['jiont_1', 'f1', ''])
def test_a_limit_of_what_is_no_joint_of_the_arm_is_refused(limit, name, description, tmp_path):
    settings = replace(SETTINGS, **{limit: {'j1': 1.0, name: 20.0}})
    said = rf"'{name}' \(--{limit}\) is no joint of the arm; those are \['j1', 'j2'\]"
    with pytest.raises(ModelError, match=said):
        ss.new_arm(description, settings, tmp_path / 'out', poses=0)


@pytest.mark.parametrize(
    ('option', 'values'),
    [
        ('--effort', ('j2=30', 'j2=20')),
        ('--velocity', ('j2=1', 'j2=1')),
        ('--hold', ('f1=0.01', 'f1=0.02')),
        ('--xacro-arg', ('a:=1', 'a:=2')),
    ],
)
def test_a_name_that_is_given_twice_is_refused(option, values, description, tmp_path, capsys):
    given = [word for value in values for word in (option, value)]
    words = ['new-arm', str(description), '--kind', 'direct', '--tip', 'hand', *given]
    assert main([*words, '--out', str(tmp_path / 'out')]) == 2
    said = capsys.readouterr().err
    assert f'{option}: ' in said and 'is given twice' in said
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize('limit', ['effort', 'velocity'])
def test_a_limit_of_nothing_cannot_be_trusted(limit, description, tmp_path):
    """It would become a limit of 1 that nobody stated."""
    text = description.read_text(encoding='utf-8')
    old = {'effort': 'effort="30"', 'velocity': 'effort="30" velocity="2"'}[limit]
    assert old in text
    nothing = {'effort': 'effort="0"', 'velocity': 'effort="30" velocity="0"'}[limit]
    description.write_text(text.replace(old, nothing), encoding='utf-8')
    settings = replace(SETTINGS, trust=(f'{limit}-zero',))
    with pytest.raises(ConfigError, match=f'j2: {limit} 0 ') as refused:
        ss.new_arm(description, settings, tmp_path / 'out', poses=0)
    assert '--trust' not in str(refused.value)


def test_friction_below_zero_is_named_with_its_joint(description, tmp_path):
    text = description.read_text(encoding='utf-8')
    text = text.replace('velocity="2"/>', 'velocity="2"/><dynamics damping="-0.7"/>', 1)
    description.write_text(text, encoding='utf-8')
    with pytest.raises(ModelError, match=r"arm\.urdf: joint 'j1': damping .* is -0\.7"):
        ss.new_arm(description, SETTINGS, tmp_path / 'out', poses=0)


def test_an_inertia_that_no_body_has_is_doubted_without_shapes_too(description, tmp_path):
    root = ElementTree.parse(description)
    for body in root.iter('link'):
        for shape in [*body.findall('visual'), *body.findall('collision')]:
            body.remove(shape)
    root.find("link[@name='upper']/inertial/inertia").set('ixx', '-0.02')
    root.write(description)
    made = ss.new_arm(description, SETTINGS, tmp_path / 'out', poses=0)
    doubts = {(doubt.rule, doubt.name) for doubt in made.described.doubts}
    assert ('inertia-impossible', 'upper') in doubts
    assert 'identification: no, as long as this is so: upper: principal moments' in str(made)
    assert 'identification: yes' not in str(made)


def test_refusals_name_the_file_that_was_given(description, tmp_path):
    text = description.read_text(encoding='utf-8')
    for mass in ('0.5', '0.05'):
        text = text.replace(f'<mass value="{mass}"/>', '<mass value="0"/>')
    description.write_text(text, encoding='utf-8')
    with pytest.raises(ModelError) as refused:
        ss.new_arm(description, SETTINGS, tmp_path / 'out', poses=0)
    assert str(refused.value).startswith(f"{description}: what joint 'j2' moves has mass 0.0 kg")


def test_arguments_of_a_xacro_are_none_of_a_urdf(description, tmp_path):
    settings = replace(SETTINGS, xacro_arguments={'mass': '3'})
    with pytest.raises(ConfigError, match=r"is no xacro, .*\['mass'\]"):
        ss.new_arm(description, settings, tmp_path / 'out', poses=0)


def test_friction_of_simulators_is_unknown_and_said(description, tmp_path):
    text = description.read_text(encoding='utf-8')
    placed = text.replace('velocity="2"/>', 'velocity="2"/><dynamics damping="1" friction="1"/>')
    description.write_text(placed, encoding='utf-8')
    made = ss.new_arm(description, SETTINGS, tmp_path / 'out', poses=0)
    assert {doubt.rule for doubt in made.described.doubts} >= {'friction-alike'}
    assert all(joint['coulomb'] == 0.0 for joint in read(tmp_path / 'out')['joints'].values())
    trusting = ss.NewArmSettings(
        'torque-sensor', tip='hand', capsules=1, trust=('friction-alike',)
    )
    ss.new_arm(description, trusting, tmp_path / 'two', poses=0)
    assert all(joint['coulomb'] == 1.0 for joint in read(tmp_path / 'two')['joints'].values())
    with pytest.raises(ConfigError, match="no rule 'guess'"):
        ss.NewArmSettings('direct', trust=('guess',))


def test_pairs_that_an_srdf_disables_are_looked_at_all_the_same(description, tmp_path):
    srdf = description.with_suffix('.srdf')
    srdf.write_text(
        '<robot name="arm"><disable_collisions link1="base" link2="hand" reason="Never"/>'
        '<disable_collisions link1="base" link2="hand" reason="Adjacent"/>'
        '<disable_collisions link1="base" link2="upper" reason="Adjacent"/></robot>'
    )
    made = ss.new_arm(description, SETTINGS, tmp_path / 'out', poses=0)
    said = [line for line in made.described.remarks if 'arm.srdf' in line]
    apart = ('base', 'hand') in made.load().model.capsules.named(made.load().model.capsules.apart)
    assert sum('adjacent' in line for line in said) == 1
    assert sum('disables base and hand' in line for line in said) == (0 if apart else 1)


def findings(folder):
    return {each.item: each for each in robot_checks.findings(str(folder / 'arm.yaml'), None)}


def test_the_doctor_passes_it_and_sees_a_vertex_that_sticks_out(description, tmp_path):
    out = tmp_path / 'out'
    held = ss.NewArmSettings('torque-sensor', tip='hand', capsules=1, grip='held')
    ss.new_arm(description, held, out, poses=0)
    found = findings(out)
    assert not [each for each in found.values() if each.verdict is Verdict.FAIL]
    assert found['capsules against meshes'].verdict is Verdict.PASS
    assert 'sensing.torque, sensing.assumed' in found['measured torque'].detail
    longer = box((0, 0, 0.1), (0.03, 0.02, 0.12))
    longer[longer[..., 2] > 0.2] += [0.0, 0.0, 0.02]
    write_stl(description.parent / 'bar.STL', longer)
    bad = findings(out)['capsules against meshes']
    assert bad.verdict is Verdict.FAIL
    assert 'vertices of' in bad.detail


@pytest.mark.slow
def test_motions_of_an_arm_have_a_start_above_the_floor_it_stands_on(tmp_path):
    urdf = tmp_path / 'my_arm.urdf'
    urdf.write_text((share_directory() / 'urdf' / 'two_link.urdf').read_text(encoding='utf-8'))
    made = ss.new_arm(urdf, ss.NewArmSettings('torque-sensor'), tmp_path / 'out', poses=0)
    arm = made.load()
    settings = settings_of(arm)
    assert settings.floor == pytest.approx(-0.06, abs=2e-4)  # the base is a cylinder of 5 cm
    assert settings.payload == ''
    few = replace(settings, order=2, sample_rate=5.0, check_rate=5.0)
    problem = design_problem(arm.model, arm.model, few)
    start = random_start(problem, np.random.default_rng(0))
    assert problem.rows(start).values.min() >= 0.0


def test_the_command_writes_and_prints(description, tmp_path, capsys):
    out = tmp_path / 'out'
    words = ['new-arm', str(description), '--kind', 'direct', '--tip', 'hand', '--capsules', '1']
    assert main([*words, '--out', str(out), '--hold', 'f1=0.03']) == 0
    text = capsys.readouterr().out
    assert 'planning:' in text
    assert 'certified as if readings were exact' in text and 'period of 5 ms, assumed' in text
    assert 'f1 at 0.03' in text
    assert main([*words, '--out', str(out)]) == 2
    assert '--force' in capsys.readouterr().err
    assert read(out)['sensing']['torque']['ratio'] == [0.1]
    found = findings(out)
    for item, words in (
        ('measured torque', 'assumed for its kind of arm'),
        ('readings', 'assumed for its kind of arm: encoders have steps of at most 0.00153 rad'),
        ('commanded torque', '(assumed, as no figure is stated)'),
    ):
        assert found[item].verdict is Verdict.WARN
        assert words in found[item].detail


@pytest.mark.slow
@pytest.mark.parametrize('name', ['robotiq_2f85', 'franka_hand'])
def test_a_gripper_at_the_tip_is_what_the_loop_expects(name, tmp_path):
    urdf = tmp_path / 'my_arm.urdf'
    urdf.write_text((share_directory() / 'urdf' / 'two_link.urdf').read_text(encoding='utf-8'))
    made = ss.new_arm(
        urdf, ss.NewArmSettings('torque-sensor', tool=name), tmp_path / 'out', poses=0
    )
    arm, tool = made.load(), read_tool(name)
    held = read_payload(made.files['payload'])
    assert held.placed_on('my_arm')[0] == 'link_2'
    np.testing.assert_array_equal(held.inertia, tool.inertia)
    np.testing.assert_array_equal(held.com, tool.com)
    loop = yaml.safe_load(made.files['loop'].read_text(encoding='utf-8'))
    prior = loop['/**']['ros__parameters']['prior']
    assert settings_of(arm).payload == str(made.files['payload'])
    layout = arm.model.layout
    for load in (arm.model, arm.model.with_payload(held)):
        theta = load.theta[layout.end_effector]
        assert (prior['lower'] <= theta).all()
        assert (theta <= prior['upper']).all()
    assert prior['upper'][0] >= arm.model.theta[layout.end_effector][0] + tool.mass + 2.0
    with pytest.raises(ConfigError, match=r"no tool 'hook', .*'franka_hand', 'robotiq_2f85'"):
        ss.new_arm(urdf, ss.NewArmSettings('direct', tool='hook'), tmp_path / 'two', poses=0)


def test_the_surface_of_a_hand_contains_its_fingers_between_the_positions_looked_at(
    description, tmp_path
):
    """An arc is outside of the chords between the positions; only the room around them has it."""
    made = ss.new_arm(description, SETTINGS, tmp_path / 'out', poses=0)
    (hand,) = [c for c in made.described.found.covers if c.surface.link == 'hand']
    faces = ConvexHull(hand.surface.triangles.reshape(-1, 3)).equations
    model = pin.buildModelFromUrdf(str(description))
    data, q = model.createData(), np.zeros(model.nq)
    for f1 in np.linspace(0.01, 0.06, 65):
        for name, value in (('f1', f1), ('f2', 0.1 - 15 * f1)):
            q[model.joints[model.getJointId(name)].idx_q] = value
        pin.framesForwardKinematics(model, data, q)
        palm = data.oMf[model.getFrameId('hand')]
        for link in ('left', 'right'):
            place = palm.actInv(data.oMf[model.getFrameId(link)])
            points = in_link(corners()['finger.stl'].astype(float))
            points = np.array([place.act(point) for point in points])
            assert (points @ faces[:, :3].T + faces[:, 3]).max() <= 1e-6


def test_a_body_that_no_loop_can_begin_with_is_named_by_its_link(description, tmp_path):
    text = description.read_text(encoding='utf-8')
    hand = text.index('name="hand"')
    text = text[:hand] + text[hand:].replace('izz="0.01"', 'izz="5"', 1)
    description.write_text(text, encoding='utf-8')
    sentence = r'arm\.urdf: hand: principal moments .*correct the <inertia> of the link'
    with pytest.raises(ModelError, match=sentence):
        ss.new_arm(description, SETTINGS, tmp_path / 'out', poses=1)


def test_a_limit_that_is_not_there_is_not_called_nan(description, tmp_path):
    text = description.read_text(encoding='utf-8').replace('type="revolute"', 'type="continuous"')
    text = re.sub(r'<limit[^>]*effort="30"[^>]*/>', '', text)
    description.write_text(text, encoding='utf-8')
    with pytest.raises(ConfigError, match=r'j2: no effort \((.|\n)*j2: no velocity \('):
        ss.new_arm(description, SETTINGS, tmp_path / 'out', poses=0)


@pytest.mark.parametrize(('limit', 'value'), slow_after(1, [('velocity', 1.5), ('effort', 25.0)]))
def test_a_limit_without_effort_or_velocity_is_asked_for_and_can_be_given(
    limit, value, description, tmp_path
):
    """Of a joint of the arm; on what is held it counts for nothing."""
    text = description.read_text(encoding='utf-8')
    for effort in ('effort="30" velocity="2"', 'effort="90" velocity="2"/><mimic'):
        without = re.sub(f' ?{limit}="[^"]*"', '', effort)
        assert effort in text
        text = text.replace(effort, without)
    description.write_text(text, encoding='utf-8')
    with pytest.raises(ConfigError, match=rf'j2: no {limit} \((.|\n)*--{limit} j2=VALUE'):
        ss.new_arm(description, SETTINGS, tmp_path / 'out', poses=0)
    given = replace(SETTINGS, **{limit: {'j2': value}})
    limits = ss.new_arm(description, given, tmp_path / 'out', poses=0).load().model.limits
    assert {'effort': limits.torque, 'velocity': limits.velocity}[limit][1] == value
