"""Lifecycle: a node as `ros2 lifecycle` knows it; `lifecycle_msgs` says what each state means.

A node of the loop reads its settings and compiles its law when its process starts, as a setting
that is refused has to end it. `activate` lets it work; `cleanup` has it forget what it has learned
and was asked for. A node that is needed as long as the arm moves, or is under torque, is not
deactivated before: it says that it is deactivating, the supervisor has the arm come to rest on the
plan in force, and only then the answer comes. Where that cannot be, the node stays active.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from lifecycle_msgs.msg import State as StateMessage
from lifecycle_msgs.msg import Transition as TransitionMessage
from lifecycle_msgs.msg import TransitionDescription, TransitionEvent
from lifecycle_msgs.srv import (
    ChangeState,
    GetAvailableStates,
    GetAvailableTransitions,
    GetState,
)
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from safe_sysid.ros.messages.qos import EVENTS
from safe_sysid.ros.process.later import Later, create_late_service
from safe_sysid.ros.process.leaving import ALONE, Supervised
from safe_sysid.track.supervisor import Mode

LOOK = 0.02  # [s] between looks whether the arm has come to rest
STATE, WAITS, REST = 'lifecycle', 'waits to be activated', 'deactivated in mode'  # figures


class State(Enum):
    """Ids of lifecycle_msgs."""

    UNCONFIGURED = 1
    INACTIVE = 2
    ACTIVE = 3
    FINALIZED = 4
    CONFIGURING = 10
    CLEANINGUP = 11
    SHUTTINGDOWN = 12
    ACTIVATING = 13
    DEACTIVATING = 14

    @property
    def label(self) -> str:
        """As `ros2 lifecycle get` prints it."""
        return self.name.lower()

    def message(self) -> StateMessage:
        """Return it as ROS has it."""
        return StateMessage(id=self.value, label=self.label)


class Transition(NamedTuple):
    """From one state to another, by way of a third."""

    id: int
    label: str
    start: State
    through: State
    goal: State

    def message(self) -> TransitionDescription:
        """Return it as ROS has it."""
        return TransitionDescription(
            transition=TransitionMessage(id=self.id, label=self.label),
            start_state=self.start.message(),
            goal_state=self.goal.message(),
        )


TRANSITIONS = (
    Transition(1, 'configure', State.UNCONFIGURED, State.CONFIGURING, State.INACTIVE),
    Transition(2, 'cleanup', State.INACTIVE, State.CLEANINGUP, State.UNCONFIGURED),
    Transition(3, 'activate', State.INACTIVE, State.ACTIVATING, State.ACTIVE),
    Transition(4, 'deactivate', State.ACTIVE, State.DEACTIVATING, State.INACTIVE),
    Transition(5, 'shutdown', State.UNCONFIGURED, State.SHUTTINGDOWN, State.FINALIZED),
    Transition(6, 'shutdown', State.INACTIVE, State.SHUTTINGDOWN, State.FINALIZED),
    Transition(7, 'shutdown', State.ACTIVE, State.SHUTTINGDOWN, State.FINALIZED),
)
# Modes in which nobody needs a node that moves the arm, and one that gives or computes torques.
RESTS = {
    Mode.HOLDING: (Mode.IDLE, Mode.IDENTIFIED, Mode.HOLDING, Mode.ENDED),
    Mode.IDLE: (Mode.IDLE, Mode.ENDED),
}


def transition_of(state: State, asked: TransitionMessage) -> Transition | None:
    """Return the transition that is asked for; its label counts, where there is one."""
    allowed = [each for each in TRANSITIONS if each.start is state]
    if asked.label:
        return next((each for each in allowed if each.label == asked.label), None)
    return next((each for each in allowed if each.id == asked.id), None)


@dataclass(frozen=True)
class Work:
    """What a node does when its state changes, and the mode that it is not needed in any more."""

    rest: Mode
    begin: Callable[[], None]
    pause: Callable[[], None]
    forget: Callable[[], None]
    is_free: Callable[[], bool] = lambda: True  # whether it could go in that mode


class Lifecycle:
    """State of one node, and the services that show and change it."""

    def __init__(self, node: Node, waits: bool, supervised: Supervised, work: Work) -> None:
        self._node, self._supervised, self._work = node, supervised, work
        self.waits = waits  # to be activated by the supervisor; not, where somebody else asked
        self.state = State.UNCONFIGURED if waits else State.ACTIVE
        self.when_changed: Callable[[], None] = lambda: None
        self._rested: Later[str] | None = None  # why not, once it is known
        self._events = node.create_publisher(TransitionEvent, '~/transition_event', EVENTS)
        self._looks = node.create_timer(LOOK, self._look, clock=_STEADY)
        self._looks.cancel()  # until there is something to wait for
        serve = node.create_service
        create_late_service(node, ChangeState, '~/change_state', self._serve_change)
        serve(GetState, '~/get_state', self._serve_state)
        serve(GetAvailableStates, '~/get_available_states', self._serve_states)
        serve(GetAvailableTransitions, '~/get_available_transitions', self._serve_transitions)
        serve(GetAvailableTransitions, '~/get_transition_graph', self._serve_graph)

    @property
    def is_active(self) -> bool:
        """Whether the node works; also while the arm comes to rest so that it need not."""
        return self.state is State.ACTIVE or self._rested is not None

    @property
    def is_parked(self) -> bool:
        """Whether somebody has asked that the node does not work."""
        return not self.is_active and not self.waits

    def figures(self) -> dict[str, object]:
        """Return what the supervisor has to know."""
        rest = self._work.rest.value if self._rested is not None else ''
        return {STATE: self.state.label, WAITS: self.waits and not self.is_active, REST: rest}

    def change(self, asked: TransitionMessage) -> Later[bool]:
        """Whether a transition was made, once it is known; why not is logged."""
        transition = transition_of(self.state, asked)
        if transition is None:
            allowed = [each.label for each in TRANSITIONS if each.start is self.state]
            return Later.known(
                self._refuse(asked.label or str(asked.id), f'allowed are {allowed}')
            )
        if self.state is not State.ACTIVE:
            self._turn_to(transition.through, transition.label)
            return Later.known(self._complete(transition))
        self._rested, changed = Later(), Later[bool]()
        self._turn_to(transition.through, transition.label)
        self._rested.then(lambda why_not: changed.set(self._go_on(transition, why_not)))
        self._looks.reset()
        return changed

    def _go_on(self, transition: Transition, why_not: str) -> bool:
        """Pause, now that the arm does not need this node; or go on working, as it does."""
        self._looks.cancel()
        self._rested = None
        if why_not:
            self._turn_to(State.ACTIVE, transition.label)
            return self._refuse(transition.label, why_not)
        self._work.pause()
        return self._complete(transition)

    def _complete(self, transition: Transition) -> bool:
        self.waits = self.waits and transition.label in ('configure', 'activate')
        if transition.goal in (State.UNCONFIGURED, State.FINALIZED):
            self._work.forget()
        self._turn_to(transition.goal, transition.label)
        if transition.goal is State.ACTIVE:
            self._work.begin()
        return True

    def _look(self) -> None:
        """See whether the arm has come to rest, or never will."""
        if self._rested is None:
            return
        mode, silent = self._supervised.mode, self._supervised.silent
        rests = RESTS[self._work.rest]
        if mode in ('', *(each.value for each in rests)) and self._work.is_free():
            self._rested.set('')
        elif mode == Mode.FAULT.value:
            self._rested.set('in a fault the arm is braked first; reset_fault, then again')
        elif silent > ALONE:
            self._rested.set(f'the supervisor has not been heard for {silent:.1f} s')

    def _refuse(self, label: str, why: str) -> bool:
        self._node.get_logger().warning(f'{label} is refused in {self.state.label}: {why}')
        return False

    def _turn_to(self, state: State, label: str) -> None:
        before, self.state = self.state, state
        self._node.get_logger().info(f'{label}: {before.label} -> {state.label}')
        event = TransitionEvent(start_state=before.message(), goal_state=state.message())
        event.transition.label = label
        self._events.publish(event)
        self.when_changed()

    def _serve_change(
        self, request: ChangeState.Request, response: ChangeState.Response
    ) -> Later[ChangeState.Response]:
        answer: Later[ChangeState.Response] = Later()

        def tell(success: bool) -> None:
            response.success = success
            answer.set(response)

        self.change(request.transition).then(tell)
        return answer

    def _serve_state(self, _: GetState.Request, response: GetState.Response) -> GetState.Response:
        response.current_state = self.state.message()
        return response

    def _serve_states(
        self, _: GetAvailableStates.Request, response: GetAvailableStates.Response
    ) -> GetAvailableStates.Response:
        response.available_states = [state.message() for state in State]
        return response

    def _serve_transitions(
        self, _: GetAvailableTransitions.Request, response: GetAvailableTransitions.Response
    ) -> GetAvailableTransitions.Response:
        allowed = [each.message() for each in TRANSITIONS if each.start is self.state]
        response.available_transitions = allowed
        return response

    def _serve_graph(
        self, _: GetAvailableTransitions.Request, response: GetAvailableTransitions.Response
    ) -> GetAvailableTransitions.Response:
        response.available_transitions = [each.message() for each in TRANSITIONS]
        return response


_STEADY = Clock(clock_type=ClockType.STEADY_TIME)
