"""A payload that a running loop has found reaches a driver once, and never beside the law.

The supervisor and the driver's service are real nodes; the rest of the loop is `fake_loop.py`.
"""

from contextlib import contextmanager
import json
from pathlib import Path
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip('rclpy')
from live.known_loop import BODY, estimate_of_load
from ros.generated_messages import importable
from ros.probes.test_hand_over import driver
from ros.running_loop import observed
from ros.running_node import running_node
from std_srvs.srv import SetBool

from safe_sysid.cli.main import main
from safe_sysid.live.driver_hand_over import hand_over
from safe_sysid.share import share_directory

LOOP = Path(__file__).with_name('fake_loop.py')
SETTINGS = str(share_directory() / 'config/loop/ur5e.yaml')
LEFT = ('--ros-args', '-r', '__ns:=/left', '--params-file', SETTINGS)
HANDED_OVER = 'supervisor/handed_over'
pytestmark = pytest.mark.slow


@contextmanager
def loop(**figures):
    """Loop of a UR5e that stands, in the namespace `left`, and who looks at it."""
    lower, theta, upper = estimate_of_load()
    told = {'lower': lower, 'nominal': theta, 'upper': upper, 'figures': figures}
    pipes = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE, 'text': True}
    with (
        process_of([str(LOOP)], **pipes) as process,
        process_of(['-m', 'safe_sysid.ros.nodes.supervisor_node']),
        observed('left') as seen,
    ):
        process.stdin.write(json.dumps(told) + '\n')
        process.stdin.flush()
        assert process.stdout.readline() == 'ready\n'
        seen.wait(lambda: seen.mode == 'idle', 'idle at first')
        seen.wait(lambda: figure(seen, 'at rest') == 'True', 'at rest')
        yield seen


