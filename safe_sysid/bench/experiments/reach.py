"""Random plans and arms, and what the arm may really do: samples to try reachable sets with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import Tree
from safe_sysid.reach.error_balls import ErrorSet
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.sets.box import Box
from safe_sysid.sets.zonotope import Zonotope
from safe_sysid.simulate.random_arm import random_rotation, random_tree
from safe_sysid.trajectory.bezier import Bezier

# The published ranges of k of the Kinova Gen3, its plan duration, and where plans start.
KINOVA_RANGE = np.array([np.pi / 64] * 4 + [np.pi / 24] * 3)
DURATION = 3.0


@dataclass(frozen=True, eq=False)
class MotionSamples:
    """N states that the arm may be in, within the horizon and the tracking error."""

    interval: IntArray  # (N,) time interval
    x: Array  # (N, n) in [-1, 1]
    q: Array  # (N, n) true positions, and so on
    qd: Array
    qd_a: Array
    qdd_a: Array
    qd_d: Array  # desired velocity
    r: Array  # de/dt + K_r e


def kinova_with_dumbbell() -> RobotModel:
    """Return the arm of the published experiments, with their heaviest payload."""
    return RobotModel.named('kinova_gen3').with_payload(read_payload('dumbbell_8lb'))


def random_arm(rng: np.random.Generator, n: int) -> RobotModel:
    """Chain or tree with a capsule on every joint and on the base; pairs two joints apart."""
    model = random_tree(rng, n, serial=bool(rng.random() < 0.5), armature=rng.uniform(0.2, 2.0))
    joint = np.arange(-1, n)
    pairs = [(i, j) for i in range(n + 1) for j in range(i + 2, n + 1)]
    capsules = Capsules(
        tuple(f'body_{j}' for j in joint),
        joint,
        rng.normal(scale=0.1, size=(n + 1, 3)),
        rng.normal(scale=0.2, size=(n + 1, 3)),
        rng.uniform(0.01, 0.1, size=n + 1),
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
    )
    return replace(model, capsules=capsules)


def random_curve(rng: np.random.Generator, n: int, speed: float = 0.5) -> Bezier:
    """Curve that starts anywhere, in motion."""
    start = rng.uniform(-np.pi, np.pi, size=n)
    return Bezier(start, speed * rng.normal(size=n), speed * rng.normal(size=n), DURATION)


def random_horizon(
    rng: np.random.Generator, n: int, largest_range: float, degree: int, intervals: int = 128
) -> Horizon:
    """Plans around a random one."""
    k_center = rng.uniform(-0.5, 0.5, size=n)
    k_range = largest_range * rng.uniform(0.1, 1.0, size=n)
    return Horizon(random_curve(rng, n), k_center, k_range, intervals, degree)


class DrawnErrors(NamedTuple):
    """Tracking errors of N states, and the time intervals they are for, if not for all."""

    position: Array  # (N, n)
    velocity: Array  # (N, n)
    interval: IntArray | None = None  # (N,)


def box_errors(rng: np.random.Generator, error: TrackingError, count: int) -> DrawnErrors:
    """Position and velocity errors (N, n) that are bounded one by one."""
    shape = (count, len(error.position))
    position = error.position * _often_at_the_ends(rng, shape)
    return DrawnErrors(position, error.velocity * _often_at_the_ends(rng, shape))


def energy_errors(
    rng: np.random.Generator, error: TrackingError, errors: ErrorSet, count: int
) -> DrawnErrors:
    """Position and velocity errors (N, n) of an energy that is below V_M; velocities follow."""
    n = len(error.position)
    if len(errors.e):
        return _errors_along(rng, error, errors, count)
    position = _in_ball(rng, count, n) * errors.half_axes
    r = _in_ball(rng, count, n) * errors.half_axes * error.K_r.min()
    position = np.clip(position, -error.position, error.position)
    velocity = np.clip(r, -error.r_max, error.r_max) - error.K_r * position
    return DrawnErrors(position, velocity)


def _errors_along(
    rng: np.random.Generator, error: TrackingError, errors: ErrorSet, count: int
) -> DrawnErrors:
    """Errors in the ellipsoids of their time intervals, and in all bounds joint by joint."""
    n = len(error.position)
    interval = np.asarray(rng.integers(len(errors.e), size=count))
    r, e = (
        (factors[interval] @ _in_ball(rng, count, n)[..., None])[..., 0]
        for factors in (errors.r, errors.e)
    )
    r, e = _within(r, error.r_max), _within(e, error.position)
    return DrawnErrors(e, r - error.K_r * e, interval)


def _within(x: Array, bound: Array) -> Array:
    """Shorten vectors (N, n) until every entry is within its bound."""
    excess = (np.abs(x) / bound).max(axis=1, keepdims=True)
    shorter: Array = x / np.maximum(excess, 1.0)
    return shorter


def sample_motion(
    rng: np.random.Generator,
    horizon: Horizon,
    K_r: Array,
    errors: DrawnErrors,
) -> MotionSamples:
    """States anywhere in the sets, often on their boundaries, with these tracking errors."""
    e, ed, interval = errors
    count, n = e.shape
    if interval is None:
        interval = np.asarray(rng.integers(horizon.intervals, size=count))
    begin, end = horizon.time.lower[interval], horizon.time.upper[interval]
    share = 0.5 + 0.5 * _often_at_the_ends(rng, (count, 1))[:, 0]
    t = np.clip(begin + share * (end - begin), begin, end)
    x = _often_at_the_ends(rng, (count, n))
    k = horizon.k_center + horizon.k_range * x
    position, velocity, acceleration = (horizon.curve.derivative(i, t, k) for i in range(3))
    return MotionSamples(
        interval,
        x,
        position - e,
        velocity - ed,
        velocity + K_r * e,
        acceleration + K_r * ed,
        velocity,
        ed + K_r * e,
    )


def _in_ball(rng: np.random.Generator, count: int, n: int) -> Array:
    """Points of the unit ball, half of them on its surface."""
    points = rng.normal(size=(count, n))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    inside: Array = points * np.where(rng.random((count, 1)) < 0.5, 1.0, rng.random((count, 1)))
    return inside


def _often_at_the_ends(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Numbers in [-1, 1]; in half of the rows each one is -1 or 1."""
    inside, ends = rng.uniform(-1.0, 1.0, size=shape), rng.choice([-1.0, 1.0], size=shape)
    return np.where(rng.random((shape[0], 1)) < 0.5, inside, ends)


