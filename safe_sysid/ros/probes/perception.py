"""Somebody who shows many obstacles again and again, and counts the plans that come meanwhile.

Every message moves every box a little, so that all of them have changed. What each search came
to is heard from the planner. Prints one JSON object when its time is over; for `safe-sysid bench
ros`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
import json
from statistics import median
import sys
import time

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.arrays import Array
from safe_sysid.config import Count, Natural, Positive, Settings
from safe_sysid.plan.told_search import ToldSearch, told_search
from safe_sysid.ros.messages.codec import stamp_of
from safe_sysid.ros.messages.qos import HEALTH, PLANS, SHOWN
from safe_sysid.ros.process.configured_node import ConfiguredNode
from safe_sysid.ros.process.main import main_of
from safe_sysid.ros.process.parameters import read_config
from safe_sysid.ros.watch.health import heard_from

NEAREST, FARTHEST = 1.0, 1.4  # [m] from the vertical through the base
HIGHEST = 1.2  # [m]
MOVED = 0.005  # [m] by every message, at most
SIZE = 0.06  # [m] of the edges
SKIPPED = 2  # plans before the watch begins: the one that stands still, and the first that moves
SECOND = 1e9  # [ns]


@dataclass(frozen=True)
class PerceptionSettings(Settings):
    """Parameters of the probe."""

    frame: str = 'base_link'
    boxes: Count = 200
    rate: Positive = 10.0  # [Hz]
    measured: Positive = 60.0  # [s]
    seed: Natural = 0


class PerceptionProbe(ConfiguredNode):
    """Shows boxes all around the arm."""

    def __init__(self) -> None:
        super().__init__('perception')
        self._settings = settings = read_config(self, PerceptionSettings)
        self._rng = rng = np.random.default_rng(settings.seed)
        self._places = places = boxes_around(rng, settings.boxes)
        # made once, as it is the planner that is measured and not who shows boxes
        boxes = [box_marker(settings.frame, i, place) for i, place in enumerate(places)]
        self._shown = MarkerArray(markers=boxes)
        self._starts: list[int] = []  # of plans [ns]
        self._told: list[float] = []  # when they came [s]
        self._messages = 0
        self._searches: dict[tuple[int, str], ToldSearch] = {}
        self.exit_status: int | None = None
        self._shows = self.create_publisher(MarkerArray, 'obstacles', SHOWN)
        self.create_subscription(JointTrajectory, 'plan', self._on_plan, PLANS)
        self.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, HEALTH)
        self._timer = self.create_timer(1.0 / settings.rate, self._show)

    def _show(self) -> None:
        moved = self._places + self._rng.uniform(-MOVED, MOVED, self._places.shape)
        for marker, (x, y, z) in zip(self._shown.markers, moved.tolist(), strict=True):
            at = marker.pose.position
            at.x, at.y, at.z = x, y, z
        self._shows.publish(self._shown)
        self._messages += 1
        if len(self._told) > SKIPPED and self._watched > self._settings.measured:
            self._print()

    @property
    def _watched(self) -> float:
        return time.monotonic() - self._told[SKIPPED]

    def _on_plan(self, msg: JointTrajectory) -> None:
        start = stamp_of(msg.header.stamp)
        if start not in self._starts:
            self._starts.append(start)
            self._told.append(time.monotonic())
        if len(self._told) == SKIPPED + 1:
            self._messages = 0

    def _on_diagnostics(self, msg: DiagnosticArray) -> None:
        for status in (heard_from(each) for each in msg.status):
            if status is None or not status.name.endswith('/planner'):
                continue
            told = told_search(status.figures)
            if told is not None and len(self._told) > SKIPPED:
                self._searches[told.stamp, told.outcome.name] = told

    def _print(self) -> None:
        if self.exit_status is not None:
            return
        gaps = np.diff(np.sort(self._starts[SKIPPED:])) / SECOND
        taken = [each.seconds for each in self._searches.values()]
        figures = {
            'boxes': self._settings.boxes,
            'messages_hz': self._messages / self._watched,
            'plans': len(gaps),
            'seconds_per_plan': float(gaps.mean()) if len(gaps) else None,
            'longest_without_a_plan_s': float(gaps.max(initial=0.0)),
            'searches': Counter(each.outcome.name for each in self._searches.values()),
            'search_s': median(taken) if taken else None,
        }
        sys.stdout.write(f'{json.dumps(figures)}\n')
        sys.stdout.flush()
        self.exit_status = 0


def boxes_around(rng: np.random.Generator, count: int) -> Array:
    """Places all around an arm that it does not reach, (N, 3) [m]."""
    turn = rng.uniform(0.0, 2.0 * np.pi, count)
    away = rng.uniform(NEAREST, FARTHEST, count)
    height = rng.uniform(0.0, HIGHEST, count)
    return np.stack([away * np.cos(turn), away * np.sin(turn), height], axis=1)


def box_marker(frame: str, number: int, place: Array) -> Marker:
    """Return one box."""
    marker = Marker(ns='perception', id=number, type=Marker.CUBE)
    marker.header.frame_id = frame
    marker.pose.orientation.w = 1.0
    position = marker.pose.position
    position.x, position.y, position.z = place.tolist()
    marker.scale.x = marker.scale.y = marker.scale.z = SIZE
    return marker


def main() -> int:
    """Run the node."""
    return main_of(PerceptionProbe)


if __name__ == '__main__':
    sys.exit(main())
