"""The world that a loop file names counts for Python as for the nodes of a run."""

import numpy as np
import pytest
from ros.reference_loop import settings_of

import safe_sysid as ss
from safe_sysid.api.arms import load_arm
from safe_sysid.api.loop_file import read_loop
from safe_sysid.errors import ConfigError
from safe_sysid.input_file import with_files_beside
from safe_sysid.model.collision.world import read_world
from safe_sysid.ros.process.planner_settings import PlannerNodeSettings
from safe_sysid.share import share_directory

TWO_LINK = (share_directory() / 'config' / 'loop' / 'two_link.yaml').read_text()
PLANNER = '/**/planner:\n  ros__parameters:\n'
GOAL = [-1.2, 0.4]
AT_THE_GOAL = 'obstacles: {post: {center: [0.53, 0.0, -0.73], size: [0.04, 0.2, 0.04]}}\n'


@pytest.fixture
def loop(tmp_path, monkeypatch):
    """Loop file with a post at the goal in a world beside it, asked for from elsewhere."""
    (tmp_path / 'cell.yaml').write_text(AT_THE_GOAL)
    path = tmp_path / 'loop.yaml'
    path.write_text(TWO_LINK.replace(PLANNER, f'{PLANNER}    world: cell.yaml\n'))
    elsewhere = tmp_path / 'elsewhere'
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return path


def test_a_motion_into_the_world_of_the_loop_is_not_certified(loop):
    motion = ss.plan('two_link', goal=GOAL, loop=loop, seconds=0.5)
    assert not motion.is_complete
    assert 'in contact at the goal: ' in str(motion) and 'among one obstacle (post)' in str(motion)
    free = ss.plan('two_link', goal=GOAL, world={}, loop=loop, seconds=10.0)
    assert free.is_complete
    assert 'certified plans in an empty world' in str(free)
    assert ss.certify(free).holds
    again = ss.certify(free, world=loop.with_name('cell.yaml'))
    assert not again.holds
    assert 'post' in str(again)


def test_a_written_motion_says_among_what_it_is_certified(loop, tmp_path):
    motion = ss.plan('two_link', loop=loop, seconds=0.5)
    about = [path.read_text() for path in motion.export(tmp_path / 'out') if path.suffix != '.svg']
    assert any('among one obstacle (post)' in text for text in about)


def test_no_payload_is_certified_on_a_way_into_the_world_of_the_loop(loop):
    with pytest.raises(ss.SafeSysidError, match='in contact at the goal: .*post'):
        ss.largest_payload('two_link', GOAL, loop=loop)
    found = ss.largest_payload('two_link', GOAL, world='empty', loop=loop)
    assert 'in an empty world' in str(found)


def test_a_simulated_loop_avoids_the_world_of_its_file(loop):
    run = ss.simulate('two_link', seconds=0.01, loop=loop)
    assert run.obstacles.names == ('post',)
    assert 'among one obstacle (post)' in str(run)
    assert ss.simulate('two_link', seconds=0.01, world={}, loop=loop).obstacles.names == ()


def test_the_obstacles_are_those_of_the_planner_of_a_run(loop):
    told = with_files_beside(
        {'world': settings_of(loop, 'planner', PlannerNodeSettings).world}, loop
    )
    boxes = read_world(told['world'])
    obstacles = read_loop(load_arm('two_link'), loop).obstacles()
    assert obstacles.names == tuple(boxes) == ('post',)
    assert np.array_equal(obstacles.shapes[0].packed, boxes['post'].packed)


def test_walls_of_the_region_of_a_loop_count_as_for_its_planner(loop):
    region = '    scene: {region: {center: [0.0, 0.0, -0.4], size: [0.8, 1.0, 1.2]}}\n'
    loop.write_text(TWO_LINK.replace(PLANNER, f'{PLANNER}{region}'))
    motion = ss.plan('two_link', goal=GOAL, loop=loop, seconds=0.5)
    assert 'edge of the region +x' in str(motion)
    assert not motion.is_complete
    walls = settings_of(loop, 'planner', PlannerNodeSettings).scene.region.of(motion.loop.model)
    assert motion.obstacles.names == tuple(walls.walls)
    loop.write_text(TWO_LINK.replace(PLANNER, f'{PLANNER}    scene: 5\n'))
    with pytest.raises(ConfigError, match='planner: scene is 5, not a mapping'):
        ss.plan('two_link', loop=loop)


def test_a_world_that_is_nowhere_is_laid_to_the_loop_file_where_it_counts(loop):
    loop.with_name('cell.yaml').unlink()
    with pytest.raises(ConfigError, match=r'loop\.yaml, planner: world: cell\.yaml: cannot be'):
        ss.plan('two_link', loop=loop, seconds=0.0)
    assert ss.plan('two_link', world={}, loop=loop, seconds=0.0).obstacles.names == ()
