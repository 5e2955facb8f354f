"""The cycle of a Franka robot, against a robot with the functions and errors of pylibfranka."""

import socket
from types import SimpleNamespace

import numpy as np
import pytest
from ros.bridges import fake_franka

from safe_sysid.ros.bridges import franka_cycle
from safe_sysid.ros.bridges.franka_cycle import (
    FINISH,
    RECOVER,
    STATE,
    TAKE,
    TORQUE,
    TORQUES,
    FrankaCycle,
    FrankaState,
)


class Bridge:
    """The other end of the socket."""

    def __init__(self, stride=1):
        self.end, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.end.setblocking(False)
        self.robot = fake_franka.Robot()
        self.cycle = FrankaCycle(fake_franka.LIBRARY, self.robot, theirs, stride)
        self.states, self.sentences = [], []

    def say(self, kind, torque=None):
        content = b'' if torque is None else TORQUES.pack(*torque)
        self.end.send(kind + content)

    def step(self, *request):
        """One cycle, whose answer is there before it asks."""
        if request:
            self.say(*request)
        self.cycle.step()
        while True:
            try:
                content = self.end.recv(franka_cycle.LONGEST)
            except BlockingIOError:
                return
            if content[:1] == STATE:
                self.states.append(FrankaState.of_message(content[1:]))
            else:
                self.sentences.append(content[1:].decode())


@pytest.fixture
def bridge():
    made = Bridge()
    yield made
    made.end.close()


def under_control(bridge):
    bridge.step(TAKE)
    bridge.step(TORQUE, np.zeros(7))
    assert bridge.states[-1].takes_torque
    return bridge


def test_without_control_the_robot_is_only_read(bridge):
    for _ in range(3):
        bridge.step()
    assert [state.stamp for state in bridge.states] == [1_000_000, 2_000_000, 3_000_000]
    assert {state.mode for state in bridge.states} == {'idle'}
    assert not any(state.takes_torque for state in bridge.states)
    assert bridge.robot.written == []


def test_torques_reach_the_robot_and_the_last_one_ends_the_control(bridge):
    under_control(bridge)
    bridge.step(TORQUE, 0.5 * np.ones(7))
    bridge.step(FINISH, 0.7 * np.ones(7))
    assert [(told[0], ends) for told, ends in bridge.robot.written[1:]] == [
        (0.5, False),
        (0.7, True),
    ]
    bridge.step()
    assert bridge.states[-1].mode == 'idle'
    assert not bridge.states[-1].takes_torque


def test_a_bridge_that_does_not_answer_ends_the_control(bridge, monkeypatch):
    under_control(bridge)
    monkeypatch.setattr(franka_cycle, 'SILENCE', 0.001)
    bridge.step()
    assert bridge.robot.written[-1][1]
    assert not bridge.robot.is_controlled
    assert any('so the robot holds itself' in said for said in bridge.sentences)


def test_a_bridge_that_is_gone_ends_the_control_and_the_process():
    bridge = under_control(Bridge())
    bridge.end.close()
    bridge.cycle.step()
    assert bridge.robot.written[-1][1]
    assert bridge.cycle.is_over


def test_a_reflex_is_told_and_control_is_not_taken_before_recovery(bridge):
    under_control(bridge)
    bridge.robot.mode = fake_franka.REFLEX
    bridge.step()
    assert bridge.sentences == ['libfranka: motion aborted by reflex']
    bridge.step()
    assert bridge.states[-1].mode == 'reflex'
    bridge.step(TAKE)
    assert bridge.sentences[-1] == 'command rejected: the robot is not idle'
    for _ in range(2):  # the second comes when there is nothing to recover from any more
        bridge.step(RECOVER)
    assert (bridge.robot.recovered, bridge.robot.is_controlled) == (1, False)
    bridge.step(TAKE)
    assert bridge.robot.is_controlled


@pytest.mark.parametrize('stride', [1, 3])
def test_a_torque_is_approached_cycle_by_cycle_and_is_no_reflex(stride):
    bridge = Bridge(stride)
    for request in ((TAKE,), (TORQUE, np.zeros(7)), *3 * [(TORQUE, 2.5 * np.ones(7))]):
        bridge.say(*request)
        for _ in range(stride):
            bridge.step()
    told = [torque[0] for torque, _ in bridge.robot.written]
    assert told[-1] == 2.5
    assert np.abs(np.diff(told)).max() < fake_franka.JUMP
    assert bridge.robot.mode == fake_franka.MOVE


def test_requests_for_control_on_their_way_make_no_torque_late(bridge):
    bridge.say(TAKE)
    bridge.say(RECOVER)
    bridge.step(TAKE)
    for torque in (0.1, 0.2, 0.3):
        bridge.step(TORQUE, torque * np.ones(7))
    assert [told[0] for told, _ in bridge.robot.written] == [0.1, 0.2, 0.3]


def test_the_first_torque_is_approached_from_what_the_robot_held_itself_with():
    bridge = Bridge()
    bridge.step(TAKE)
    bridge.robot.torque = -4.0 * np.ones(7)
    bridge.step(TORQUE, np.zeros(7))
    assert bridge.robot.written[0][0][0] == -4.0 + franka_cycle.LARGEST_CHANGE


def test_a_refused_command_is_told(bridge):
    bridge.robot.mode = 5
    bridge.step(TAKE)
    assert bridge.sentences == ['command rejected: the robot is not idle']
    bridge.step()
    assert bridge.states[-1].mode == 'user stopped'


def test_between_states_of_the_loop_the_last_torque_is_repeated():
    bridge = Bridge(stride=2)
    for _ in range(2):
        bridge.step()
    bridge.step()
    bridge.step(TAKE)
    bridge.step()
    bridge.step(TORQUE, 0.25 * np.ones(7))
    bridge.step()
    assert [told[0] for told, _ in bridge.robot.written] == [0.0, 0.25, 0.25]
    assert [state.stamp // 1_000_000 for state in bridge.states] == [2, 4, 6]


def test_a_state_comes_through_the_socket_as_it_was(rng):
    numbers = rng.normal(size=(3, 7))
    state = FrankaState(12_000_000, 'reflex', True, 0.73, *numbers)
    again = FrankaState.of_message(state.as_message()[1:])
    assert (again.stamp, again.mode, again.takes_torque, again.known_mass) == (
        12_000_000,
        'reflex',
        True,
        0.73,
    )
    assert np.array_equal([again.q, again.qd, again.effort], numbers)


class Network(SimpleNamespace):
    """A library whose robot is reached, lost, and not there, in this order."""

    NetworkException = ConnectionError
    InvalidOperationException = ValueError
    RealtimeConfig = SimpleNamespace(kIgnore=0)


def test_a_connection_that_is_lost_is_tried_again_until_the_bridge_is_gone(monkeypatch):
    monkeypatch.setattr(franka_cycle, 'AGAIN', 0.001)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def refused(*_):
        raise ConnectionError('libfranka: UDP receive: Timeout')

    library = Network(Robot=refused, **vars(fake_franka.LIBRARY))
    assert not franka_cycle.serve(library, 'robot', theirs, 1)
    assert ours.recv(franka_cycle.LONGEST) == b'Tno connection: libfranka: UDP receive: Timeout'
    ours.send(TAKE)  # of before: nobody takes it for one of the next connection
    assert not franka_cycle.serve(library, 'robot', theirs, 1)
    ours.close()
    assert franka_cycle.serve(library, 'robot', theirs, 1)
