"""A xacro is expanded without ROS, and what is wrong with it is named by file."""

import pytest

from safe_sysid.errors import ModelError
from safe_sysid.model.description.xacro_file import expanded_xacro

pytest.importorskip('xacro')
HEAD = '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">'
MACRO = '<xacro:macro name="part" params="name"><link name="${name}"/></xacro:macro>'


@pytest.fixture
def arm(tmp_path):
    """A xacro that includes a file of another package, in a folder of another name."""
    package = tmp_path / 'src' / 'folder ü'
    package.mkdir(parents=True)
    (package / 'package.xml').write_text('<package><name>parts</name></package>')
    (package / 'part.xacro').write_text(f'{HEAD}{MACRO}</robot>')
    path = tmp_path / 'arm.xacro'
    path.write_text(
        f'{HEAD}<xacro:arg name="size" default="3"/>'
        '<xacro:include filename="$(find parts)/part.xacro"/>'
        '<xacro:part name="$(arg tip)_${2*$(arg size)}"/></robot>'
    )
    return path


def test_macros_arguments_and_packages(arm, tmp_path):
    text = expanded_xacro(arm, {'tip': 'hand'}, [tmp_path / 'src'])
    assert '<link name="hand_6"/>' in text
    assert '<link name="hand_8"/>' in expanded_xacro(
        arm, {'tip': 'hand', 'size': '4'}, [tmp_path / 'src']
    )


def test_what_is_missing_is_named(arm, tmp_path):
    with pytest.raises(ModelError, match=r"no package 'parts' .*--package-path"):
        expanded_xacro(arm, {'tip': 'hand'})
    with pytest.raises(ModelError, match=r"'tip' is missing.*tip:=VALUE.*size \(default 3\)"):
        expanded_xacro(arm, {}, [tmp_path / 'src'])


def test_an_argument_that_nothing_asks_for_is_refused(arm, tmp_path):
    with pytest.raises(ModelError, match=r"asks for the argument 'sise' .*are: size, tip$"):
        expanded_xacro(arm, {'tip': 'hand', 'sise': '4'}, [tmp_path / 'src'])


def test_a_refusal_from_within_is_told_once(arm):
    with pytest.raises(ModelError) as refused:
        expanded_xacro(arm, {'tip': 'hand'})
    assert str(refused.value).count(str(arm)) == 1 and 'class' not in str(refused.value)


def test_an_error_inside_an_included_file_names_it(arm, tmp_path):
    part = tmp_path / 'src' / 'folder ü' / 'part.xacro'
    part.write_text(f'{HEAD}{MACRO.replace("${name}", "${nmae}")}</robot>')
    with pytest.raises(ModelError, match=r'nmae.*part\.xacro.*arm\.xacro'):
        expanded_xacro(arm, {'tip': 'hand'}, [tmp_path / 'src'])
    part.write_text(f'{HEAD}<link></robot>')
    with pytest.raises(ModelError, match=r'part\.xacro'):
        expanded_xacro(arm, {'tip': 'hand'}, [tmp_path / 'src'])
