"""Two arms in one cell, each in a namespace, over real processes: one scene, and regions apart."""

from contextlib import contextmanager

import numpy as np
import pytest
from ros.faulty_loop import COMPILING, ROOMY
from ros.generated_messages import ROOT, importable
from ros.nodes.test_goals_and_actions import (
    CANCELED,
    MODEL,
    Client,
    joint_goal,
    known_to,
    place,
    reached,
)
from ros.running_loop import Observer, changed_settings, observed, running
from ros.running_node import greet
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.model.collision.arm_clearance import arm_clearance
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.collision.region import Region
from safe_sysid.sets.box import Box

APART = 1.4  # [m] between the bases, along x; each arm alone reaches 0.94 m
EDGE = 0.69  # [m] from its base, where the region of an arm ends
CENTER, SIZE = [EDGE - 1.0, 0.0, 0.0], [2.0, 1.0, 2.4]  # of the left arm, in its base
# The right arm is turned about z, so that its region is the same in its base.
POSES = {
    'left': ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    'right': ([APART, 0.0, 0.0], [0.0, 0.0, np.pi]),
}
HERE, THERE = [1.3, 0.3], [2.6, -0.5]  # [rad]
ACROSS = [0.0, 0.0]  # [rad] stretched out, beyond the edge
BOX, HALF = [-0.286, 0.0, -0.852], 0.05  # [m] in the base of the left arm, on its way


def settings(tmp_path, name):
    """Of one arm, with the other beside it."""
    position, rpy = POSES[name]
    (other,) = {*POSES} - {name}
    folder = tmp_path / name
    folder.mkdir()
    chosen = {
        **ROOMY,
        'planner__mission__exciting': 2,
        'supervisor__stale': 30.0,
        'planner__scene__topic': '/scene',
        'planner__scene__others': [f'/{other}'],
        'planner__scene__cell': {'frame': 'cell', 'position': position, 'rpy': rpy},
        'planner__scene__region': {'center': CENTER, 'size': SIZE},
    }
    return changed_settings(folder, 'two_link', **chosen)


@contextmanager
def arm(tmp_path, name):
    options = '--config', settings(tmp_path, name), '--lockstep', '--namespace', name
    with running('builtin_sim', *options):
        yield


def figure(loop, name, key):
    return loop.conditions[f'{name}/planner'].figures[key]


def trouble(loop, name):
    condition = loop.conditions.get(f'{name}/planner')
    return '' if condition is None else condition.trouble


def shown(show, *markers):
    greet(show, MarkerArray(markers=list(markers)))


def box(frame):
    marker = Marker(ns='cell', id=1, type=Marker.CUBE)
    marker.header.frame_id = frame
    marker.pose.orientation.w = 1.0
    marker.pose.position.x, marker.pose.position.y, marker.pose.position.z = BOX
    marker.scale.x = marker.scale.y = marker.scale.z = 2.0 * HALF
    return marker


@pytest.mark.nightly
def test_two_arms_share_a_scene_and_never_each_others_region(tmp_path):
    region = Region.within(MODEL, np.array(CENTER), np.array(SIZE))
    with importable('safe_sysid_interfaces', ROOT):
        from safe_sysid_interfaces.action import GoTo, Identify

        with observed() as nobody, arm(tmp_path, 'left'):
            left, right = (Observer(name, nobody) for name in POSES)
            loops = {'left': left, 'right': right}
            left.wait(lambda: "waiting for region of ['/right']" in trouble(left, 'left'), 'alone')
            assert left.mode == 'idle' or not any(plan.points for plan in left.plans)
            with arm(tmp_path, 'right'):
                for loop in loops.values():
                    loop.wait(lambda: loop.mode == 'identified', 'it has learned', COMPILING)  # noqa: B023
                go_to = {name: Client(loop, GoTo, 'go_to') for name, loop in loops.items()}
                both_at_once(loops, go_to, GoTo)
                over_the_edge(go_to['left'], GoTo)
                around_what_appears(left, loops, go_to, GoTo)
                identify = Client(right, Identify, 'identify')
                payload_of_one_changes(loops, go_to, GoTo, identify, Identify)
                in_a_frame_of_nobody(left, loops)
                for loop in loops.values():
                    assert all(region.contains(np.array(s.position)) for s in loop.samples)


def both_at_once(loops, go_to, kind):
    """Both move at the same time; one of them is taken back in motion."""
    goals = {name: go_to[name].send(kind.Goal(joints=joint_goal(*THERE))) for name in loops}
    for loop in loops.values():
        loop.wait(lambda: loop.mode == 'task', 'it moves')  # noqa: B023
    loops['right'].wait(goals['right'].cancel_goal_async().done, 'the request is taken')
    assert go_to['right'].outcome(goals['right'])[0] == CANCELED
    status, result = go_to['left'].outcome(goals['left'])
    assert result.success, (status, result.message)
    assert np.abs(place(loops['left']) - THERE).max() < 0.05


def over_the_edge(go_to, kind):
    """What is beyond belongs to the other arm."""
    _, result = go_to.outcome(go_to.send(kind.Goal(joints=joint_goal(*ACROSS))))
    assert not result.success
    assert 'inside edge of the region +x' in result.message or '/right: ' in result.message


def around_what_appears(left, loops, go_to, kind):
    """One message is one place for both; a frame that both have is that of nobody."""
    scene = left.create_publisher(MarkerArray, '/scene', 10)
    left.wait(lambda: scene.get_subscription_count() >= 2, 'both listen')
    shown(scene, box('cell'))
    for name in loops:
        # the region of the other arm, its mount, and the box
        left.wait(lambda: figure(left, name, 'obstacles') == '3', f'{name} knows the box')  # noqa: B023
    before = len(left.samples)
    reached(left, go_to['left'], kind, HERE)
    seen = Obstacles.of({'box': Box(np.array(BOX), np.full(3, HALF), np.eye(3))})
    for sample in left.samples[before:]:
        assert arm_clearance(MODEL, seen, np.array(sample.position)).distance > 0.0


def in_a_frame_of_nobody(left, loops):
    """Both arms have a link of this name."""
    scene = left.create_publisher(MarkerArray, '/scene', 10)
    left.wait(lambda: scene.get_subscription_count() >= 2, 'both listen')
    ambiguous = box('base_link')
    ambiguous.id = 2
    shown(scene, ambiguous)
    for name in loops:
        left.wait(lambda: "frame 'base_link'" in trouble(left, name), 'nobody knows where')  # noqa: B023


def payload_of_one_changes(loops, go_to, kind, identify, learn):
    """The other one goes on meanwhile."""
    right = loops['right']
    right.wait(lambda: right.mode in ('holding', 'identified'), 'it stands')
    assert right.call('supervisor/new_payload').success
    goal = go_to['left'].send(kind.Goal(joints=joint_goal(*THERE)))
    known_to(identify, learn, 0.3)
    status, result = go_to['left'].outcome(goal)
    assert result.success, (status, result.message)
    reached(right, go_to['right'], kind, HERE)
