"""What is held changes in a loop of real processes: announced, told by a gripper, and noticed."""

from contextlib import contextmanager
import os
import signal

import numpy as np
import pytest
from ros.faulty_loop import COMPILING, ROOMY
from ros.generated_messages import ROOT, importable
from ros.nodes.test_faults_of_a_run import pid
from ros.nodes.test_goals_and_actions import ABORTED, SUCCEEDED, Client, planner_says
from ros.nodes.test_lifecycle import Manager
from ros.running_loop import EACH, changed_settings, observed, running
from ros.running_node import greet
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Header
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import Marker, MarkerArray
import yaml

from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.messages.codec import stamp_of
from safe_sysid.ros.messages.qos import REQUESTS, STATE
from safe_sysid.share import share_directory

MASS = 0.4  # [kg] of what there is to take
LIGHT = 0.23  # [kg] twice as much is within the prior still
HAND = 1.0  # [kg] the empty end effector, to 5 %
# Two links turn as they draw back, and errors of ROOMY are large
LEAVES = {'planner__retreat__depth': 0.08, 'planner__retreat__slide': 0.25}


def thing_of(tmp_path, mass):
    """A dumbbell as light as that."""
    thing = yaml.safe_load((share_directory() / 'config/payloads/dumbbell_4lb.yaml').read_text())
    share = mass / thing['mass']
    thing['mass'] = mass
    inertia = thing['inertia_about_com']
    thing['inertia_about_com'] = {key: share * value for key, value in inertia.items()}
    path = tmp_path / f'thing_of_{mass}_kg.yaml'
    path.write_text(yaml.safe_dump(thing))
    return str(path)


@contextmanager
def loop_with_an_empty_hand(tmp_path, **changes):
    """Two links in lockstep, and something lighter than the dumbbells beside them."""
    options = options_of(tmp_path, **changes)
    with observed() as loop, running('builtin_sim', *options):
        loop.wait(lambda: 'identifier' in loop.conditions, 'the identifier', COMPILING)
        yield loop


def options_of(tmp_path, **changes):
    """For `safe-sysid run`."""
    path = thing_of(tmp_path, MASS)
    chosen = {
        **ROOMY,
        'all__period': 0.004,
        'identifier__identifier__observation__longest_step': 0.006,
        'identifier__identifier__observation__window': 15,
        'all__payload': path,
        'all__library': [path],
        'planner__mission__exciting': 2,
        'supervisor__stale': 30.0,
        'supervisor__task_follows': False,
        **LEAVES,
        'builtin_sim_bridge__holds': False,
        'identifier__change_test__unmodelled_torque': 0.05,
        'identifier__change_test__velocity_noise': 0.001,
        **changes,
    }
    settings = changed_settings(tmp_path, 'two_link', **chosen)
    return '--config', settings, '--lockstep'


def wall_at(position):
    """Something small where the last joint of two links would be."""
    marker = Marker(ns='wall', type=Marker.CUBE)
    marker.header.frame_id, marker.pose.orientation.w = 'base_link', 1.0
    p = joint_frames(RobotModel.named('two_link'), np.array(position))[1][-1]
    marker.pose.position.x, marker.pose.position.y, marker.pose.position.z = p.tolist()
    marker.scale.x = marker.scale.y = marker.scale.z = 0.02
    return marker


def there_in(msg):
    """Names of what a message shows as placed."""
    return [f'placed: {m.ns}/{m.id}' for m in msg.markers if m.action == Marker.ADD]


def end_of(plan):
    """When it is over [ns]."""
    return stamp_of(plan.header.stamp) + stamp_of(plan.points[-1].time_from_start)


def mass(loop):
    """Bounds on what the last joint moves [kg]."""
    figures = loop.conditions['identifier'].figures
    return float(figures['mass at least [kg]']), float(figures['mass at most [kg]'])


def granted(loop, service):
    """Answer of a service, once it is granted."""
    answers = []

    def ask():
        answers.append(loop.call(service))
        return answers[-1].success

    loop.wait(ask, service, COMPILING)
    return answers[-1].message


