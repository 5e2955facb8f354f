"""Which joints move follows from the URDF and from what is asked; the others stay put."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from safe_sysid.errors import ModelError
from safe_sysid.model.description.chain import chosen_chain, with_soft_limits
from safe_sysid.model.urdf_tree import build

SOURCE = Path('arm.urdf')
INERTIA = (
    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    '</inertial>'
)


def joint(name, parent, child, kind='revolute', limits='lower="-1" upper="2"', more=''):
    limit = f'<limit {limits} effort="9" velocity="3"/>' if limits else ''
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="0 0 1"/>{limit}{more}</joint>'
    )


SOFT = '<safety_controller soft_lower_limit="-0.5" soft_upper_limit="1.5"/>'


def robot(*joints):
    """Root element with the links that the joints name."""
    text = ''.join(joints)
    tree = ElementTree.fromstring(f'<robot name="r">{text}</robot>')
    names = {end.get('link') for tag in ('parent', 'child') for end in tree.iter(tag)}
    for name in sorted(names):
        tree.append(ElementTree.fromstring(f'<link name="{name}">{INERTIA}</link>'))
    return tree


ARM = joint('j1', 'base', 'a'), joint('j2', 'a', 'b')
HAND = (
    joint('flange', 'b', 'palm', 'fixed', ''),
    joint('f1', 'palm', 'left', 'prismatic', 'lower="0.01" upper="0.04"'),
    joint('f2', 'palm', 'right', 'prismatic', 'lower="0" upper="0.1"',
          '<mimic joint="f1" multiplier="2" offset="0.003"/>'),
    joint('f3', 'right', 'nail', 'revolute', 'lower="-1" upper="1"',
          '<mimic joint="f2" multiplier="-1"/>'),
)  # fmt: skip


def chosen(root, tip=None, base=None, **hold):
    return chosen_chain(root, SOURCE, tip, base, hold)


def test_an_arm_without_branches_needs_no_words():
    found = chosen(robot(*ARM, joint('flange', 'b', 'palm', 'fixed', '')))
    assert found.joints == ('j1', 'j2')
    assert (found.tip, found.held, found.remarks) == ('b', {}, ())


def test_mimicking_joints_follow_a_held_one():
    found = chosen(robot(*ARM, *HAND), 'palm')
    assert found.joints == ('j1', 'j2')
    assert (found.body, found.tip) == ('b', 'palm')
    assert found.held == pytest.approx({'f1': 0.01, 'f2': 0.023, 'f3': -0.023})
    assert 'f1 is held at 0.01: 0 is outside its limits' in found.remarks[0]
    assert chosen(robot(*ARM, *HAND), 'palm', f1=0.03).held['f3'] == pytest.approx(-0.063)
    assert chosen(robot(*ARM, *HAND), 'palm', f2=0.05).held['f3'] == pytest.approx(-0.05)


def test_what_is_beside_and_below_is_held():
    torso = joint('world', 'ground', 'base', 'floating', ''), joint('lift', 'base', 'trunk')
    both = joint('l1', 'trunk', 'l'), joint('r1', 'trunk', 'r'), joint('r2', 'r', 'rr')
    found = chosen(robot(*torso, *both), 'rr', 'trunk', l1=0.5)
    assert found.joints == ('r1', 'r2')
    assert found.held == {'world': 0.0, 'lift': 0.0, 'l1': 0.5}
    assert found.remarks == ('world is floating: taken as fixed at 0',)


@pytest.mark.parametrize(
    ('joints', 'choice', 'message'),
    [
        ((*ARM, *HAND), {}, "'f2' mimics 'f1', which the arm would move.*--tip palm"),
        ((*ARM, joint('k', 'b', 'c', more='<mimic joint="j1"/>')), {'tip': 'b'},
         "'k' mimics 'j1', which .*: make it fixed, or take out its <mimic>"),
        ((*ARM, *HAND), {'tip': 'nail'}, "'f2' between base and tip mimics 'f1'"),
        ((*ARM, joint('k', 'a', 'c')), {}, r'several chains .* end at b \(2 joints\), c \(2 '),
        ((*ARM, joint('j0', 'world', 'base', 'floating', '')), {}, "'j0' .* is floating.*--base"),
        ((*ARM, joint('j3', 'b', 'a')), {}, "link 'a' is the child of 'j1' and of 'j3'"),
        ((joint('j1', 'b', 'a'), joint('j2', 'a', 'b')), {}, 'form a circle'),
        ((joint('j1', 'a', 'b', 'fixed', ''),), {}, 'no joint moves'),
        ((joint('j1', 'a', 'b', 'fixed', ''),), {'tip': 'b'}, 'no joint moves between'),
        ((joint('j1', 'a', 'b', limits=''),), {}, "'j1' has no limits"),
        ((joint('j1', 'a', 'b', limits='lower="1" upper="1"'),), {}, "'j1' has no limits"),
        ((joint('j1', 'a', 'b', limits='lower="2" upper="1"'),), {}, 'limited to 2 to 1'),
        ((joint('j1', 'a', 'b', limits='lower="nan" upper="1"'),), {}, "lower of .* is 'nan'"),
        ((joint('j1', 'a', 'b', limits='lower="x" upper="1"'),), {}, "'j1': lower .* is 'x'"),
        (ARM, {'tip': 'nowhere'}, "no link 'nowhere' for --tip"),
        (ARM, {'tip': 'a', 'base': 'b'}, "'b' .--base. is not on the way"),
        (ARM, {'j1': 0.0}, "'j1' .--hold. is no joint that can be held"),
        ((*ARM, *HAND), {'tip': 'b', 'f1': 99.0}, 'f1 .--hold. is to be held at 99; its limits'),
    ],
)  # fmt: skip
def test_chains_that_make_no_sense_are_refused(joints, choice, message):
    with pytest.raises(ModelError, match=message):
        chosen(robot(*joints), **choice)


@pytest.mark.parametrize('text', ['nan', 'inf', '-inf', '1,5', '', 'x', '1e999'])
@pytest.mark.parametrize('place', ['multiplier', 'offset', 'soft_lower_limit', 'lower', 'xyz'])
def test_figures_that_are_no_numbers_are_refused_in_a_sentence(place, text):
    root = robot(*ARM, *HAND, joint('k', 'a', 'c', more=SOFT + '<origin xyz="0 0 0"/>'))
    element = next(x for x in root.iter() if place in x.attrib and x.get('xyz') != '0 0 1')
    element.set(place, text if place != 'xyz' else f'0 {text} 0')
    with pytest.raises(ModelError, match=r'arm\.urdf: .*(not a finite|finite numbers|three numb)'):
        with_soft_limits(root, SOURCE)
        chosen(root, 'palm')


def test_joints_that_mimic_each_other_are_refused_also_where_they_are_held():
    root = robot(*ARM, *HAND)
    (first,) = (x for x in root.findall('joint') if x.get('name') == 'f1')
    first.append(ElementTree.Element('mimic', joint='f2'))
    with pytest.raises(ModelError, match="'f1' mimics 'f2', and in the end itself"):
        chosen(root, 'palm', f1=0.0, f2=0.0)


def test_a_long_chain_is_read():
    many = [joint(f'j{i}', f'l{i}', f'l{i + 1}', 'continuous', '') for i in range(300)]
    assert len(chosen(robot(*many)).joints) == 300


def test_soft_limits_count_where_they_are_inside_the_hard_ones():
    def soft(low, high):
        return f'<safety_controller soft_lower_limit="{low}" soft_upper_limit="{high}"/>'

    root = robot(
        joint('inside', 'base', 'a', more=soft(-0.5, 1.5)),
        joint('same', 'a', 'b', more=soft(-1, 2)),
        joint('outside', 'b', 'c', more=soft(-2, 1)),
        joint('swapped', 'c', 'd', more=soft(1, 0)),
    )
    said = with_soft_limits(root, SOURCE)
    limits = {j.get('name'): j.find('limit') for j in root.findall('joint')}
    assert {n: (float(x.get('lower')), float(x.get('upper'))) for n, x in limits.items()} == {
        'inside': (-0.5, 1.5), 'same': (-1, 2), 'outside': (-1, 2), 'swapped': (-1, 2),
    }  # fmt: skip
    assert [line.partition(':')[0] for line in said] == ['inside', 'outside', 'swapped']


def test_a_held_hand_is_built_and_must_agree_with_itself(tmp_path):
    path = tmp_path / 'arm.urdf'
    floor = joint('floor', 'ground', 'base', 'planar', '')
    path.write_bytes(ElementTree.tostring(robot(floor, *ARM, *HAND)))
    held = {'floor': 0.0, 'f1': 0.01, 'f2': 0.023, 'f3': -0.023}
    assert build(path, ('j1', 'j2'), held).njoints == 3
    with pytest.raises(ModelError, match="'f2' is held at 0.03, but mimics 'f1'"):
        build(path, ('j1', 'j2'), held | {'f2': 0.03})
    with pytest.raises(ModelError, match="joint 'f2' mimics another one, 'f1'"):
        build(path, ('j1', 'j2', 'f1'), {'floor': 0.0, 'f2': 0.023, 'f3': -0.023})
    with pytest.raises(ModelError, match="joint 'floor' is planar"):
        build(path, ('j1', 'j2'), held | {'floor': 0.1})
