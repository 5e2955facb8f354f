"""ServedActions: `identify`, `go_to`, `follow` and `handle`, where their packages are installed.

One at a time, the errand of the settings among them: whoever asks for another one meanwhile is
told what goes on. A goal that makes no sense is accepted and aborted at once, since a rejection
has no room for a reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
import importlib
import math
from typing import Any

from rclpy.action import ActionServer, CancelResponse
from rclpy.node import Node

from safe_sysid.errors import MessageError, SafeSysidError
from safe_sysid.model.parameters import ParameterLayout
from safe_sysid.ros.actions.asked import Asked, Loop, Outcome
from safe_sysid.ros.actions.errand import Errand
from safe_sysid.ros.actions.following import Code, Following
from safe_sysid.ros.actions.going import Going
from safe_sysid.ros.actions.handle_action import Hand, HandleAction
from safe_sysid.ros.actions.handling import Handling
from safe_sysid.ros.actions.identifying import Identifying
from safe_sysid.ros.actions.joint_trajectory import feedback_of, tolerances_of, trajectory_of
from safe_sysid.ros.actions.loop_requests import LoopRequests
from safe_sysid.ros.actions.silence import Silence
from safe_sysid.ros.messages.path_times import check_begin
from safe_sysid.ros.messages.qos import ASKED
from safe_sysid.ros.messages.request_topics import LEARNS_TO, PATH_PIECES, PIECES
from safe_sysid.track.supervisor import Signal

PACKAGE = 'safe_sysid_interfaces'
MISSING = (
    f'{PACKAGE} is not installed, so there are no actions; services and topics do without '
    '(docs/ros.md, "Actions")'
)
CALLS_OFF = (Signal.BRAKE, Signal.STOP, Signal.NEW_PAYLOAD, Signal.END)
BETWEEN = 4  # looks between two feedbacks: 5 Hz


@dataclass(frozen=True, eq=False)
class Running:
    """What goes on for whom."""

    name: str
    asked: Asked
    goal: Any  # handle of the action server
    feedback: Callable[[], Any]
    result: Callable[[Outcome], Any]


class ServedActions:
    """Steps whatever action goes on, whenever the supervisor looks."""

    def __init__(
        self,
        node: Node,
        loop: Loop,
        layout: ParameterLayout,
        hand: Hand,
        errand: Errand | None = None,
    ) -> None:
        self._node, self._loop, self._layout, self._hand = node, loop, layout, hand
        self._errand, self._silence = errand, Silence(loop)
        self._running: Running | None = None
        self._called_off = ''  # why
        self._looks = 0
        self._has_begun = False  # any action, in this process
        self._servers: list[ActionServer] = []
        ours = _types(PACKAGE, 'Identify', 'GoTo', 'Follow', 'Handle')
        standard = _types('control_msgs', 'FollowJointTrajectory')
        if ours is None:
            node.get_logger().info(MISSING)
        if ours is None and standard is None:
            return
        self._requests = LoopRequests(node, loop, layout)
        if ours is not None:
            self._types = ours
            self._serve('identify', ours.Identify, self._identifying)
            self._serve('go_to', ours.GoTo, self._going)
            self._serve('follow', ours.Follow, self._following)
            self._serve('handle', ours.Handle, self._handling)
        if standard is not None:
            kind = self._standard = standard.FollowJointTrajectory
            self._serve('follow_joint_trajectory', kind, self._following_joint_trajectory)

    @property
    def is_busy(self) -> bool:
        """Whether an action goes on, which says itself what follows, or there is an errand."""
        return self._running is not None or self._errand is not None

    @property
    def errand(self) -> str:
        """Return the step of the errand that goes on, or how it came out; empty: there is none."""
        return '' if self._errand is None else self._errand.says

    @property
    def expects_touch(self) -> bool:
        """Whether what is held is about to stand on something."""
        asked = None if self._running is None else self._running.asked
        return isinstance(asked, Handling) and asked.expects_touch

    def call_off(self, signal: Signal) -> None:
        """Begin nothing more for an action or an errand, as somebody has asked for rest."""
        if signal in CALLS_OFF:
            self._take_back(f'{signal.value} was asked for')

    def _take_back(self, why: str) -> None:
        if self._errand is not None:
            self._errand.take_back()
        if self._running is not None:
            self._called_off = why
            self._running.asked.take_back()

    def look(self) -> bool:
        """Go on with the action that there is, or with the errand; whether that has come out."""
        if (lost := self._silence.look()) and not self._called_off:
            self._take_back(lost)
        self._go_on()
        errand = self._errand
        if errand is None or errand.is_over or self._running is not None:
            return False
        if self._silence.unseen:
            errand.end(self._silence.unseen)
        errand.look()
        if errand.is_over:
            self._node.get_logger().info(f'errand {errand.says}')
        return errand.is_over

    def _go_on(self) -> None:
        running = self._running
        if running is None:
            self._take_back_from_before()
            return
        self._looks += 1
        if running.goal.is_cancel_requested:
            running.asked.take_back()
        outcome = running.asked.step()
        if outcome is None and self._silence.unseen:
            running.asked.take_back()
            outcome = running.asked.step() or Outcome(False, self._silence.unseen)
        if outcome is not None:
            self._running = None
            self._end(running, outcome)
        elif self._looks % BETWEEN == 0:
            running.goal.publish_feedback(running.feedback())

    def _take_back_from_before(self) -> None:
        """Take back what a supervisor before this one wanted learnt, for an action that is gone.

        Else what is left to learn would come first, for ever.
        """
        if self._servers and not self._has_begun and self._loop.figure(LEARNS_TO):
            self._requests.tell_wanted(())

    def _serve(self, name: str, kind: Any, begin: Callable[[Any], Running]) -> None:
        server = ActionServer(
            self._node,
            kind,
            f'~/{name}',
            _nobody,
            handle_accepted_callback=partial(self._begin, kind, begin),
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            goal_service_qos_profile=ASKED,
            result_service_qos_profile=ASKED,
            cancel_service_qos_profile=ASKED,
        )
        self._servers.append(server)

    def _begin(self, kind: Any, begin: Callable[[Any], Running], goal: Any) -> None:
        """Begin what was accepted.

        For rclpy it is executed at its end: what it executes is a coroutine, and see `Later`.
        """
        try:
            if self._running is not None:
                raise MessageError(f'{self._running.name} goes on; one at a time')
            if self._errand is not None and self._errand.goes_on:
                raise MessageError(f'an errand goes on, {self._errand.says}; one at a time')
            self._running, self._has_begun = (running := begin(goal)), True
        except SafeSysidError as error:
            refusal = _refusal(kind, error)
            goal.execute(lambda goal: _ended(goal, False, refusal))
            return
        except Exception as error:  # noqa: BLE001 - a mistake of ours, which rclpy prints
            goal.execute(partial(_raised, error))
            return
        self._node.get_logger().info(f'{running.name} begins')

    def _end(self, running: Running, outcome: Outcome) -> None:
        """Give the result, which comes once the arm is at rest."""
        if self._called_off and not outcome.success:
            outcome = replace(outcome, message=f'{self._called_off}; {outcome.message}')
        self._called_off = ''
        self._node.get_logger().info(f'{running.name}: {outcome.message}')
        result = running.result(outcome)
        running.goal.execute(lambda goal: _ended(goal, outcome.success, result))

    def _identifying(self, goal: Any) -> Running:
        asked = Identifying(
            self._loop,
            goal.request.half_widths,
            goal.request.time_limit,
            self._requests.bounds,
            self._requests.tell_wanted,
        )

        def feedback() -> Any:
            lower, upper = self._requests.bounds()
            return self._types.Identify.Feedback(
                phase=self._loop.mode.value,
                lower=lower,
                upper=upper,
                limited_by=asked.limited_by,
            )

        def result(outcome: Outcome) -> Any:
            lower, upper = self._requests.bounds()
            known = self._requests.estimate
            return self._types.Identify.Result(
                success=outcome.success,
                message=outcome.message,
                lower=lower,
                nominal=[] if known is None else known.theta[known.layout.end_effector].tolist(),
                upper=upper,
            )

        return Running('identify', asked, goal, feedback, result)

    def _going(self, goal: Any) -> Running:
        asked = self._requests.going(goal.request.joints, goal.request.pose)

        def feedback() -> Any:
            return self._types.GoTo.Feedback(
                phase=self._loop.mode.value,
                distance=asked.distance,
                pieces_certified=int(self._loop.figure(PIECES) or 0),
            )

        result = partial(_result_of_going, self._types.GoTo, asked)
        return Running('go_to', asked, goal, feedback, result)

    def _handling(self, goal: Any) -> Running:
        asking = self._requests.asking()
        action = HandleAction(self._types.Handle, goal.request, asking, self._hand)
        return Running('handle', action.asked, goal, action.feedback, action.result)

    def _following(self, goal: Any) -> Running:
        if not goal.request.path.points:
            raise MessageError('the path has no points')
        check_begin(goal.request.path, self._loop.now)
        asked = self._requests.along(goal.request.path)

        def feedback() -> Any:
            pieces = int(self._loop.figure(PATH_PIECES) or 0)
            return self._types.Follow.Feedback(
                phase=self._loop.mode.value,
                distance=asked.distance,
                pieces_certified=int(self._loop.figure(PIECES) or 0) if pieces else 0,
                pieces=pieces,
            )

        result = partial(_result_of_going, self._types.Follow, asked)
        return Running('follow', asked, goal, feedback, result)

    def _following_joint_trajectory(self, goal: Any) -> Running:
        names, kind = self._layout.joint_names, self._standard
        path = trajectory_of(goal.request, names, self._loop.now)
        tolerances = tolerances_of(goal.request, names)
        asked = Following(self._requests.along(path), self._loop, *tolerances)

        def result(outcome: Outcome) -> Any:
            return kind.Result(error_code=int(asked.code), error_string=outcome.message)

        def feedback() -> Any:
            return feedback_of(kind, names, self._loop.motion())

        return Running('follow_joint_trajectory', asked, goal, feedback, result)


def _ended(goal: Any, success: bool, result: Any) -> Any:
    """Return the result of a goal, whose state says how it ended."""
    if success:
        goal.succeed()
    elif goal.is_cancel_requested:
        goal.canceled()
    else:
        goal.abort()
    return result


def _raised(error: Exception, goal: Any) -> None:
    del goal
    raise error


def _nobody(goal: Any) -> None:
    """Nobody calls it: each goal is executed by a function of its own."""
    del goal


def _types(package: str, *names: str) -> Any:
    """Return the actions of a package; None where it is not installed with all of them."""
    try:
        found = importlib.import_module(f'{package}.action')
    except ImportError:  # in a checkout, the folder of ours is an empty package
        return None
    return found if all(hasattr(found, name) for name in names) else None


def _result_of_going(kind: Any, asked: Going, outcome: Outcome) -> Any:
    return kind.Result(success=outcome.success, message=outcome.message, distance=asked.distance)


def _refusal(kind: Any, error: SafeSysidError) -> Any:
    """Return the result of what was not begun, with no figure that reads as measured."""
    said, fields = f'{error}; nothing was begun', kind.Result.get_fields_and_field_types()
    if 'error_string' in fields:
        code = getattr(error, 'code', Code.INVALID_GOAL)
        return kind.Result(error_code=int(code), error_string=said)
    unknown = {'distance': math.nan} if 'distance' in fields else {}
    return kind.Result(message=said, **unknown)