@pytest.mark.slow
def test_an_announced_change_is_granted_at_rest_and_what_is_held_then_is_learnt(tmp_path):
    with loop_with_an_empty_hand(tmp_path) as loop:
        loop.wait(lambda: loop.mode == 'identified', 'it has learned', COMPILING)
        assert mass(loop)[1] < HAND + MASS
        assert not loop.call('supervisor/payload_changed').success
        assert 'may change now' in granted(loop, 'supervisor/announce_change')
        assert loop.mode == 'changing'
        low, high = mass(loop)
        assert low <= 0.95 * HAND
        assert high >= HAND + MASS
        assert loop.call('builtin_sim_bridge/grasp').success
        assert granted(loop, 'supervisor/payload_changed').startswith('holding')
        loop.wait(lambda: loop.mode == 'holding', 'it holds')
        assert granted(loop, 'supervisor/start').startswith('exciting')
        loop.wait(lambda: loop.mode == 'identified', 'it has learned again', COMPILING)
        low, high = mass(loop)
        assert low > 1.05 * HAND
        assert low <= 1.05 * HAND + MASS
        assert high >= 0.95 * HAND + MASS
        assert 'fault' not in loop.modes


@pytest.mark.slow
def test_a_change_that_may_happen_is_over_for_a_supervisor_that_is_started_again(tmp_path):
    """Bounds are wide at first, and narrow again once it has learned."""
    options = options_of(tmp_path)
    with observed() as loop, running('builtin_sim', *options) as run:
        loop.wait(lambda: loop.mode == 'identified', 'it has learned', COMPILING)
        assert 'may change now' in granted(loop, 'supervisor/announce_change')
        os.kill(pid(run, 'supervisor'), signal.SIGKILL)
        loop.wait(lambda: loop.mode == 'fault', 'it is missed')
        said = loop.conditions
        loop.wait(lambda: not said['identifier'].figures['bounds for a change'], 'it is over')
        assert mass(loop)[1] >= HAND + MASS
        granted(loop, 'supervisor/reset_fault')
        granted(loop, 'supervisor/start')
        loop.wait(lambda: loop.mode == 'identified', 'it has learned again', COMPILING)
        low, high = mass(loop)
        assert low <= 1.05 * HAND
        assert 0.95 * HAND <= high < HAND + MASS


@pytest.mark.slow
def test_a_body_that_nobody_announced_is_noticed_and_the_loop_goes_on(tmp_path):
    with loop_with_an_empty_hand(tmp_path, planner__mission__exciting=6) as loop:
        loop.wait(lambda: loop.mode == 'exciting', 'it learns', COMPILING)

        def moves():
            return bool(loop.samples) and np.abs(loop.samples[-1].velocity).max() > 0.3

        loop.wait(moves, 'it moves', COMPILING)
        first = loop.samples[-1].header.stamp.sec
        loop.wait(lambda: moves() and loop.samples[-1].header.stamp.sec > first + 2, 'and again')
        assert loop.call('builtin_sim_bridge/grasp').success
        loop.wait(lambda: 'fault' in loop.modes, 'the change is noticed', COMPILING)
        said = loop.conditions
        loop.wait(lambda: 'CHANGE_NOTICED' in loop.heard_causes, 'it is named')
        loop.wait(lambda: loop.modes[-1] == 'exciting', 'it goes on by itself', COMPILING)
        assert loop.modes[-3:] == ['fault', 'holding', 'exciting']
        assert said['supervisor'].figures['went on by itself'] == '1'
        loop.wait(lambda: loop.mode == 'identified', 'it has learned', COMPILING)
        low, high = mass(loop)
        assert 1.05 * HAND < low <= 1.05 * HAND + MASS
        assert high >= 0.95 * HAND + MASS


