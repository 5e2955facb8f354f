"""Regions of arms that share a cell: one's own is told, those of the others are avoided.

Each is a state that is kept for who comes later, in the frame of the cell. It is told as soon as
the arm was seen, and wider where the arm is seen outside: then it may be anywhere that it reaches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from rclpy.node import Node
from visualization_msgs.msg import MarkerArray

from safe_sysid.arrays import Array
from safe_sysid.model.collision.region import Region
from safe_sysid.model.collision.shown_scene import Change, ShownScene
from safe_sysid.model.frame_tree import FrameTree
from safe_sysid.model.moving_frames import MovingFrames
from safe_sysid.model.placement import Placement
from safe_sysid.ros.messages.drawings import obstacle_markers
from safe_sysid.ros.messages.marker_changes import changes_of
from safe_sysid.ros.messages.qos import STATE
from safe_sysid.sets.box import Box

TOPIC = 'region'


class OwnRegion:
    """Tells where this arm may be; `base` is where its base stands in the frame of the cell."""

    def __init__(self, node: Node, region: Region, frame: str, base: Placement) -> None:
        self._region, self._frame, self._base = region, frame, base
        self._is_inside: bool | None = None  # None: the arm was not seen yet
        self._publisher = node.create_publisher(MarkerArray, TOPIC, STATE)

    def note_position(self, q: Array) -> None:
        """Take where the arm is."""
        is_inside = self._region.contains(q)
        if is_inside is self._is_inside:
            return
        self._is_inside = is_inside
        region = self._region if is_inside else Region.anywhere(self._region.model)
        placed = {name: self._base.of_box(box) for name, box in region.boxes.items()}
        self._publisher.publish(obstacle_markers(placed, self._frame, 0))


class OtherArms:
    """Hears where other arms may be, each by the namespace of its nodes."""

    def __init__(
        self,
        node: Node,
        others: Sequence[str],
        scene: Callable[[], ShownScene],
        now: Callable[[], int],
        on_change: Callable[[], None],
    ) -> None:
        self._scenes = {name: scene() for name in others}
        self._heard: set[str] = set()
        self._now, self._on_change = now, on_change
        for name in others:
            topic = f'{name.rstrip("/")}/{TOPIC}'
            node.create_subscription(MarkerArray, topic, partial(self._hear, name), STATE)

    @property
    def boxes(self) -> dict[str, Box]:
        """What they may touch."""
        return {
            f'{name}: {key}': box
            for name, scene in self._scenes.items()
            for key, box in scene.boxes.items()
        }

    @property
    def is_settled(self) -> bool:
        """Whether all that was told is understood."""
        return all(scene.is_settled for scene in self._scenes.values())

    @property
    def awaited(self) -> str:
        """Who has not said yet where it may be; empty: nobody."""
        missing = [name for name in self._scenes if name not in self._heard]
        if not missing:
            return ''
        return f'waiting for {TOPIC} of {missing}; until it comes there are no plans'

    @property
    def unclear(self) -> str:
        """What is not understood."""
        return next((t for s in self._scenes.values() if (t := s.trouble(self._now()))), '')

    def settle(self) -> None:
        """Place what could not be placed before."""
        for scene in self._scenes.values():
            scene.settle(self._now())

    def shift(self, change: int) -> None:
        """Have what is counted from an arrival go on over a jump of the clock [ns]."""
        for scene in self._scenes.values():
            scene.shift(change)

    def _hear(self, name: str, msg: MarkerArray) -> None:
        """Take the whole of what an arm says of itself."""
        self._heard.add(name)
        self._scenes[name].apply([Change(''), *changes_of(msg)], self._now())
        self._on_change()


def scenes_in(
    frames: FrameTree, patience: float, moving: MovingFrames
) -> Callable[[], ShownScene]:
    """Return what makes scenes in the frames of an arm."""
    return lambda: ShownScene(frames, patience, moving)
