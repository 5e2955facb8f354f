"""Poses in which a shipped arm touches itself with what it holds, yet is certified as standing.

Links and payload are taken from the files themselves and placed by kinematics of our own; coal
says how far shapes are apart. What is touching: a capsule of the payload with a capsule of the arm
or a shape of its URDF, or two shapes of the URDF on bodies that no single joint joins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from xml.etree import ElementTree

import coal
import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.falsification.dynamics import posed
from safe_sysid.bench.experiments.falsification.mechanisms import (
    Description,
    numbers,
    origin,
    turn_of,
)
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.facts import facts_path, read_facts, urdf_path
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.payload import Payload, read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.search.best_plan import Budget, SearchSettings, stand_still
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.share import payload_names, robot_names
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.bezier import Bezier

LOOKS = 60  # poses at which pairs are looked at that might touch in every one
DRAWS, STEPS = 6, 300  # of poses, and towards contact from the nearest of them
EDGE = 0.02  # share of the range of a joint that poses keep from its limits
KNOWN = 1e-3  # share to which parameters are known, so that little but contact is in the way
ARMATURE = 5.0  # [kg m^2] of arms whose files say 0
STILL = 3.0  # [s]
DEEP = 0.01  # [m] of contact that is enough


@dataclass(frozen=True)
class Solid:
    """A shape on a joint (-1: the base)."""

    name: str
    joint: int
    R: Array  # in the joint frame
    p: Array
    shape: coal.ShapeBase
    is_held: bool = False
    is_capsule: bool = False


@dataclass(frozen=True, eq=False)
class HoldingArm:
    """An arm with a payload, as the package sees it and as we do."""

    model: RobotModel
    mechanism: object
    solids: tuple[Solid, ...]
    pairs: tuple[tuple[int, int], ...]  # of solids that must not touch


@dataclass
class ContactVerdict:
    """Poses asked for, certified ones, and those that touch all the same."""

    poses: int = 0
    certified: int = 0
    contacts: int = 0
    broken: list[str] | None = None

    def add(self, other: ContactVerdict) -> None:
        """Count another one."""
        self.poses += other.poses
        self.certified += other.certified
        self.contacts += other.contacts
        self.broken = (self.broken or []) + (other.broken or [])


def holdings() -> list[tuple[str, str]]:
    """Every arm that has shapes with every payload that says how it is held there."""
    arms = [name for name in robot_names() if read_facts(facts_path(name)).collision.shapes]
    payloads = [read_payload(name) for name in payload_names()]
    return [(arm, each.name) for arm in arms for each in payloads if arm in each.placements]


def stood_still(seed: int, holding: tuple[str, str], number: int) -> ContactVerdict:
    """Ask for a certificate of standing in one pose: any, or the one that touches deepest."""
    rng = np.random.default_rng([seed, 2, number])
    arm = holding_arm(*holding)
    q = random_pose(rng, arm.model) if number % 4 == 0 else touching_pose(rng, arm)
    gap, names = nearest(arm, q, arm.pairs)
    certified = is_certified(arm.model, q)
    verdict = ContactVerdict(1, int(certified), int(certified and gap <= 0.0))
    if verdict.contacts:
        verdict.broken = [f'{holding}: {names} {-1e3 * gap:.1f} mm deep at {q.tolist()}']
    return verdict


def touching_pose(rng: np.random.Generator, arm: HoldingArm) -> Array:
    """Step at random towards a pose in which the payload is inside the arm."""
    held = [p for p in arm.pairs if arm.solids[p[0]].is_held or arm.solids[p[1]].is_held]
    poses = [random_pose(rng, arm.model) for _ in range(DRAWS)]
    gaps = np.array([distances(arm, q, held) for q in poses])
    moving = np.flatnonzero(np.ptp(gaps, axis=0) > DEEP)
    near = moving[np.argsort(gaps[:, moving].min(axis=0))]
    aim = int(near[min(len(near) - 1, int(rng.exponential(0.3 * len(near))))])
    pair, best = [held[aim]], int(np.argmin(gaps[:, aim]))
    q, gap = poses[best], gaps[best, aim]
    low, high = _range(arm.model)
    for _ in range(STEPS):
        moved = rng.random(arm.model.n) < 0.4
        way = moved * rng.normal(size=arm.model.n) * 10.0 ** rng.uniform(-2.5, 0.0)
        step = np.clip(q + way * (high - low), low, high)
        reached = distances(arm, step, pair)[0]
        if reached < gap:
            q, gap = step, reached
        if gap < -DEEP:
            break
    return q


def random_pose(rng: np.random.Generator, model: RobotModel) -> Array:
    """Within the limits."""
    low, high = _range(model)
    inside: Array = low + rng.random(model.n) * (high - low)
    return inside


def _range(model: RobotModel) -> tuple[Array, Array]:
    """Positions, with a little room for the tracking error."""
    limits = model.limits
    low = np.where(limits.is_continuous, -np.pi, limits.position_lower)
    high = np.where(limits.is_continuous, np.pi, limits.position_upper)
    room = EDGE * (high - low)
    return low + room, high - room


def is_certified(model: RobotModel, q: Array) -> bool:
    """Whether standing at q is certified; torque limits are out of the way."""
    rest = np.zeros(model.n)
    horizon = Horizon(Bezier(q, rest, rest, STILL), rest, rest)
    bounds = ratio_bounds(model.theta, KNOWN, 1e-6)
    estimate = ParameterEstimate(model.layout, model.theta, bounds)
    gains = Gains(np.full(model.n, 10.0), V_M=1e-3, alpha=25.0)
    problem = Problem(model, estimate, horizon, gains, NO_OBSTACLES)
    found = stand_still(problem, Budget.of(60.0), SearchSettings()).certificate
    return found is not None and found.holds


@cache
def holding_arm(arm: str, payload: str) -> HoldingArm:
    """Return the arm with the payload, stronger than it is and with a rotor in every joint."""
    facts, held = read_facts(facts_path(arm)), read_payload(payload)
    model = RobotModel.named(arm).with_payload(held)
    theta, Ia = model.theta.copy(), model.layout.joint_entries('Ia')
    theta[Ia] = np.where(theta[Ia] > 0.0, theta[Ia], ARMATURE)
    limits = replace(model.limits, torque=10.0 * model.limits.torque)
    model = replace(model.with_parameters(theta), limits=limits)
    told = Description(urdf_path(facts_path(arm), facts), model.layout.joint_names)
    mechanism = told.mechanism(np.array(facts.gravity), np.zeros((4, model.n)))
    own = _capsules(told, facts.collision.shapes)
    solids = (*own, *_shapes(told), *_held(told, held, arm))
    found = HoldingArm(model, mechanism, solids, ())
    pairs = [pair for pair in combinations(range(len(solids)), 2) if _counts(found, *pair)]
    return replace(found, pairs=tuple(_not_always(replace(found, pairs=tuple(pairs)))))


def _capsules(told: Description, shapes: dict) -> list[Solid]:  # type: ignore[type-arg]
    return [
        _capsule(name, told.placed(s.link), np.array(s.a), np.array(s.b), s.radius)
        for name, s in shapes.items()
    ]


def _held(told: Description, payload: Payload, arm: str) -> list[Solid]:
    placement = payload.placements[arm]
    joint, R, p = told.placed(placement.link)
    turn, place = turn_of(np.array(placement.rpy)), np.array(placement.xyz)
    at = joint, R @ turn, R @ place + p
    return [
        replace(_capsule(name, at, np.array(s.a), np.array(s.b), s.radius), is_held=True)
        for name, s in payload.shapes.items()
    ]


def _capsule(name: str, at: tuple[int, Array, Array], a: Array, b: Array, radius: float) -> Solid:
    """As coal has it: along z, about the origin."""
    joint, R, p = at
    length = float(np.linalg.norm(b - a))
    z = (b - a) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    other = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = np.cross(other, z) / np.linalg.norm(np.cross(other, z))
    turn = np.stack([x, np.cross(z, x), z], axis=1)
    shape = coal.Capsule(float(radius), length)
    return Solid(name, joint, R @ turn, R @ (0.5 * (a + b)) + p, shape, is_capsule=True)


def _shapes(told: Description) -> list[Solid]:
    """Boxes, cylinders and spheres of the URDF."""
    solids = []
    for link, element in told.links.items():
        joint, R, p = told.placed(link)
        for number, collision in enumerate(element.findall('collision')):
            turn, place = origin(collision)
            shape = _shape(collision.find('geometry'))
            if shape is not None:
                solids.append(Solid(f'{link}.{number}', joint, R @ turn, R @ place + p, shape))
    return solids


def _shape(geometry: ElementTree.Element | None) -> coal.ShapeBase | None:
    shape = None if geometry is None or not len(geometry) else geometry[0]
    if shape is None or shape.tag == 'mesh':
        return None
    if shape.tag == 'box':
        return coal.Box(*numbers(shape, 'size', '1 1 1'))
    radius = float(shape.get('radius', '0'))
    if shape.tag == 'cylinder':
        return coal.Cylinder(radius, float(shape.get('length', '0')))
    return coal.Sphere(radius)


def _counts(arm: HoldingArm, i: int, j: int) -> bool:
    """Whether two solids must not touch."""
    one, two = arm.solids[i], arm.solids[j]
    if one.joint == two.joint:
        return False
    if one.is_held or two.is_held:
        return True
    if one.is_capsule or two.is_capsule:
        return False  # they are wider than the arm; whether it touches is for its shapes to say
    parent = arm.mechanism.parent  # type: ignore[attr-defined]
    return not any(
        a >= 0 and parent[a] == b for a, b in ((one.joint, two.joint), (two.joint, one.joint))
    )


def _not_always(arm: HoldingArm) -> list[tuple[int, int]]:
    """Pairs that are apart somewhere; what touches everywhere is how the arm is built."""
    rng = np.random.default_rng(0)
    apart = np.zeros(len(arm.pairs), dtype=bool)
    for _ in range(LOOKS):
        apart |= distances(arm, random_pose(rng, arm.model), arm.pairs) > 0.0
    return [pair for pair, ever in zip(arm.pairs, apart, strict=True) if ever]


def nearest(
    arm: HoldingArm, q: Array, pairs: Sequence[tuple[int, int]]
) -> tuple[float, tuple[str, str]]:
    """Least distance [m] of some pairs, negative where they overlap, and whose."""
    found = distances(arm, q, pairs)
    i, j = pairs[int(np.argmin(found))]
    return float(found.min()), (arm.solids[i].name, arm.solids[j].name)


def distances(arm: HoldingArm, q: Array, pairs: Sequence[tuple[int, int]]) -> Array:
    """Distance of each pair by coal [m]."""
    at = posed(arm.mechanism, q)
    R, p = np.concatenate([at.R, np.eye(3)[None]]), np.concatenate([at.p, np.zeros((1, 3))])
    poses = [  # joint -1, the base, is the last entry
        coal.Transform3s(R[s.joint] @ s.R, R[s.joint] @ s.p + p[s.joint]) for s in arm.solids
    ]
    request, found = coal.DistanceRequest(), np.empty(len(pairs))
    for slot, (i, j) in enumerate(pairs):
        one, two = arm.solids[i].shape, arm.solids[j].shape
        found[slot] = coal.distance(one, poses[i], two, poses[j], request, coal.DistanceResult())
    return found