@pytest.mark.slow
def test_a_gripper_that_tells_in_motion_brakes_the_arm_and_it_goes_on(tmp_path):
    """Nothing changed in truth: what is told counts, and bounds are wide again."""
    with loop_with_an_empty_hand(tmp_path, planner__mission__exciting=6) as loop:
        events = loop.create_publisher(Header, 'payload_event', REQUESTS)
        loop.wait(lambda: loop.mode == 'exciting', 'it learns', COMPILING)
        loop.wait(
            lambda: bool(loop.samples) and np.abs(loop.samples[-1].velocity).max() > 0.3,
            'it moves',
            COMPILING,
        )
        loop.wait(lambda: events.get_subscription_count() > 0, 'the identifier hears events')
        events.publish(Header(stamp=loop.samples[-1].header.stamp))
        loop.wait(lambda: 'fault' in loop.modes, 'it brakes', COMPILING)
        loop.wait(lambda: loop.modes[-1] == 'exciting', 'it goes on by itself', COMPILING)
        loop.wait(lambda: loop.mode == 'identified', 'it has learned', COMPILING)
        low, high = mass(loop)
        assert low <= 1.05 * HAND
        assert high >= 0.95 * HAND


@pytest.mark.slow
def test_a_finger_that_closes_in_motion_is_heard_from_its_driver(tmp_path):
    """Who reports it reports the arm, too, and elsewhere: that moves nothing and nobody."""
    finger = {'joint': 'finger', 'closed': 0.8, 'topic': '/gripper/joint_states'}
    told = {f'identifier__hold__finger__{name}': value for name, value in finger.items()}
    with loop_with_an_empty_hand(tmp_path, planner__mission__exciting=6, **told) as loop:
        driver = loop.create_publisher(JointState, '/gripper/joint_states', 10)
        said = loop.conditions

        def report(position, name='finger'):
            msg = JointState(name=['joint_2', name, 'joint_1'], position=[9.0, position, -9.0])
            msg.header.stamp = loop.samples[-1].header.stamp
            msg.velocity = msg.effort = [99.0] * 3
            driver.publish(msg)

        loop.wait(lambda: 'has not been heard of' in said['identifier'].trouble, 'it is missed')
        loop.wait(lambda: driver.get_subscription_count() > 0, 'the identifier hears it')
        loop.wait(lambda: loop.mode == 'exciting' and bool(loop.samples), 'it learns', COMPILING)
        loop.wait(
            lambda: report(0.0, 'fingr') or "'fingr'" in said['identifier'].trouble,
            'another name is of another joint',
        )
        loop.wait(
            lambda: report(0.0) or said['identifier'].figures['finger'] == 'open', 'it is open'
        )
        assert 'has not been heard of' not in said['identifier'].trouble
        assert 'fault' not in loop.modes
        loop.wait(
            lambda: np.abs(loop.samples[-1].velocity).max() > 0.3 or report(0.0),
            'it moves',
            COMPILING,
        )
        report(0.8)
        loop.wait(lambda: 'fault' in loop.modes, 'it brakes', COMPILING)
        loop.wait(lambda: 'CHANGE_NOTICED' in loop.heard_causes, 'it is named')
        assert 'SECOND_PUBLISHER' not in loop.heard_causes
        loop.wait(lambda: loop.modes[-1] == 'exciting', 'it goes on by itself', COMPILING)
        loop.wait(lambda: loop.mode == 'identified', 'it has learned', COMPILING)
        low, high = mass(loop)
        assert low <= 1.05 * HAND
        assert high >= 0.95 * HAND
        assert np.abs([sample.position for sample in loop.samples]).max() < 9.0


