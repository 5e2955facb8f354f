"""HeardRun: what a loop says becomes what its page has to be told."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
import time
from typing import Any

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.audit.bag_plans import RecordedPlans, estimate_in, stamp_in, stamp_of
from safe_sysid.audit.bag_settings import (
    RecordedSettings,
    arm_with,
    parameters_by_node,
    recorded_settings,
)
from safe_sysid.audit.loop_of_bag import CERTIFIED, ESTIMATES, FOLLOWED, MODES, SAMPLES, TORQUES
from safe_sysid.errors import MeasurementError, MessageError, SafeSysidError
from safe_sysid.identify.estimate_series import EstimateSeries
from safe_sysid.live.loop_listener import Heard, Nodes, Parameters
from safe_sysid.measure.bag.messages import BagMessage
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.single_publisher import SinglePublisherCheck
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.inertia import LABELS, UNITS
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.placement import Placement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.message import PlanNotice, name_of, plan_notice
from safe_sysid.report.arm_scene import (
    arm_scene,
    box_corners,
    drawn_capsules,
    motion_of,
    placed_capsules,
    plan_occupancy,
)
from safe_sysid.report.held_body import held_body
from safe_sysid.report.nearest_point import changing_pairs, nearest_points
from safe_sysid.report.page_scene import Motion, Nearest, ScenePart, part_data, scene_data
from safe_sysid.sets.box import Box
from safe_sysid.trajectory.plan import Plan

AVOIDED = '/avoided'
OFFSET = 2  # numbers before the torques of a command
PLANNER, OTHERS = 'planner', ('identifier', 'controller')  # who says which arm it is
POSES, SEED = 64, 1  # random poses that tell which distances change at all
KEPT = 4  # newest messages of a topic, as many as plans are kept
AWAY = 10.0  # [s] between samples of one run at most, backwards a tenth of it
CUBE = 1  # of visualization_msgs/Marker

Event = dict[str, Any]


@dataclass
class HeardRun:
    """Takes what is heard, in the order it comes, and tells a page what it needs."""

    tell: Callable[[Event], None]
    _texts: dict[str, str] = field(default_factory=dict)  # parameters by node
    _nodes: tuple[str, ...] = ()
    _run: _Run | None = None  # none before it is known which arm it is
    _sources: SinglePublisherCheck = field(default_factory=SinglePublisherCheck)  # of samples
    _kept: dict[str, deque[BagMessage]] = field(default_factory=dict)  # states, for a new scene

    def take(self, heard: Heard) -> None:
        """Take a message, or what is said of the nodes; what makes no sense is told."""
        try:
            if isinstance(heard, Nodes):
                self._nodes = heard.names
            elif isinstance(heard, Parameters):
                node = heard.text.partition(':')[0].rpartition('/')[2]
                self._texts[node] = heard.text
                if node in (PLANNER, *OTHERS):
                    self._begin()
            else:
                self._take_message(heard)
        except SafeSysidError as error:
            self.tell({'kind': 'trouble', 'trouble': str(error)})

    def _begin(self) -> None:
        """Begin a scene, as soon as somebody said which arm it is who knows best."""
        known = _settings_of(self._texts)
        waits = PLANNER in self._nodes and not isinstance(known, RecordedSettings)
        if known is None or waits:
            return
        self._run = _Run(known, self.tell)
        for message in [each for kept in self._kept.values() for each in kept]:
            self._run.take(message)

    def _take_message(self, message: BagMessage) -> None:
        if message.topic == SAMPLES and not self._counts(message):
            return
        if self._run is not None and self._run.is_over(message):
            self._run = _Run(self._run.known, self.tell)
        if message.topic not in (SAMPLES, TORQUES):
            kept = self._kept.setdefault(message.topic, deque(maxlen=KEPT))
            kept.append(message)
        if self._run is not None:
            self._run.take(message)

    def _counts(self, sample: BagMessage) -> bool:
        """Whether a sample is of this arm, makes sense, and nobody else's."""
        if self._run is None or not self._run.is_of_arm(sample.data):
            return False
        return self._sources.accepts(sample.data.header.frame_id, time.monotonic())


def _settings_of(texts: dict[str, str]) -> RecordedSettings | RobotModel | None:
    """Return the settings of a planner; else the arm that another node has."""
    if PLANNER in texts:
        return recorded_settings(list(texts.values()))
    said = parameters_by_node(list(texts.values()))
    known = next((said[node] for node in OTHERS if node in said), None)
    return None if known is None else arm_with(known)


