"""HandlingChecks: whether the arm may stand at the places of a goal of `handle`; nothing moves.

The supervisor asks before it begins such a goal. The answer is among the figures of the planner,
under the stamp of the question. Where the hand picks what was placed before, the answer tells the
way straight in; when that is shown again, as the way is over, the hand may leave it from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from safe_sysid.errors import SafeSysidError
from safe_sysid.plan.handled_places import Place, StandingAt, reached_places
from safe_sysid.plan.online import Planning
from safe_sysid.plan.picked_again import PickedAgain
from safe_sysid.plan.task_goal import GoalError, Surroundings
from safe_sysid.ros.messages.handled_places_text import places_of_text, text_of_pick
from safe_sysid.ros.messages.qos import REQUESTS
from safe_sysid.ros.messages.request_topics import CHECK_PICKS, CHECK_REFUSED, CHECKED, PLACES
from safe_sysid.ros.messages.requested_goals import RequestedGoals
from safe_sysid.ros.messages.subscriptions import Subscriptions
from safe_sysid.sets.box import Box


class HandlingChecks:
    """Answers what is asked about places."""

    def __init__(
        self, goals: RequestedGoals, standing: Callable[[], StandingAt], hand: Sequence[str]
    ) -> None:
        self._goals, self._standing, self._hand = goals, standing, tuple(hand)
        self._newest = 0  # [ns] question
        self._said = {CHECKED: '', CHECK_REFUSED: '', CHECK_PICKS: ''}
        self._picks: PickedAgain | None = None
        self._is_shown = True  # what is picked again

    def listen(
        self,
        node: Node,
        planning: Planning,
        complain: Callable[[str], None],
        announce: Callable[[], None],
    ) -> None:
        """Hear questions from now on."""
        self._node, self._planning, self._announce = node, planning, announce
        Subscriptions(node, complain).add(String, PLACES, self._on_places, REQUESTS)

    def note_scene(self, boxes: Mapping[str, Box]) -> None:
        """Have the hand leave what is picked again, where it is shown again on the way in."""
        if self._picks is None:
            return
        is_shown = self._picks.name in boxes
        if is_shown and not self._is_shown:
            self._planning.note_rest(self._picks.way[-1])
        self._is_shown = is_shown

    def figures(self) -> dict[str, str]:
        """Return the answer to the newest question."""
        return dict(self._said)

    def _on_places(self, msg: String) -> None:
        stamp, told = places_of_text(msg.data)
        if stamp == self._newest:  # told again
            return
        self._newest = stamp
        places = [self._place(*each) for each in told]
        self._planning.beside(partial(self._look, places), partial(self._answer, stamp))

    def _place(self, name: str, where: JointState | PoseStamped) -> Place:
        """Return a place; frames count as they are known now."""
        try:
            return Place(name, self._goals.choices(where))
        except SafeSysidError as error:  # is said in its turn
            return Place(name, partial(_refused, str(error)))

    def _look(self, places: Sequence[Place]) -> tuple[str, PickedAgain | None]:
        """Why a place is refused, empty where none is, and what is picked again."""
        try:
            around = self._goals.surroundings()
            return '', reached_places(places, around, self._standing(), self._hand).again
        except SafeSysidError as error:
            return str(error), None

    def _answer(self, stamp: int, found: tuple[str, PickedAgain | None]) -> None:
        trouble, self._picks = found
        self._is_shown = True
        self._said = {
            CHECKED: str(stamp),
            CHECK_REFUSED: f'{stamp} {trouble}' if trouble else '',
            CHECK_PICKS: '' if self._picks is None else f'{stamp} {text_of_pick(self._picks)}',
        }
        if trouble:
            self._node.get_logger().warning(f'places of handle refused: {trouble}')
        self._announce()


def _refused(trouble: str, around: Surroundings) -> tuple[()]:
    del around
    raise GoalError(trouble)
