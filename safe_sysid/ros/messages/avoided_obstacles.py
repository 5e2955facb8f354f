"""AvoidedObstacles: obstacles of a world and those that somebody shows, and what RViz gets.

Frames, motions, lifetimes, patience and silence are judged by one clock, that of the arm: plans
are compared by it with what moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from visualization_msgs.msg import MarkerArray

from safe_sysid.arrays import Array
from safe_sysid.config import Angle, Finite, Positive, Settings
from safe_sysid.errors import ConfigError
from safe_sysid.measure.arm_clock import ArmClock
from safe_sysid.measure.stamp_ages import StampAges
from safe_sysid.model.collision.held_shapes import holds
from safe_sysid.model.collision.named_boxes import together
from safe_sysid.model.collision.region import RegionSettings
from safe_sysid.model.collision.world import read_world
from safe_sysid.model.frame_tree import FrameTree
from safe_sysid.model.placement import Placement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.rotation import rotation_from_rpy
from safe_sysid.ros.messages.arm_regions import OtherArms, OwnRegion, scenes_in
from safe_sysid.ros.messages.drawings import frame_of_base, obstacle_markers
from safe_sysid.ros.messages.heard_markers import HeardMarker
from safe_sysid.ros.messages.marker_changes import changes_in
from safe_sysid.ros.messages.obstacle_motions import MotionSettings, ObstacleMotions
from safe_sysid.ros.messages.placed_objects import PLACED_NAMES, placed_topic
from safe_sysid.ros.messages.qos import STATE
from safe_sysid.ros.messages.scene_topic import SceneTopic
from safe_sysid.ros.messages.scene_topics import PointSettings, scene_topics
from safe_sysid.ros.messages.transforms import Transforms
from safe_sysid.ros.messages.unread_topic import UnreadTopic
from safe_sysid.ros.messages.waiting_markers import WaitingMarkers
from safe_sysid.sets.box import Box

SECOND = 1e9  # [ns]
LOOK = 0.05  # [s] between two looks for lifetimes that ended and frames that moved
OVERDUE = 0.1  # [s] the same by the clock of the arm, as a simulator may be fast
FETCH = 0.01  # [s] between two looks for what was shown


Vector3 = tuple[Finite, Finite, Finite]
Angles = tuple[Angle, Angle, Angle]


@dataclass(frozen=True)
class CellSettings(Settings):
    """Where the base of the arm stands in a cell that it shares."""

    frame: str = ''  # of the cell; none: nobody says
    position: Vector3 = (0.0, 0.0, 0.0)  # [m] of the base in it
    rpy: Angles = (0.0, 0.0, 0.0)  # [rad], no degrees, about fixed axes x, y, z in this order

    @property
    def base(self) -> Placement:
        """The same as a placement."""
        return Placement(rotation_from_rpy(np.array(self.rpy)), np.array(self.position))


@dataclass(frozen=True)
class SceneSettings(Settings):
    """Where obstacles come from besides the world, and how old frames may be."""

    topic: str = 'obstacles'  # of markers; the same for all arms that share a scene
    others: tuple[str, ...] = ()  # namespaces of arms beside this one; no plan before their region
    cell: CellSettings = field(default_factory=CellSettings)
    region: RegionSettings = field(default_factory=RegionSettings)
    motion: MotionSettings = field(default_factory=MotionSettings)
    points: PointSettings = field(default_factory=PointSettings)
    awaited: bool = False  # whether a scene comes on the topic: no plan before its first message
    frame_age: Positive = 0.5  # [s] of a transform, between two, and of clouds that are ahead
    patience: Positive = 0.2  # [s] until a frame or stamp that is not known is a fault

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.others and not self.cell.frame:
            raise ConfigError(
                f'others are {list(self.others)} and cell.frame is empty; arms that share a cell '
                'need a frame of it in which each says where it stands'
            )
        if not all(name.startswith('/') for name in self.others):
            raise ConfigError(f'others are {list(self.others)}; each has to begin with /')


class AvoidedObstacles:
    """Boxes by name, in the frame of the base of an arm; tells when they are others."""

    def __init__(
        self,
        node: Node,
        model: RobotModel,
        world: str,
        settings: SceneSettings,
        clock: ArmClock,
        on_change: Callable[[], None],
    ) -> None:
        self._settings, self._clock, self._on_change = settings, clock, on_change
        self._looked = 0  # [ns] when lifetimes and frames were looked at last
        self._frame, self._topic = frame_of_base(model), settings.topic
        region, cell = settings.region.of(model), settings.cell
        self._walls = region.walls
        self._world = together(self._walls, read_world(world))
        # a link of an arm among others may have the name of one of theirs
        prefix = f'{node.get_namespace().strip("/")}/' if settings.others else ''
        fixed = {prefix + name: place for name, place in _fixed(model).items()}
        if cell.frame:
            fixed[cell.frame] = cell.base.inverse
        self.frames = frames = FrameTree(prefix + self._frame, fixed, settings.frame_age)
        moving = settings.motion.of(frames)
        scenes = scenes_in(frames, settings.patience, moving)
        now, is_held = clock.now, partial(_is_held, model, prefix)
        self._shown = scenes()
        self._others = OtherArms(node, settings.others, scenes, now, self._renew)
        self._waiting = waiting = WaitingMarkers(node, self._topic)
        points = settings.points
        ages = StampAges(
            clock, old=points.max_age, ahead=settings.frame_age, patience=settings.patience
        )
        self._topics = scene_topics(
            node, waiting.listener, points, scenes, is_held, ages, self._renew
        )
        self._topics.append(placed_topic(node, model, scenes(), prefix, now, self._renew))
        self._region = OwnRegion(node, region, cell.frame, cell.base) if cell.frame else None
        self._is_heard = False  # anything on the topic
        self._is_told = True  # what is avoided, to whoever looks at it
        self.boxes: dict[str, Box] = dict(self._world)
        self._avoided = node.create_publisher(MarkerArray, 'avoided', STATE)
        self._transforms = Transforms(node, frames, self._settle)
        self._motions = ObstacleMotions(node, moving, now, self._settle)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timers = [
            node.create_timer(LOOK, self._look, clock=steady),
            node.create_timer(FETCH, self._fetch, clock=steady),
        ]

    @property
    def is_known(self) -> bool:
        """Whether all that is in the way is known, so that plans may be made."""
        settled = (self._shown.is_settled, *(each.is_settled for each in self._sources))
        is_complete = self._waiting.is_discovered and not self._waiting.unclear
        are_named = not self._motions.unclear
        return all(settled) and not self.awaited and is_complete and are_named

    @property
    def _sources(self) -> list[OtherArms | SceneTopic | UnreadTopic]:
        """What shows obstacles besides markers."""
        return [self._others, *self._topics]

    @property
    def awaited(self) -> str:
        """What is waited for before the first plan; empty: nothing."""
        awaited = (each.awaited for each in self._sources)
        first = next((said for said in awaited if said), '')
        if first:
            return first
        if self._settings.awaited and not self._is_heard:
            return (
                f'waiting for the scene on topic {self._topic}; until it comes there are no plans'
            )
        return self._waiting.awaited

    @property
    def unclear(self) -> str:
        """What is not understood or not placed, a fault; empty: nothing."""
        others = [each.unclear for each in (self._waiting, self._motions, *self._sources)]
        trouble = self._shown.trouble(self.now()) or next((t for t in others if t), '')
        if not trouble:
            return ''
        also = self._motions.trouble, self._transforms.trouble
        return '; '.join([trouble, *(each for each in also if each not in trouble)])

    @property
    def placed(self) -> str:
        """Names of what was placed and is avoided."""
        return ', '.join(name for name in self.boxes if name.startswith(PLACED_NAMES))

    @property
    def drawn(self) -> dict[str, Box]:
        """What is avoided, but for the edges of the region."""
        return {name: box for name, box in self.boxes.items() if name not in self._walls}

    def now(self) -> int:
        """Return the time by which all is judged [ns]."""
        return self._clock.now()

    def note_sample(self, stamp: int) -> None:
        """Take the stamp of a sample [ns], by which time goes on."""
        change = self._clock.note(stamp)
        if change:
            for each in (self._shown, self._motions, *self._sources):
                each.shift(change)
        if change or self.now() - self._looked > OVERDUE * SECOND:
            self._settle()

    def note_position(self, q: Array) -> None:
        """Take where the arm is."""
        if self._region is not None:
            self._region.note_position(q)

    def discover(self) -> None:
        """Wait until who publishes is known; before that `is_known` is false, and is no plan."""
        self._waiting.discover()

    def close(self) -> None:
        """Stop listening."""
        self._waiting.close()

    def publish(self) -> None:
        """Say what is avoided, at the next look at which somebody listens."""
        self._is_told = False

    def _fetch(self) -> None:
        """Take all that has come as one message of each topic."""
        for topic in self._topics:
            topic.fetch()
        markers = self._waiting.take()
        if markers is not None:
            self._hear(markers)
            self._waiting.note_done()

    def _hear(self, markers: list[HeardMarker]) -> None:
        """Change what is shown, with the rules of RViz."""
        self._is_heard = True
        self._shown.apply(changes_in(markers), self.now())
        self._renew()

    def _tell(self) -> None:
        if not self._is_told and self._avoided.get_subscription_count():
            self._is_told = True
            self._avoided.publish(obstacle_markers(self.drawn, self._frame, 0))

    def _look(self) -> None:
        self._waiting.settle()  # asks the middleware; transforms come too often for that
        self._settle()

    def _settle(self) -> None:
        self._looked = self.now()
        self._shown.settle(self._looked)
        for source in self._sources:
            source.settle()
        self._renew()
        self._tell()

    def _renew(self) -> None:
        """Put all together."""
        topics = (topic.boxes for topic in self._topics)
        boxes = together(self._world, self._others.boxes, *topics, self._shown.boxes)
        if boxes.keys() != self.boxes.keys() or any(
            boxes[name] is not box for name, box in self.boxes.items()
        ):
            self.boxes = boxes
            self._on_change()


def _is_held(
    model: RobotModel, prefix: str, link: str, frame: str, boxes: tuple[Box, ...]
) -> bool:
    """Whether what is attached to a link, told in its frame, is part of the arm as it is known."""
    return frame.removeprefix('/') == prefix + link and holds(model, link, boxes)


def _fixed(model: RobotModel) -> dict[str, Placement]:
    """Links that do not move, in the frame of the base."""
    at_base = {name: frame for name, frame in model.frames.items() if frame.joint == -1}
    return {name: Placement(frame.R, frame.p) for name, frame in at_base.items()}