@pytest.mark.slow
def test_a_thing_is_picked_weighed_and_placed_or_kept_where_it_is_too_heavy(tmp_path):
    things = [thing_of(tmp_path, mass) for mass in (LIGHT, 2.0 * LIGHT)]
    heavier = {'all__payload': things[0], 'all__library': things}
    with (
        importable('safe_sysid_interfaces', ROOT),
        loop_with_an_empty_hand(tmp_path, **heavier, planner__mission__exciting=3) as loop,
    ):
        from safe_sysid_interfaces.action import Handle

        handle = Client(loop, Handle, 'handle')
        loop.wait(lambda: loop.mode == 'identified', 'it has learned', COMPILING)
        q = [loop.samples[-1].position[0] - 0.3, 1.5]  # bent, so that the hand can draw back
        there = JointState(name=list(loop.samples[-1].name), position=q)
        status, result = handle.outcome(handle.send(Handle.Goal(heaviest=-1.0)))
        assert (status, result.success) == (ABORTED, False)
        assert 'heaviest is -1.0 kg' in result.message
        beyond = JointState(name=there.name, position=[99.0, 0.0])
        status, result = handle.outcome(handle.send(Handle.Goal(place_joints=beyond)))
        assert (status, result.success) == (ABORTED, False)
        assert 'is at 99 rad' in result.message
        assert result.message.endswith('nothing was begun')
        assert loop.mode == 'identified'
        before, modes = np.array(loop.samples[-1].position), list(loop.modes)
        elsewhere = JointState(name=there.name, position=[-1.0, 0.5])
        walls = loop.create_publisher(MarkerArray, 'obstacles', 10)
        greet(walls, MarkerArray(markers=[wall_at(elsewhere.position)]))
        loop.wait(lambda: planner_says(loop, 'obstacles') == '1', 'the planner knows it')
        asked = Handle.Goal(pick_joints=there, place_joints=elsewhere)
        status, result = handle.outcome(handle.send(asked))
        assert (status, result.success) == (ABORTED, False)
        assert result.message.startswith('check: place: ')
        assert result.message.endswith('mm inside wall/0; nothing was picked')
        assert loop.modes == modes
        assert np.abs(loop.samples[-1].position - before).max() < 0.05  # of 0.3 to the thing
        walls.publish(MarkerArray(markers=[Marker(ns='wall', action=Marker.DELETE)]))
        loop.wait(lambda: planner_says(loop, 'obstacles') == '0', 'the planner knows it')

        manager = Manager(loop)
        assert manager.set('planner', 'deactivate')
        status, result = handle.outcome(handle.send(Handle.Goal(heaviest=1.9 * LIGHT)))
        assert (status, result.success) == (ABORTED, False)
        assert 'announce_change has to wait, as planner is inactive' in result.message
        assert 'nothing was picked' in result.message
        assert manager.set('planner', 'activate')

        goal = Handle.Goal(heaviest=1.9 * LIGHT, place_joints=there)
        status, result = handle.outcome(handle.send(goal))
        assert (status, result.success) == (SUCCEEDED, True), result.message
        assert result.lower[0] <= LIGHT <= result.upper[0] <= 1.9 * LIGHT
        recognised = result.message.rpartition('; ')[2]
        assert 'thing_of_' in recognised, result.message
        steps = list(dict.fromkeys(told.step for told in handle.feedback))
        long = [each for each in steps if each not in ('check', 'grasp')]
        assert long == ['weigh', 'carry', 'release']
        assert np.abs(np.array(loop.samples[-1].position) - there.position).max() < 0.05
        assert loop.mode == 'holding'

        name = planner_says(loop, 'placed objects')
        assert name.startswith('placed: object/')
        assert result.message.endswith(f'the planner avoids it now as "{name}"; {recognised}')
        shown = []
        loop.create_subscription(
            MarkerArray, 'placed', lambda msg: shown.append(there_in(msg)), STATE
        )
        loop.wait(lambda: shown, 'the object is heard of')
        before = len(loop.samples)
        again = Handle.Goal(pick_joints=there, heaviest=0.5 * LIGHT)
        status, result = handle.outcome(handle.send(again))
        assert (status, result.success) == (ABORTED, False), result.message
        away = [np.abs(np.array(s.position) - there.position).max() for s in loop.samples[before:]]
        assert max(away) > 0.1  # it has left it first, and has come back
        loop.wait(lambda: not planner_says(loop, 'placed objects'), 'it is in the hand again')
        loop.wait(lambda: not shown[-1], 'nobody shows it any more')
        changes = [each for i, each in enumerate(shown) if i == 0 or shown[i - 1] != each]
        assert changes == [[name], [], [name], []], changes  # lent, given back, in the hand
        assert 'kg at most can be placed' in result.message
        assert 'what was picked is in the hand' in result.message
        assert 'fault' not in loop.modes