def joint_poses(tree: Tree, q: Array) -> tuple[Array, Array]:
    """Rotation and origin of every joint frame in the base frame; (N, n, 3, 3) and (N, n, 3)."""
    count, n = q.shape
    R, p = np.empty((count, n, 3, 3)), np.empty((count, n, 3))
    for i in range(n):
        up, a, R0 = int(tree.parent[i]), tree.axis[i], tree.R_parent_joint[i]
        R_up = R[:, up] if up >= 0 else np.broadcast_to(np.eye(3), (count, 3, 3))
        p_up = p[:, up] if up >= 0 else np.zeros((count, 3))
        angle, slide = (0.0 * q[:, i], q[:, i]) if tree.is_prismatic[i] else (q[:, i], 0 * q[:, i])
        S = np.cross(np.eye(3), a)
        turn = np.eye(3) + np.sin(angle)[:, None, None] * S
        turn = turn + (1.0 - np.cos(angle))[:, None, None] * (S @ S)
        R[:, i] = R_up @ R0 @ turn
        offset = tree.p_parent_joint[i] + slide[:, None] * (R0 @ a)
        p[:, i] = p_up + (R_up @ offset[:, :, None])[..., 0]
    return R, p


def placed_points(tree: Tree, q: Array, joint: IntArray, points: Array) -> Array:
    """Points fixed to joints (-1: the base) in the base frame; (N, n) and (P,), (P, 3)."""
    R, p = joint_poses(tree, q)
    R = np.concatenate([R, np.broadcast_to(np.eye(3), (len(q), 1, 3, 3))], axis=1)
    p = np.concatenate([p, np.zeros((len(q), 1, 3))], axis=1)  # entry -1 is the base
    placed: Array = p[:, joint] + (R[:, joint] @ points[None, :, :, None])[..., 0]
    return placed


def random_obstacles(rng: np.random.Generator, count: int, distance: float = 0.7) -> Obstacles:
    """Boxes and zonotopes in turn, all around the base at about this distance [m]."""
    shapes: dict[str, Box | Zonotope] = {}
    for i in range(count):
        direction = rng.normal(size=3)
        center = direction / np.linalg.norm(direction) * distance * rng.uniform(0.7, 1.3)
        if i % 2:
            generators = rng.uniform(-0.1, 0.1, size=(4, 3))
            shapes[f'zonotope_{i}'] = Zonotope(center, generators)
        else:
            half_sizes = rng.uniform(0.02, 0.15, size=3)
            shapes[f'box_{i}'] = Box(center, half_sizes, random_rotation(rng))
    return Obstacles.of(shapes)
