"""Scenes of the stacking tasks: one motion for all methods and loads, and what stands around it.

The motion is that of smallest jerk through a via point, made for the heaviest dumbbell. A scene
whose motion asks for more torque than the arm has, or touches something, is refused: then the
scene would fail, not a method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import from_mapping, read_yaml
from safe_sysid.errors import ConfigError
from safe_sysid.model.collision.contact import ContactGauge
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.dynamics.inverse_dynamics import inverse_dynamics
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.box import Box
from safe_sysid.share import share_directory
from safe_sysid.trajectory.task_motion import TaskMotion, minimum_jerk

ROBOT, HEAVIEST = 'kinova_gen3', 'dumbbell_8lb'
TORQUE_SHARE = 0.9  # of the limit that the motion may ask for with the heaviest dumbbell
SAMPLE = 0.01  # [s] between two looks at distances
PLATE = np.array([0.03, 0.005, 0.03])  # [m] half sizes of the walls of the narrow path
GAPS = (20.0, 10.0, 5.0)  # [mm] that are compared
FARTHEST = 0.5  # [m] of such a wall from the path
Vector = tuple[float, ...]


@dataclass(frozen=True)
class SceneBox:
    """A box along the axes of the base."""

    center: tuple[float, float, float]  # [m]
    size: tuple[float, float, float]  # [m] whole edges


@dataclass(frozen=True)
class SceneFile:
    """What config/experiments/stacking.yaml says of a scene."""

    start: Vector  # [rad] joints where the dumbbell is held first
    via: Vector
    goal: Vector
    obstacles: dict[str, SceneBox]
    gap_mm: float = 0.0  # [mm] that walls leave beside the nominal motion; 0: there are none


@dataclass(frozen=True, eq=False)
class Scene:
    """A motion, and what it must not touch."""

    name: str
    motion: TaskMotion
    shapes: Mapping[str, Box]

    @property
    def obstacles(self) -> Obstacles:
        """The same for certificates."""
        return Obstacles.of(dict(self.shapes))

    @property
    def is_path(self) -> bool:
        """Whether only the way counts, and nothing is put down."""
        return self.name == 'c'


def scene_names() -> tuple[str, ...]:
    """Tasks of the table."""
    return ('a', 'b', 'c')


@lru_cache
def scene_of(name: str, gap_mm: float | None = None) -> Scene:
    """Read a scene, and see that its motion is possible with the heaviest dumbbell.

    gap_mm: between walls and the motion, instead of that of the file.
    """
    path = share_directory() / 'config' / 'experiments' / 'stacking.yaml'
    every = read_yaml(path)
    if name not in every:
        raise ConfigError(f"there is no task '{name}' in {path}, there are {list(every)}")
    file = from_mapping(SceneFile, every[name], f'{path}, {name}')
    heavy = RobotModel.named(ROBOT).with_payload(read_payload(HEAVIEST))
    rest = np.zeros(heavy.n)
    motion = minimum_jerk(
        (np.array(file.start), rest, rest), np.array(file.via), np.array(file.goal)
    )
    shapes = {
        each: Box(np.array(box.center), 0.5 * np.array(box.size), np.eye(3))
        for each, box in file.obstacles.items()
    }
    gap = file.gap_mm if gap_mm is None else gap_mm
    if gap > 0.0:
        shapes |= walls(heavy, motion, 1e-3 * gap)
    scene = Scene(name, motion, shapes)
    _refuse_impossible(heavy, scene)
    return scene


def payload_place(model: RobotModel, q: Array) -> tuple[Array, Array]:
    """Middle of the dumbbell (3,) [m] and the direction of its bar (3,), in the base frame."""
    R, p = joint_frames(model, q)
    a, b = model.capsules.a[-1], model.capsules.b[-1]
    bar = R[-1] @ (b - a)
    return np.asarray(R[-1] @ (0.5 * (a + b)) + p[-1]), bar / np.linalg.norm(bar)


def walls(model: RobotModel, motion: TaskMotion, gap: float) -> dict[str, Box]:
    """Return walls left, right and below the middle of a motion, within a gap [m] of the arm."""
    q = _positions(motion)
    places = np.array([payload_place(model, each)[0] for each in q])
    middle = len(q) // 2
    along = places[middle + 1] - places[middle - 1]
    side = np.cross([0.0, 0.0, 1.0], along)
    side /= np.linalg.norm(side)
    ahead = np.cross(side, [0.0, 0.0, 1.0])
    axes = np.stack([ahead, side, np.cross(ahead, side)], axis=1)
    found = {}
    ways = {'wall_left': side, 'wall_right': -side, 'sill': np.array([0.0, 0.0, -1.0])}
    for name, way in ways.items():
        flat = PLATE if name != 'sill' else PLATE[[0, 2, 1]]

        def beside(distance: float, way: Array = way, flat: Array = flat) -> Box:
            return Box(places[middle] + distance * way, flat, axes)

        near, far = 0.0, FARTHEST
        for _ in range(30):
            distance = 0.5 * (near + far)
            box = {name: beside(distance)}
            if clearance_to(model, box, q[::2]) < gap:
                near = distance
            else:
                far = distance
        found[name] = beside(far)
    return found


def clearance_to(model: RobotModel, shapes: Mapping[str, Box], q: Array) -> float:
    """Smallest distance [m] of the moving arm to boxes over positions (N, n); below 0: contact."""
    gauge = ContactGauge(model, shapes)
    still = {model.capsules.names[c] for c in np.flatnonzero(model.capsules.joint < 0)}
    to_boxes = [
        i for i, (link, box) in enumerate(gauge.pairs) if box in shapes and link not in still
    ]
    return float(min(gauge.distances(each)[to_boxes].min() for each in q))


def own_clearance(model: RobotModel, q: Array) -> float:
    """Smallest distance [m] of the arm to itself over positions (N, n)."""
    gauge = ContactGauge(model)
    return float(min(gauge.distances(each).min() for each in q))


def _positions(motion: TaskMotion) -> Array:
    times = np.arange(0.0, motion.duration + 0.5 * SAMPLE, SAMPLE)
    return np.array([motion.desired(t)[0] for t in times])


def _refuse_impossible(model: RobotModel, scene: Scene) -> None:
    times = np.arange(0.0, scene.motion.duration, SAMPLE)
    q, qd, qdd = np.array([scene.motion.desired(t) for t in times]).transpose(1, 0, 2)
    share = np.abs(inverse_dynamics(model, q, qd, qdd) / model.limits.torque).max()
    speed = np.abs(qd / model.limits.velocity).max()
    free = min(clearance_to(model, scene.shapes, q), own_clearance(model, q))
    limits = model.limits
    inside = np.all((q >= limits.position_lower) & (q <= limits.position_upper))
    if share > TORQUE_SHARE or speed > 1.0 or free <= 0.0 or not inside:
        raise ConfigError(
            f'the scene of task {scene.name} is impossible: its motion with {HEAVIEST} asks for '
            f'{share:.2f} of a torque limit ({TORQUE_SHARE} is allowed) and {speed:.2f} of a '
            f'velocity limit, and is {free:.3f} m from contact'
        )
