"""What the arm has placed: the supervisor shows it on a topic of its own, the planner avoids it.

Each message says all that was placed and is there, and what was taken away lately, so whoever
comes later knows it, too. Anybody may take an object away by a DELETE of its namespace and id.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from rclpy.node import Node
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.arrays import Array
from safe_sysid.config import NotNegative, Settings
from safe_sysid.model.collision.capsules_to_box import box_about, clearances
from safe_sysid.model.collision.shown_scene import Change, ShownScene
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.messages.drawings import box_marker, frame_of_base
from safe_sysid.ros.messages.marker_changes import changes_of
from safe_sysid.ros.messages.qos import STATE
from safe_sysid.ros.messages.scene_topic import SceneTopic
from safe_sysid.sets.box import Box

TOPIC = 'placed'  # visualization_msgs/MarkerArray
PLACED_NAMES = f'{TOPIC}: '  # with which their names begin among the obstacles of the planner
NAMESPACE = 'object'
SECOND = 10**9  # [ns]
LARGEST = 2**31 - 1  # id of a marker
OWN = 'said by who placed it'  # text of markers of ours, which come back and are old by then
LATELY = 100  # objects that were taken away and are told again: a message may get lost


@dataclass(frozen=True)
class PlacedSettings(Settings):
    """How what was placed becomes an obstacle."""

    displaced: NotNegative = 0.01  # [m] that it may be off where it was let go: it falls, or tips
    touched_within: NotNegative = 0.0  # [rad] of every joint from the place, where what touches
    # something is let go as if it were there; 0: nowhere


class PlacedObjects:
    """Those that this arm has placed, as boxes about the shapes that it may have held."""

    def __init__(
        self, node: Node, arm: RobotModel, shapes: Sequence[str], settings: PlacedSettings
    ) -> None:
        self._arm, self._settings = arm, settings
        self._shapes = tuple(name for name in shapes if name in arm.capsules.names)
        self._frame = _frame(node, arm)
        self._there: dict[int, Box] = {}
        self._lent: dict[int, Box] = {}  # not shown while the hand goes to pick it
        self._gone: deque[int] = deque(maxlen=LATELY)
        self._publisher = node.create_publisher(MarkerArray, TOPIC, STATE)
        node.create_subscription(MarkerArray, TOPIC, self._hear, STATE)
        self.tell()

    @property
    def has_shape(self) -> bool:
        """Whether anybody has said how large it is."""
        return bool(self._shapes)

    @property
    def touched_within(self) -> float:
        """How far some joint may be from the place where a touch is one of it [rad]; 0: none."""
        return self._settings.touched_within

    def put(self, q: Array, stamp: int) -> str:
        """Show what was let go where the arm is; its name among the obstacles of the planner.

        It is numbered by the second [s] in which it was let go: a supervisor that is started again
        takes no number twice.
        """
        box = box_about(self._arm, self._shapes, q)
        assert box is not None
        number = stamp // SECOND % LARGEST
        while any(number in each for each in (self._there, self._lent, self._gone)):
            number += 1
        self._there[number] = box.plus_ball(self._settings.displaced)
        self.tell()
        return _name(number)

    def take(self, q: Array) -> list[str]:
        """Take away what the shapes that may be held touched at q, as it is in the hand now."""
        held = np.flatnonzero([name in self._shapes for name in self._arm.capsules.names])
        touched = [
            number
            for number, box in self._there.items()
            if len(held) and clearances(self._arm, q, held, box).min() <= 0.0
        ]
        for number in touched:
            self._forget(number)
        if touched:
            self.tell()
        return [_name(number) for number in touched]

    def knows(self, name: str) -> bool:
        """Whether an object is one of these, and shown."""
        return any(_name(number) == name for number in self._there)

    def lend(self, name: str) -> bool:
        """Show an object no more until it is given back; whether it is one of these."""
        number = next((each for each in self._there if _name(each) == name), None)
        if number is None:
            return False
        self._lent[number] = self._there.pop(number)
        self._gone.append(number)
        self.tell()
        return True

    def give_back(self, name: str) -> None:
        """Show what was lent where it was, unless somebody has taken it away."""
        number = next((each for each in self._lent if _name(each) == name), None)
        if number is None:
            return
        self._there[number] = self._lent.pop(number)
        self._gone = deque((each for each in self._gone if each != number), maxlen=LATELY)
        self.tell()

    def _forget(self, number: int) -> bool:
        is_lent = self._lent.pop(number, None) is not None
        is_known = self._there.pop(number, None) is not None
        if is_known:
            self._gone.append(number)
        return is_known or is_lent

    def _hear(self, msg: MarkerArray) -> None:
        """Forget what somebody has taken away; what is heard of this node itself is known.

        It is told at once, as who comes later may not hear of who took it away.
        """
        taken: list[int] = []
        for marker in msg.markers:
            if marker.text == OWN:
                continue
            if marker.action == Marker.DELETEALL and marker.ns in ('', NAMESPACE):
                taken += [*self._there, *self._lent]
            elif marker.action == Marker.DELETE and marker.ns == NAMESPACE:
                taken.append(marker.id)
        gone = [number for number in taken if self._forget(number)]
        if gone:
            self.tell()

    def tell(self) -> None:
        """Show again all that is there, and what was taken away lately."""
        there = [
            box_marker(box, self._frame, NAMESPACE, number) for number, box in self._there.items()
        ]
        told = {'ns': NAMESPACE, 'action': Marker.DELETE, 'text': OWN}
        gone = [Marker(id=each, **told) for each in self._gone]
        self._publisher.publish(MarkerArray(markers=[*there, *gone]))


def placed_topic(
    node: Node,
    arm: RobotModel,
    scene: ShownScene,
    prefix: str,
    now: Callable[[], int],
    on_change: Callable[[], None],
) -> SceneTopic:
    """Return what was placed, as an arm avoids it; its links have a prefix in the scene."""
    own, base = _frame(node, arm), prefix + frame_of_base(arm)

    def read(msg: MarkerArray) -> list[Change]:
        return [_in_base(change, own, base) for change in changes_of(msg)]

    return SceneTopic(node, TOPIC, (MarkerArray, (STATE,)), scene, read, now, on_change)


def _in_base(change: Change, own: str, base: str) -> Change:
    shown = change.shown
    if shown is None or shown.frame != own:
        return change
    return replace(change, shown=replace(shown, frame=base))


def _frame(node: Node, arm: RobotModel) -> str:
    """Frame of the base, by a name that no arm of another namespace has."""
    return f'{node.get_namespace().strip("/")}/{frame_of_base(arm)}'.lstrip('/')


def _name(number: int) -> str:
    return f'{PLACED_NAMES}{NAMESPACE}/{number}'
