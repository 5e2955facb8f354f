"""URDFs of which a reader would keep less than they say are refused, and what is missing named."""

import re

import pinocchio as pin
import pytest

from safe_sysid.errors import ModelError
from safe_sysid.model.facts import facts_path, read_facts
from safe_sysid.model.robot_model import RobotModel

FULL = '<mass value="2"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.3"/>'
URDF = """<robot name="two_link"><link name="base"/>
  <link name="upper"><inertial>{body}</inertial></link>
  <link name="tip"><inertial><mass value="1"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  {more}
  <joint name="joint_1" type="revolute"><parent link="base"/><child link="upper"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="1"/></joint>
  <joint name="joint_2" type="revolute"><parent link="upper"/><child link="tip"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="1"/></joint></robot>"""


@pytest.fixture
def built(tmp_path):
    path = tmp_path / 'two_link.urdf'
    settings = facts_path('two_link').read_text(encoding='utf-8')
    settings = re.sub(r'(?m)^tip: .*$', 'tip: tip', settings)
    settings = re.sub(r'(?ms)^collision:.*?(?=^\S|\Z)', 'collision: {shapes: {}}\n', settings)
    (tmp_path / 'two_link.yaml').write_text(settings, encoding='utf-8')
    facts = read_facts(tmp_path / 'two_link.yaml')

    def build(body=FULL, more='', old='', new=''):
        text = URDF.format(body=body, more=more)
        path.write_text(text.replace(old, new, 1) if old else text, encoding='utf-8')
        return RobotModel.from_files(path, facts, 'two_link')

    return build


def test_a_whole_body_is_read_as_pinocchio_reads_it(built, tmp_path):
    model, source = built(), pin.buildModelFromUrdf(str(tmp_path / 'two_link.urdf'))
    assert model.theta[:10] == pytest.approx(source.inertias[1].toDynamicParameters())


@pytest.mark.parametrize(
    ('body', 'missing'),
    [
        (FULL.replace(' ixy="0"', ''), 'its <inertia> has no ixy'),
        (FULL.partition('<inertia')[0], 'its <inertia> has no ixx'),
        ('<inertia' + FULL.partition('<inertia')[2], 'its <mass> has no value'),
    ],
)
def test_a_body_of_which_a_figure_is_missing_does_not_lose_its_inertia(body, missing, built):
    with pytest.raises(ModelError, match=rf"two_link\.urdf: link 'upper': {missing}; .* all six"):
        built(body)


def test_a_figure_in_other_digits_is_none(built):
    with pytest.raises(ModelError, match="ixx of <inertia> is '١', it has to be a number"):
        built(FULL.replace('ixx="0.1"', 'ixx="١"'))


@pytest.mark.parametrize(
    ('change', 'sentence'),
    [
        ({'more': '<link name="alone"/>'}, "links 'base' and 'alone' both hang on nothing"),
        ({'more': '<link name="tip"/>'}, "more than one link is called 'tip'"),
        ({'old': '"joint_2"', 'new': '"joint_1"'}, "more than one joint is called 'joint_1'"),
        ({'old': '"joint_1"', 'new': '"universe"'}, "a joint is called 'universe'"),
        ({'old': ' name="two_link"', 'new': ''}, '<robot> has no name'),
        (
            {'old': ' name="two_link"', 'new': ' name="two_link" version="2.0"'},
            "<robot> has version '2.0', of which nothing is known; 1.0, 1.1, 1.2 are read",
        ),
        (
            {'old': '"joint_2"', 'new': f'"{"j" * 1_000_000}"'},
            r"name of <joint>: the name 'j{40}\.\.\.' has 1000000 letters; 200 are allowed$",
        ),
    ],
)
def test_names_and_roots_are_looked_at_before_a_library_does(change, sentence, built):
    with pytest.raises(ModelError, match=f'two_link.urdf: {sentence}'):
        built(**change)


@pytest.mark.parametrize(
    ('old', 'new', 'sentence'),
    [
        (
            '<child link="tip"/>',
            '<child link="tp"/>',
            "child of joint 'joint_2' is link 'tp'",
        ),
        ('<parent link="upper"/>', '<parent link="x"/>', "parent of joint 'joint_2' is link 'x'"),
        (
            '<child link="tip"/>',
            '<child link="upper"/>',
            "'upper' is the child of joints",
        ),
        ('<joint name="joint_1"', '<joint name=""', 'a <joint> has no name'),
    ],
)
def test_a_joint_whose_ends_are_no_tree_is_named(old, new, sentence, built):
    with pytest.raises(ModelError, match=rf'two_link\.urdf: .*{sentence}'):
        built(old=old, new=new)
