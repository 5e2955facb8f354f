"""A user with a terminal: `ros2 action`, `topic`, `service`, `param`, `lifecycle`, nothing else.

Two arms at once in a shared scene. No wheel has ros2cli: on a ROS installation, or with its
packages on PYTHONPATH, these are the real commands. The same by rclpy: `test_two_arms.py`.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from ros.faulty_loop import COMPILING
from ros.generated_messages import ROOT, importable
from ros.nodes.test_goals_and_actions import MODEL, NAMES, NEAR
from ros.nodes.test_two_arms import BOX, HALF, HERE, POSES, THERE, arm
from ros.running_loop import Observer, observed

from safe_sysid.model.collision.arm_clearance import arm_clearance
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.sets.box import Box

ROS2 = 'import sys; from ros2cli.cli import main; sys.exit(main())'
MARKERS = 'visualization_msgs/msg/MarkerArray'
TRIGGER = 'std_srvs/srv/Trigger'
ASIDE = [-0.286, 0.45, -0.852]  # [m] a second box, beside the way
END = re.compile(r'Goal finished with status: (\w+)')


class Terminal:
    """Commands as a user types them; the observer goes on hearing meanwhile."""

    def __init__(self, loop):
        self._loop = loop

    def begin(self, *words):
        """A command that goes on."""
        return subprocess.Popen(
            [sys.executable, '-c', ROS2, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env={**os.environ, 'PYTHONUNBUFFERED': '1'},
        )

    def end(self, command):
        """What a command has said, once it is over."""
        try:
            self._loop.wait(lambda: command.poll() is not None, 'a command ends', COMPILING)
        finally:
            if command.poll() is None:
                command.kill()
        return command.communicate()[0]

    def ros2(self, *words):
        """What a command says; repeated where it has not found the node in its time."""
        deadline = time.monotonic() + COMPILING
        while (said := self.end(self.begin(*words))).strip() == 'Node not found':
            assert time.monotonic() < deadline, words
        return said

    def goal(self, name, kind, **fields):
        """Begin an action of one arm."""
        kind = f'safe_sysid_interfaces/action/{kind}'
        action = f'/{name}/supervisor/{"identify" if "Identify" in kind else "go_to"}'
        return self.begin('action', 'send_goal', action, kind, json.dumps(fields))

    def status(self, command):
        """How an action came out, and all that was said of it."""
        said = self.end(command)
        found = END.findall(said)
        return (found[-1] if found else 'nothing'), said


def going(terminal, name, q):
    return terminal.goal(name, 'GoTo', joints={'name': NAMES, 'position': q})


def reached(terminal, loops, name, q):
    status, said = terminal.status(going(terminal, name, q))
    assert status == 'SUCCEEDED', said
    loop = loops[name]
    loop.wait(
        lambda: np.abs(np.array(loop.samples[-1].position) - q).max() < NEAR, f'it is at {q}'
    )


def shown(terminal, number, place):
    """A box that appears in the scene of both arms."""
    x, y, z = place
    box = {
        'header': {'frame_id': 'cell'},
        **{'ns': 'cell', 'id': number, 'type': 1},
        'pose': {'position': {'x': x, 'y': y, 'z': z}, 'orientation': {'w': 1.0}},
        'scale': dict.fromkeys('xyz', 2.0 * HALF),
    }
    text = json.dumps({'markers': [box]})
    terminal.ros2('topic', 'pub', '--once', '-w', '2', '/scene', MARKERS, text)


@pytest.mark.nightly
def test_a_user_of_the_commands_of_ros(tmp_path):
    pytest.importorskip('ros2cli', reason='ros2cli comes with a ROS installation')
    with (
        importable('safe_sysid_interfaces', ROOT),
        observed() as nobody,
        arm(tmp_path, 'left'),
        arm(tmp_path, 'right'),
    ):
        loops = {name: Observer(name, nobody) for name in POSES}
        hear_less(loops)
        terminal = Terminal(loops['left'])
        for name, loop in loops.items():
            loop.wait(lambda x=loop: x.mode == 'identified', 'it has learned', COMPILING)
            said = terminal.ros2('param', 'set', f'/{name}/supervisor', 'task_follows', 'false')
            assert 'successful' in said
        refused = terminal.ros2('param', 'set', '/left/planner', 'period', '0.5')
        assert 'failed' in refused
        state = terminal.ros2('lifecycle', 'get', '/left/planner', '--no-daemon')
        assert 'active [3]' in state
        both_learn(terminal)
        three_goals_around_what_appears(terminal, loops)
        cancelled_in_motion(terminal, loops)
        attached_and_detached(terminal, loops)


def hear_less(loops):
    """Who hears everything of two arms is behind, and sees motions when they are over."""
    for name, loop in loops.items():
        for subscription in list(loop.subscriptions):
            topic = subscription.topic_name.rpartition('/')[2]
            if topic == 'torque_command' or (topic == 'joint_states' and name == 'right'):
                loop.destroy_subscription(subscription)


def both_learn(terminal):
    """At once, until the mass is known to 0.3 kg."""
    wanted = {'half_widths': [0.3], 'time_limit': 900.0}
    commands = [terminal.goal(name, 'Identify', **wanted) for name in POSES]
    for command in commands:
        status, said = terminal.status(command)
        assert status == 'SUCCEEDED', said


def three_goals_around_what_appears(terminal, loops):
    left, boxes = loops['left'], {}
    for number, (q, place) in enumerate([(THERE, None), (HERE, BOX), (THERE, ASIDE)]):
        if place is not None:
            shown(terminal, number, place)
            boxes[str(number)] = Box(np.array(place), np.full(3, HALF), np.eye(3))
            # besides the boxes: the region of the other arm, and its mount
            left.wait(
                lambda: (
                    left.conditions['left/planner'].figures['obstacles'] == str(2 + len(boxes))
                ),
                'the box is known',
            )
        before = len(left.samples)
        reached(terminal, loops, 'left', q)
        for sample in left.samples[before:] if boxes else ():
            at = np.array(sample.position)
            assert arm_clearance(MODEL, Obstacles.of(boxes), at).distance > 0.0


def cancelled_in_motion(terminal, loops):
    """By Ctrl-C, as `ros2 action send_goal` has it; at rest where the plan in force ended."""
    left = loops['left']
    command = going(terminal, 'left', HERE)
    left.wait(
        lambda: left.mode == 'task' and np.abs(left.samples[-1].velocity).max() > 0.1, 'it moves'
    )
    command.send_signal(signal.SIGINT)
    terminal.end(command)
    left.wait(lambda: left.mode == 'holding', 'at rest')
    last = [plan for plan in left.plans if plan.points][-1]
    ends, begins = last.points[-1], last.header.stamp
    left.wait(
        lambda: (
            np.abs(np.array(left.samples[-1].position) - ends.positions).max() < NEAR
            and np.abs(left.samples[-1].velocity).max() < NEAR
        ),
        'at rest where the plan ended',
    )
    duration = ends.time_from_start.sec + ends.time_from_start.nanosec * 1e-9
    stamp = left.samples[-1].header.stamp
    since = stamp.sec - begins.sec + (stamp.nanosec - begins.nanosec) * 1e-9
    assert since < duration + 1.5  # [s] of simulated time, in which rest is seen and said


def attached_and_detached(terminal, loops):
    """The arm holds something else from here on, twice: bounds of the prior, then narrow ones."""
    for _ in range(2):
        said = terminal.ros2('service', 'call', '/left/supervisor/new_payload', TRIGGER)
        assert 'success=True' in said
        deadline = time.monotonic() + COMPILING
        while True:  # refused as long as the identifier has not taken it
            command = terminal.goal('left', 'Identify', half_widths=[0.3], time_limit=900.0)
            status, said = terminal.status(command)
            if status == 'SUCCEEDED':
                break
            assert 'has to wait' in said and time.monotonic() < deadline, said
    reached(terminal, loops, 'left', HERE)