@pytest.mark.slow
def test_what_carrying_needs_is_learnt_on_the_way(tmp_path):
    """No step learns for its own sake, and the task begins at once with what was picked."""
    learns = {'planner__mission__on_the_way': True}
    with (
        importable('safe_sysid_interfaces', ROOT),
        loop_with_an_empty_hand(tmp_path, **learns) as loop,
    ):
        from safe_sysid_interfaces.action import Handle

        handle = Client(loop, Handle, 'handle')
        loop.wait(lambda: loop.mode == 'identified', 'it has learned', COMPILING)
        there = JointState(name=list(loop.samples[-1].name), position=[1.0, 0.8])
        status, result = handle.outcome(handle.send(Handle.Goal(place_joints=there)))
        assert (status, result.success) == (SUCCEEDED, True), result.message
        assert result.lower[0] <= MASS <= result.upper[0]
        assert {told.step for told in handle.feedback} >= {'carry', 'release'}
        assert 'weigh' not in {told.step for told in handle.feedback}
        assert np.abs(np.array(loop.samples[-1].position) - there.position).max() < 0.05
        assert 'fault' not in loop.modes


@pytest.mark.slow
def test_what_touches_something_just_before_its_place_is_let_go_there(tmp_path):
    """Somebody feels it; the arm brakes, and nothing is learnt until the gripper has opened."""
    within = 0.5
    learns = {'planner__mission__on_the_way': True, 'supervisor__placed__touched_within': within}
    with (
        importable('safe_sysid_interfaces', ROOT),
        loop_with_an_empty_hand(tmp_path, **learns) as loop,
    ):
        from safe_sysid_interfaces.action import Handle

        handle = Client(loop, Handle, 'handle')
        touches = loop.create_publisher(Header, 'touched', REQUESTS)
        loop.wait(lambda: loop.mode == 'identified', 'it has learned', COMPILING)
        loop.wait(lambda: touches.get_subscription_count() > 0, 'the identifier hears of touches')
        there = JointState(name=list(loop.samples[-1].name), position=[1.0, 0.8])

        def is_near():
            q = np.array(loop.samples[-1].position)
            carries = bool(handle.feedback) and handle.feedback[-1].step == 'carry'
            return carries and loop.mode == 'task' and np.abs(q - there.position).max() < 0.3

        goal = handle.send(Handle.Goal(place_joints=there))
        loop.wait(is_near, 'it is near the place', COMPILING)
        touches.publish(Header(stamp=loop.samples[-1].header.stamp))
        status, result = handle.outcome(goal)
        assert (status, result.success) == (SUCCEEDED, True), result.message
        assert 'something was touched, and the arm has stopped' in result.message
        assert 'the gripper has opened; the planner avoids it now' in result.message
        assert np.abs(np.array(loop.samples[-1].position) - there.position).max() <= within
        after = loop.modes[loop.modes.index('fault') :]
        assert list(dict.fromkeys(after)) == ['fault', 'holding', 'changing'], after


@pytest.mark.slow
def test_an_errand_of_the_settings_places_a_thing_and_ends_the_run(tmp_path):
    pick, place = [1.0, 0.5], [0.7, 0.7]
    errand = {'supervisor__errand__pick': pick, 'supervisor__errand__place': place}
    waits = {'planner__mission__exciting': 2, 'planner__awaits_errand': True}
    options = options_of(tmp_path, **errand, **waits)
    told, changed, plans = [], [], []
    with observed() as loop, running('builtin_sim', *options, '--once') as run:
        hear = loop.create_subscription
        hear(Bool, 'gripper_command', lambda msg: told.append(msg.data), REQUESTS)
        hear(Header, 'payload_event', lambda msg: changed.append(stamp_of(msg.stamp)), REQUESTS)
        hear(JointTrajectory, 'plan_in_force', plans.append, EACH)
        loop.wait(lambda: run.poll() is not None, 'the errand is done', 3.0 * COMPILING)
        said = run.communicate()[0]
    assert run.returncode == 0, said
    assert told == [True, False]
    position = {stamp_of(each.header.stamp): each.position for each in loop.samples}
    where = [np.array(position[stamp]) for stamp in changed]
    np.testing.assert_allclose(where, [pick, place], atol=0.05)
    # time has waited since the plan was over
    assert set(changed) <= {end_of(plan) for plan in plans if plan.points}
    assert 'errand: done' in said
    assert 'fault' not in loop.modes