@contextmanager
def process_of(words, **pipes):
    """A process that is killed in the end: a supervisor waits for the arm to be in other hands."""
    with subprocess.Popen([sys.executable, *words, *LEFT], **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def figure(seen, name):
    said = seen.conditions.get('left/supervisor')
    return None if said is None else said.figures[name]


def given_back(seen):
    """Whether the loop was told that the robot knows the load no more."""
    return seen.ask(SetBool, HANDED_OVER, SetBool.Request(data=False))[0].success


def asked(capfd, *words):
    """Status and answer of a hand-over from that loop; where it is refused, the sentence."""
    more = '--namespace', 'left', '--json', '--wait', '60'
    status = main(['hand-over', '--from-loop', *more, *words])
    said = capfd.readouterr()
    return status, json.loads(said.out) if said.out else said.err


def request_of(numbers):
    """To a UR, of what a loop said: lower, nominal and upper theta."""
    return {
        'type': 'ur_msgs/srv/SetPayload',
        'name': '/io_and_status_controller/set_payload',
        'fields': {'mass': 1.0},
        'newer': [],
        'others': [],
        'loop': {'namespace': '/left', 'numbers': numbers, 'robot_adds_load': True},
    }


def test_a_ur_is_told_once_and_the_loop_begins_nothing_then(capfd):
    with importable('ur_msgs'), loop() as seen, driver('ur') as process:
        status, said = asked(capfd, '--to', 'ur', '--transition', '0.5')
        taken = json.loads(process.stdout.readline())
        assert status == 0, said
        assert taken['mass'] == pytest.approx(BODY[0], rel=1e-6)
        com = [taken['center_of_gravity'][axis] for axis in 'xyz']
        assert com == pytest.approx((BODY[1:4] / BODY[0]).tolist(), abs=1e-6)
        assert taken['transition_time'] == {'sec': 0, 'nanosec': 500_000_000}
        words = '\n'.join(said['sentences'])
        assert 'in the frame tool0' in words
        assert 'samples up to 3.00 s before the newest joint state' in words
        assert 'learns nothing now (mode idle)' in words
        assert 'ros2 service call /left/supervisor/handed_over' in words

        assert figure_is(seen, 'robot adds the load', 'True')
        refused = seen.call('supervisor/start')
        assert not refused.success
        assert 'the robot was told what it holds' in refused.message
        assert given_back(seen)
        assert seen.call('supervisor/start').success


def figure_is(seen, name, value):
    seen.wait(lambda: figure(seen, name) == value, f'{name} is {value}')
    return True


def test_under_torque_no_robot_is_told_that_would_add_the_load(capfd):
    with importable('ur_msgs'), loop() as seen, driver('ur', 'busy'):
        assert seen.call('supervisor/start').success
        seen.wait(lambda: seen.mode != 'idle', 'it has begun')
        status, said = asked(capfd, '--to', 'ur')
        assert status == 2
        assert 'is in mode' in said and 'supervisor/stop first' in said
        assert figure(seen, 'robot adds the load') == 'False'
        late = request_of([x for row in estimate_of_load() for x in row])
        answer = hand_over(late, 60.0)  # begun after it was looked at
        assert 'torques that carry the load already' in answer['error']
        assert 'was_asked' not in answer


def test_the_driver_may_have_told_the_robot_whatever_it_answers(capfd):
    with importable('ur_msgs'), loop() as seen, driver('ur', 'busy'):
        status, said = asked(capfd, '--to', 'ur')
        assert status == 1
        assert 'refused' in said['answer']['error'] and said['answer']['loop waits']
        assert not seen.call('supervisor/start').success


def test_nothing_waits_for_a_driver_that_was_not_asked(capfd):
    with importable('ur_msgs'), loop() as seen:
        status, said = asked(capfd, '--to', 'ur', '--wait', '4')
        assert status == 1
        assert 'nobody serves' in said['answer']['error'] and not said['answer']['loop waits']
        figure_is(seen, 'robot adds the load', 'False')
        assert seen.call('supervisor/start').success


def test_another_payload_meanwhile_is_handed_to_nobody():
    lower, theta, upper = map(np.array, estimate_of_load())
    with importable('ur_msgs'), loop() as seen, driver('ur'):
        middle = 0.5 * (lower + upper)
        narrow = [*(lower + 0.9 * (middle - lower)), *theta, *upper]
        answer = hand_over(request_of(narrow), 60.0)
        assert 'has changed since the loop was heard' in answer['error']
        assert answer['loop waits'] is False
        figure_is(seen, 'robot adds the load', 'False')


def test_what_adds_no_load_is_told_under_torque_as_well(capfd):
    with loop() as seen, driver('inertia') as process:
        assert seen.call('supervisor/start').success
        seen.wait(lambda: seen.mode != 'idle', 'it has begun')
        status, said = asked(capfd, '--to', 'inertia', '--flange', 'tool0')
        heard = json.loads(process.stdout.readline())
        assert status == 0, said
        assert heard['inertia']['m'] == pytest.approx(BODY[0], rel=1e-6)
        assert heard['header']['frame_id'] == 'tool0'
        assert figure(seen, 'robot adds the load') == 'False'


def test_a_change_that_is_not_answered_is_refused(capfd):
    with loop(change='what is held has changed: 2.1 kg more'):
        status, said = asked(capfd, '--to', 'ur', '--dry-run')
    assert status == 2
    assert '2.1 kg more; the loop has not answered that yet' in said


def test_a_loop_elsewhere_is_named(capfd):
    with loop():
        status = main(['hand-over', '--from-loop', '--to', 'ur', '--wait', '8'])
    assert status == 2
    assert 'one runs in /left, give --namespace' in capfd.readouterr().err


def test_an_identifier_that_has_learned_nothing_hands_over_nothing(capfd):
    arguments = ('-r', '__ns:=/left', '--params-file', SETTINGS)
    with running_node('identifier_node', *arguments):
        status, said = asked(capfd, '--to', 'inertia', '--dry-run')
    assert status == 2
    assert 'the estimate is the prior of the loop' in said
