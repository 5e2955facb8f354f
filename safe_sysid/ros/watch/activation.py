"""Activation: the supervisor configures and activates the nodes that wait for it.

A node that somebody has deactivated stays so until somebody activates it. As long as one is not
active, or was never heard, nothing begins; one that is deactivating has the arm come to rest
first.
"""

from __future__ import annotations

import time

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future

from safe_sysid.ros.process.lifecycle import REST, STATE, TRANSITIONS, WAITS, State
from safe_sysid.ros.watch.heartbeats import Heartbeats
from safe_sysid.track.supervisor import Mode, Signal

NEEDED = ('identifier', 'planner', 'controller')  # before anything begins, with any bridge
AGAIN = 1.0  # [s] without an answer, after which a node is told again
MOVES = (Mode.PROBING, Mode.EXCITING, Mode.TASK, Mode.CHANGING)
STANDS = (Mode.IDENTIFIED, Mode.HOLDING)
BEGINS = (Signal.PROBE, Signal.EXCITE, Signal.DO_TASK, Signal.ANNOUNCE_CHANGE)
NEXT = {each.start.label: each for each in TRANSITIONS if each.label in ('configure', 'activate')}


def _way_back(state: str) -> str:
    """Return what makes a node active that is in this state."""
    if state == State.UNCONFIGURED.label:
        return 'ros2 lifecycle set NODE configure, then activate'
    if state in (State.FINALIZED.label, State.SHUTTINGDOWN.label):
        return 'its process is of no use any more, end the run and begin another one'
    return 'ros2 lifecycle set NODE activate'


class Activation:
    """Goes by what the nodes say of themselves on /diagnostics."""

    def __init__(self, node: Node, nodes: Heartbeats) -> None:
        self._node, self._nodes = node, nodes
        self._told: dict[tuple[str, str], float] = {}  # name and state: when [s]
        self._clients: dict[str, Client[ChangeState.Request, ChangeState.Response]] = {}
        self._asked: dict[str, Future[ChangeState.Response]] = {}  # what each node was asked last

    def step(self) -> None:
        """Lead each node that waits one state further."""
        for name, state in self._nodes.figures(STATE).items():
            is_waiting = self._nodes.figure(name, WAITS) == 'True'
            if state not in NEXT or not is_waiting:
                self._told.pop((name, state), None)
            elif time.monotonic() - self._told.get((name, state), -AGAIN) >= AGAIN:
                self._tell(name, state)

    def _tell(self, name: str, state: str) -> None:
        if name not in self._clients:
            self._clients[name] = self._node.create_client(ChangeState, f'{name}/change_state')
        client = self._clients[name]
        if client.service_is_ready():
            self._told[name, state] = time.monotonic()
            transition = NEXT[state]
            asked = Transition(id=transition.id, label=transition.label)
            if name in self._asked:  # it stays with the client as long as nobody answers
                client.remove_pending_request(self._asked[name])
            self._asked[name] = client.call_async(ChangeState.Request(transition=asked))

    def refusal(self, signal: Signal) -> str:
        """Why nothing can begin; nodes that wait will be active in a moment."""
        if signal not in BEGINS:
            return ''
        states = self._nodes.figures(STATE)
        unheard = [name for name in NEEDED if name not in states]
        if unheard:
            said = 'has' if len(unheard) == 1 else 'have'
            return (
                f'{signal.value} has to wait, as {" and ".join(unheard)} {said} not been heard; '
                'see that it runs, and what it said when it ended'
            )
        if not self._off:
            return ''
        said = ', '.join(f'{name} is {state}' for name, state in self._off.items())
        ways = dict.fromkeys(_way_back(state) for state in self._off.values())
        return f'{signal.value} has to wait, as {said}; {"; ".join(ways)}'

    @property
    def _off(self) -> dict[str, str]:
        """States of the nodes that stay as they are until somebody activates them."""
        return {
            name: state
            for name, state in self._nodes.figures(STATE).items()
            if state != State.ACTIVE.label and self._nodes.figure(name, WAITS) != 'True'
        }

    def wanted(self, mode: Mode) -> Signal | None:
        """Return what leads to the mode in which nodes that are deactivating may go.

        A change of what is held that was on its way when a node went is called off as well.
        """
        rests = set(self._nodes.figures(REST).values()) - {''}
        if (rests and mode in MOVES) or (self._off and mode is Mode.CHANGING):
            return Signal.BRAKE
        return Signal.STOP if Mode.IDLE.value in rests and mode in STANDS else None