class _Run:
    """A run of one arm; its clock begins with its first sample."""

    def __init__(
        self, known: RecordedSettings | RobotModel, tell: Callable[[Event], None]
    ) -> None:
        self.known, self._tell = known, tell
        self._settings = known if isinstance(known, RecordedSettings) else None
        self._model = known.model if isinstance(known, RecordedSettings) else known
        self._obstacles = Obstacles.of({} if self._settings is None else self._settings.boxes)
        self._clock: Clock | None = None
        self._newest = 0  # stamp [ns]
        self._use = np.zeros(self._model.n)
        self._told = b''  # newest estimate
        self._mode = ''
        self._plans = None if self._settings is None else RecordedPlans(self._settings)
        self._followed: Plan | None = None
        self._asked: PlanNotice | None = None  # followed, but not certified here yet
        self._count = 0
        self._waiting: list[BagMessage] = []  # for the first sample

    def is_over(self, message: BagMessage) -> bool:
        """Whether a sample is of another run."""
        if message.topic != SAMPLES or self._clock is None:
            return False
        ahead = 1e-9 * (stamp_of(message.data.header.stamp) - self._newest)
        return not -0.1 * AWAY < ahead < AWAY

    def is_of_arm(self, data: Any) -> bool:
        """Whether a message has the joints of the arm, or raise an error if it makes no sense."""
        names, told = self._model.layout.joint_names, list(data.name)
        if not set(names) <= set(told):
            return False
        if len(set(told)) < len(told) or len(told) != len(data.position):
            raise MeasurementError(
                f'joint_states has {len(data.position)} positions of joints {told}; one of each '
                'joint is needed'
            )
        return True

    def take(self, message: BagMessage) -> None:
        """Take one message; what comes before the first sample waits for it."""
        data = message.data
        if message.topic == SAMPLES:
            self._take_sample(data)
        elif self._clock is None:
            self._waiting.append(message)
        elif message.topic == TORQUES:
            torque = np.abs(np.asarray(data.data[OFFSET:], dtype=np.float64))
            if len(torque) == self._model.n and np.isfinite(torque).all():
                self._use = torque / self._model.limits.torque
        elif message.topic == ESTIMATES:
            self._take_estimate(data)
        elif message.topic == CERTIFIED and self._plans is not None:
            estimate = estimate_in(data, self._model.layout)
            self._plans.estimates[name_of(estimate)] = estimate
            self._follow()
        elif message.topic == FOLLOWED:
            names = self._model.layout.joint_names
            self._asked = plan_notice(data, names) if data.points else None
            self._follow()
        elif message.topic == MODES:
            self._take_mode(data.data)
        elif message.topic == AVOIDED:
            self._take_boxes(data)

    @property
    def _now(self) -> float:
        return 0.0 if self._clock is None else self._clock.seconds(self._newest)

    def _take_sample(self, data: Any) -> None:
        told = list(data.name)
        order = [told.index(name) for name in self._model.layout.joint_names]
        self._newest = stamp_of(data.header.stamp)
        q = np.asarray(data.position, dtype=np.float64)[order]
        if not np.isfinite(q).all():
            return
        if self._clock is None:
            self._clock = Clock(self._newest)
            self._tell({'kind': 'scene', 'scene': self._scene(q), 'arm': self._arm()})
            waiting, self._waiting = self._waiting, []
            for message in waiting:
                self.take(message)
        motion = motion_of(self._model, np.array([self._now]), q[None])
        part = ScenePart(motion, self._use[None], self._nearest(motion))
        self._tell({'kind': 'pose', 'part': part_data(part)})

    def _scene(self, q: Array) -> dict[str, Any]:
        """Return the scene at the first sample."""
        scene = arm_scene(self._model, np.zeros(1), q[None], self._obstacles)
        nearest = self._nearest(scene.motion)
        room = self._poses.origin.reshape(-1, 3)
        around = {'room': [room.min(axis=0).round(3).tolist(), room.max(axis=0).round(3).tolist()]}
        return scene_data(replace(scene, nearest=nearest, use=self._use[None])) | around

    def _arm(self) -> dict[str, Any]:
        return {'name': self._model.name, 'labels': list(LABELS), 'units': list(UNITS)}

    def _nearest(self, motion: Motion) -> Nearest:
        """Return what is nearest; infinitely far where nothing is in the way."""
        capsules = drawn_capsules(self._model)
        placed = placed_capsules(capsules, motion)
        found = nearest_points(capsules, placed, self._obstacles, self._changing)
        return found or Nearest(np.full(1, np.inf), np.zeros((1, 2, 3)), ('',))

    @cached_property
    def _poses(self) -> Motion:
        """Return poses of the arm anywhere in its limits."""
        limits, rng = self._model.limits, np.random.default_rng(SEED)
        ends = limits.position_lower, limits.position_upper
        low, high = (np.clip(end, -np.pi, np.pi) for end in ends)
        q = rng.uniform(low, high, size=(POSES, self._model.n))
        return motion_of(self._model, np.arange(float(POSES)), q)

    @cached_property
    def _changing(self) -> AnyArray:
        """Pairs that come nearer in some pose; the others say nothing."""
        capsules = drawn_capsules(self._model)
        return changing_pairs(capsules, placed_capsules(capsules, self._poses), self._obstacles)

    def _take_estimate(self, data: Any) -> None:
        """Where it is another one than before."""
        numbers = bytes(data.data[OFFSET:])
        if numbers == self._told:
            return
        self._told = numbers
        if not np.isfinite(data.data).all():
            raise MessageError(f'{ESTIMATES} is not finite')
        estimate = estimate_in(data, self._model.layout)
        self._tell({'kind': 'bounds', 'bounds': self._bounds(estimate)})
        bounds = estimate.end_effector_bounds
        series = EstimateSeries(
            np.array([self._stamped(stamp_in(data))]),
            estimate.end_effector[None],
            bounds.lower[None],
            bounds.upper[None],
        )
        held = held_body(series, self._model.layout.tip, None)
        if held is not None:
            self._tell({'kind': 'held', 'part': part_data(ScenePart(held=held))})

    def _stamped(self, stamp: int) -> float:
        assert self._clock is not None
        return max(0.0, self._clock.seconds(stamp))

    def _bounds(self, estimate: ParameterEstimate) -> dict[str, Any]:
        bounds = estimate.end_effector_bounds
        rows = (bounds.lower, estimate.end_effector, bounds.upper)
        lower, nominal, upper = ([float(f'{x:.6g}') for x in row] for row in rows)
        return {'time': self._now, 'lower': lower, 'nominal': nominal, 'upper': upper}

    def _follow(self) -> None:
        """Draw what the plan in force may reach, once it is known what it was certified for."""
        asked, plans = self._asked, self._plans
        if asked is None or plans is None or asked.certified_for not in plans.estimates:
            return
        assert self._clock is not None
        self._asked = None
        self._followed = plans.certified_as(asked, self._clock, self._followed)
        self._count += 1
        pieces = plan_occupancy(self._followed)
        numbered = tuple(replace(piece, plan=self._count) for piece in pieces)
        part = part_data(ScenePart(occupancy=numbered))
        self._tell(
            {'kind': 'plan', 'part': part, 'plan': [self._followed.start_time, self._count]}
        )

    def _take_mode(self, mode: str) -> None:
        if mode != self._mode:
            self._mode = mode
            self._tell({'kind': 'mode', 'mode': [self._now, mode]})

    def _take_boxes(self, data: Any) -> None:
        boxes = {
            f'{m.ns}/{m.id}': _box(m) for m in data.markers if m.type == CUBE and not m.action
        }
        self._obstacles = Obstacles.of(boxes)
        self.__dict__.pop('_changing', None)
        part = ScenePart(boxes=box_corners(self._obstacles))
        self._tell({'kind': 'boxes', 'part': part_data(part)})


def _box(marker: Any) -> Box:
    at, turn, size = marker.pose.position, marker.pose.orientation, marker.scale
    if not np.isfinite([at.x, at.y, at.z, size.x, size.y, size.z]).all():
        raise MessageError(f'{marker.ns}/{marker.id} of {AVOIDED} is not finite')
    place = Placement.of((at.x, at.y, at.z), (turn.w, turn.x, turn.y, turn.z))
    return Box(place.p, 0.5 * np.array([size.x, size.y, size.z]), place.R)
