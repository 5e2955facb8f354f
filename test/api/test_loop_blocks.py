"""A loop file that Python reads: what no node would read is refused, not taken for a default."""

import re

import pytest

from safe_sysid.api.arms import load_arm
from safe_sysid.api.loop_blocks import read_blocks
from safe_sysid.api.loop_file import read_loop
from safe_sysid.errors import ConfigError
from safe_sysid.share import share_directory

SHIPPED = sorted((share_directory() / 'config').glob('loop/*.yaml'))
DESCRIBED = sorted((share_directory() / 'config').glob('described/*.yaml'))
TWO_LINK = (share_directory() / 'config' / 'loop' / 'two_link.yaml').read_text()


def reading(tmp_path, text, robot='two_link'):
    path = tmp_path / 'loop.yaml'
    path.write_text(text)
    return read_loop(load_arm(robot), path)


@pytest.mark.parametrize('path', [*SHIPPED, *DESCRIBED], ids=lambda path: path.stem)
def test_blocks_of_the_package_are_known(path):
    blocks = read_blocks(path)
    assert blocks.everybody['robot'] == path.stem
    assert blocks.nodes['planner']['planner']['duration'] > 0.0


@pytest.mark.parametrize(
    ('right', 'wrong', 'complaint'),
    [
        ('/**/planner:', '/**/planer:', r"'/\*\*/planer' means no node; did you mean 'planner'"),
        ('/**/planner:', '/**/zzz:', "means no node, there are .*'supervisor'"),
        ('/**/planner:', 'left/planner:', "means nodes in a namespace.* write '/[*][*]/planner'"),
        ('/**/planner:', 'left: {planner: {}}\nplanner:', "'left' means no node"),
        ('planner:\n  ros__parameters:', 'planner:\n  ros__parameter:', 'to hold ros__parameters'),
        ('    planner:\n', '    plannr:\n', r"unknown key 'plannr'; did you mean 'planner'"),
        ('    mission:\n', '    misson:\n', "unknown key 'misson'; did you mean 'mission'"),
        ('    identifier:\n', '    identifer:\n', "unknown key 'identifer'; did you mean 'ident"),
        ('    sensors:\n', '    sensor:\n', "unknown key 'sensor'; did you mean 'sensors'"),
        ('    start:', '    strat:', "unknown key 'strat'; did you mean 'start'"),
        ('    period:', '    perod:', "unknown key 'perod'; did you mean 'period'"),
        ('    gains:\n', '    gains.K_q: 1\n    gains:\n', "unknown key 'K_q'"),
        ('/**/planner:', '/**/recorder: 5\n/**/planner:', 'is 5, it has to hold ros__parameters'),
    ],
)
def test_what_no_node_would_read_is_refused(tmp_path, right, wrong, complaint):
    assert right in TWO_LINK
    with pytest.raises(ConfigError, match=complaint):
        reading(tmp_path, TWO_LINK.replace(right, wrong))


@pytest.mark.parametrize('block', ['planner', '/planner', '/**/planner', '"**/planner"'])
def test_names_that_nodes_without_a_namespace_read_count(tmp_path, block):
    text = re.sub(r'duration: [\d.]+', 'duration: 4.25', TWO_LINK.replace('/**/planner', block))
    assert reading(tmp_path, text).planner.duration == 4.25


def test_names_with_dots_and_later_blocks_count_as_for_nodes(tmp_path):
    more = """
planner: {ros__parameters: {planner.duration: 4.25, use_sim_time: true}}
/**/monitor:
"""
    loop = reading(tmp_path, TWO_LINK + more)
    assert loop.planner.duration == 4.25
    assert loop.planner.budget == 0.8  # of the block before


def test_the_loop_of_another_arm_is_refused(tmp_path):
    kinova = (share_directory() / 'config' / 'loop' / 'kinova_gen3.yaml').read_text()
    with pytest.raises(ConfigError, match='is the loop of kinova_gen3, whose joints are not'):
        reading(tmp_path, kinova)
    ur5e = TWO_LINK.replace('robot: two_link', 'robot: ur5e')
    with pytest.raises(ConfigError, match='is the loop of ur5e'):  # joints of the same names
        reading(tmp_path, ur5e, 'ur10e')


def test_an_arm_of_another_name_with_the_same_joints_may_have_the_loop(tmp_path):
    settings = tmp_path / 'mine.yaml'
    settings.write_text(
        (share_directory() / 'config' / 'robots' / 'two_link.yaml').read_text(), 'utf-8'
    )
    assert reading(tmp_path, TWO_LINK, str(settings)).model.name == 'mine'
