"""Sequences of markers and transforms, and whether all that RViz would show is avoided.

The oracle is a dictionary and a few matrices: an ADD or MODIFY puts a solid under its name, a
DELETE takes it away, a DELETEALL all of them, a lifetime ends. A solid stays where its frame was
when it came, or goes with it. What nobody can make sense of has to stop planning instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
import json
import subprocess
import sys
from typing import Any

import numpy as np

from safe_sysid.arrays import Array

CUBE, SPHERE, CYLINDER = 1, 2, 3
ADD, DELETE, DELETE_ALL = 0, 2, 3
EVENTS = 24  # in a sequence
SECOND = 1_000_000_000
TOLERANCE = 1e-7  # [m] of a box that has to contain a point; messages and JSON keep all digits
FRESH = 0.5  # [s] for which the last word about a moving frame counts
FRAMES = ('base', 'base', 'camera', 'tool', 'nowhere')
PROBE = (sys.executable, '-m', 'safe_sysid.ros.probes.shown_obstacles')


@dataclass
class ObstacleVerdict:
    """Moments looked at, and those at which something shown is not avoided."""

    cases: int = 0
    violations: int = 0
    solids: int = 0  # that had to be avoided
    stopped: int = 0  # moments without plans, as something is not understood or not placed
    needless: int = 0  # of these, all was understood and placed
    broken: list[str] = field(default_factory=list)

    def add(self, other: ObstacleVerdict) -> None:
        """Count another one."""
        for name in ('cases', 'violations', 'solids', 'stopped', 'needless'):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.broken += other.broken


def shown(seed: int, numbers: range) -> ObstacleVerdict:
    """Return some sequences, all told to one process."""
    sequences = [_sequence(np.random.default_rng([seed, 4, number])) for number in numbers]
    text = '\n'.join(json.dumps(sequence) for sequence in sequences)
    done = subprocess.run(PROBE, input=text, capture_output=True, text=True, check=True)
    verdict = ObstacleVerdict()
    for number, events, line in zip(numbers, sequences, done.stdout.splitlines(), strict=True):
        verdict.add(compared(number, events, json.loads(line)))
    return verdict


def _sequence(rng: np.random.Generator) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    now = SECOND
    for _ in range(EVENTS):
        now += int(rng.choice([1, 20_000_000, 150_000_000, 400_000_000]))
        if rng.random() < 0.35:
            child = str(rng.choice(['camera', 'tool']))
            transform = {
                'parent': 'base', 'child': child, 'is_static': child == 'camera', **_pose(rng)
            }  # fmt: skip
            events.append({'at': now, 'transform': transform})
        else:
            markers = [_marker(rng) for _ in range(int(rng.integers(1, 4)))]
            events.append({'at': now, 'markers': markers})
    return events


def _pose(rng: np.random.Generator) -> dict[str, list[float]]:
    q = rng.normal(size=4)
    return {
        'position': rng.normal(size=3).tolist(),
        'quaternion': (q / np.linalg.norm(q)).tolist(),
    }


def _marker(rng: np.random.Generator) -> dict[str, Any]:
    action = int(rng.choice([ADD, DELETE, DELETE_ALL], p=[0.8, 0.17, 0.03]))
    kind = int(rng.choice([CUBE, SPHERE, CYLINDER, 99], p=[0.33, 0.32, 0.32, 0.03]))
    return {
        'ns': str(rng.choice(['', 'a', 'b/1'])),
        'id': int(rng.integers(-1, 3)),
        'type': kind,
        'action': action,
        'frame': str(rng.choice(FRAMES, p=[0.3, 0.25, 0.2, 0.22, 0.03])),
        'scale': (10.0 ** rng.uniform(-3.0, 0.0, size=3)).tolist(),
        'lifetime': int(rng.choice([0, 0, 1, 100_000_000, SECOND])),
        'frame_locked': bool(rng.random() < 0.3),
        **_pose(rng),
    }


@dataclass
class _Solid:
    """What somebody shows under a name."""

    points: Array | None  # (k, 3) that it contains, in its frame; None: nobody knows what it is
    frame: str
    goes_along: bool
    expires: float
    placed: Array | None = None  # (k, 3) in the base


class _Oracle:
    def __init__(self) -> None:
        self.solids: dict[tuple[str, int], _Solid] = {}
        self._frames: dict[str, tuple[int | None, Array, Array]] = {
            'base': (None, np.eye(3), np.zeros(3))
        }

    def take(self, event: dict[str, Any]) -> None:
        now = event['at']
        self.solids = {k: s for k, s in self.solids.items() if now < s.expires}
        if 'transform' in event:
            told = event['transform']
            stamp = None if told['is_static'] else now
            place = np.array(told['position'])
            self._frames[told['child']] = (stamp, _matrix(told['quaternion']), place)
        for marker in event.get('markers', []):
            self._show(marker, now)
        for solid in self.solids.values():
            self._place(solid, now)

    def _show(self, marker: dict[str, Any], now: int) -> None:
        key = marker['ns'], marker['id']
        if marker['action'] == DELETE_ALL:
            self.solids.clear()
        elif marker['action'] == DELETE:
            self.solids.pop(key, None)
        else:
            expires = now + marker['lifetime'] if marker['lifetime'] else np.inf
            points = _points(marker)
            if points is None:
                expires = np.inf
            solid = _Solid(points, marker['frame'], marker['frame_locked'], expires)
            self.solids[key] = solid

    def _place(self, solid: _Solid, now: int) -> None:
        """In the base; what goes along with a frame nobody has heard of lately is nowhere."""
        if solid.points is None or (solid.placed is not None and not solid.goes_along):
            return
        stamp, R, p = self._frames.get(solid.frame, (-SECOND, np.eye(3), np.zeros(3)))
        is_known = stamp is None or now - stamp <= FRESH * SECOND
        solid.placed = solid.points @ R.T + p if is_known else None


def _points(marker: dict[str, Any]) -> Array | None:
    """Points of a solid, on its surface where it reaches farthest."""
    half = 0.5 * np.array(marker['scale'])
    rng = np.random.default_rng(marker['id'] + 7)
    if marker['type'] == CUBE:
        unit = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1]), axis=-1).reshape(-1, 3)
    elif marker['type'] == SPHERE:
        unit = rng.normal(size=(40, 3))
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        unit = np.concatenate([unit, np.eye(3), -np.eye(3)])
    elif marker['type'] == CYLINDER:
        angle = np.concatenate([rng.uniform(0.0, 7.0, size=20), np.arange(4) * np.pi / 2])
        rim = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        unit = np.concatenate([np.c_[rim, np.full(24, -1.0)], np.c_[rim, np.ones(24)]])
    else:
        return None
    points: Array = (unit * half) @ _matrix(marker['quaternion']).T + marker['position']
    return points


def _matrix(quaternion: list[float]) -> Array:
    """Rotation of a unit quaternion w, x, y, z."""
    w, v = quaternion[0], quaternion[1:]
    K = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return np.asarray(np.eye(3) + 2.0 * w * K + 2.0 * K @ K)


def compared(
    number: int, events: list[dict[str, Any]], scenes: list[dict[str, Any]]
) -> ObstacleVerdict:
    """Every moment of a sequence."""
    oracle, verdict = _Oracle(), ObstacleVerdict()
    for moment, (event, scene) in enumerate(zip(events, scenes, strict=True)):
        oracle.take(event)
        solids = oracle.solids.values()
        is_clear = all(solid.placed is not None for solid in solids)
        verdict.cases += 1
        verdict.solids += len(solids)
        if not scene['is_settled']:
            verdict.stopped += 1
            verdict.needless += is_clear
            continue
        boxes = [np.array(box) for box in scene['boxes']]
        lost = [key for key, s in oracle.solids.items() if not _is_avoided(s, boxes)]
        if lost:
            verdict.violations += 1
            verdict.broken.append(f'sequence {number}, event {moment}: {lost} not avoided')
    return verdict


def _is_avoided(solid: _Solid, boxes: list[Array]) -> bool:
    if solid.points is None:
        return False  # plans are made although nobody knows what it is
    if solid.placed is None:
        return not solid.points.size
    return any(_contains(box, solid.placed) for box in boxes)


def _contains(box: Array, points: Array) -> bool:
    """Whether a cuboid with round edges contains all points."""
    beyond = np.abs((points - box[:3]) @ box[6:15].reshape(3, 3)) - box[3:6]
    return bool((np.linalg.norm(np.maximum(beyond, 0.0), axis=1) <= box[15] + TOLERANCE).all())
