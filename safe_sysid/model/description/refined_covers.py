"""Covers of all bodies that leave no pair in contact at every pose without a reason.

If the capsules of two bodies overlap far more often than their convex hulls, the bodies get more
capsules. If those of a pair still overlap wherever one looks, no plan could ever be certified.
Then the hulls decide: proven apart, the pair is left out, with that reason. Can they meet, it
stays listed, and is said. A pair is never left out because it always overlaps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.model.collision.capsule_fit import hull_points
from safe_sysid.model.collision.hull_separation import HullPair, surface_contacts
from safe_sysid.model.collision.pair_separation import Chain, Verdict, chain_between, gaps
from safe_sysid.model.description.body_covers import BodyCover, covered, shapes_of
from safe_sysid.model.description.surfaces import BodySurface
from safe_sysid.model.facts import CollisionFacts, RobotFacts
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import JointLimits

COSTLY = 0.2  # of the poses, by which capsules overlap more often than hulls
DOUBTED = 1e-4  # [m] that hulls overlap at least where they are said to meet
POSES = 1000  # at which capsules are looked at
MET = 300  # at which surfaces are looked at, where capsules always overlap
FINER = {1: 2, 2: 3}  # capsules of a body that needs more
FINER_BASE = 8


@dataclass(frozen=True, eq=False)
class RefinedCovers:
    """Covers, the pairs left out with reasons, and the arm with both."""

    covers: tuple[BodyCover, ...]
    left_out: dict[tuple[str, str], str]  # pair of shapes: why
    remarks: tuple[str, ...]
    model: RobotModel
    facts: RobotFacts


def refined_covers(
    surfaces: Sequence[BodySurface], count: int | None, urdf: Path, facts: RobotFacts, name: str
) -> RefinedCovers:
    """Cover bodies, and refine those whose capsules overlap at every pose."""
    covers = [covered(surface, count) for surface in surfaces]
    known = _Known({}, {})
    found = _with_pairs(covers, known, urdf, facts, name)
    if count is not None:
        return found
    crowded = {body for pair in _costly(found) for body in pair}
    if not crowded:
        return found
    for i, cover in enumerate(covers):
        if cover.surface.joint in crowded:
            more = FINER.get(len(cover.pieces), len(cover.pieces))
            more = FINER_BASE if cover.surface.joint < 0 else more
            covers[i] = covered(cover.surface, more)
    return _with_pairs(covers, known, urdf, facts, name)


class _Known(NamedTuple):
    """What is known of two bodies already, by their joints."""

    hulls: dict[tuple[int, int], Verdict]
    met: dict[tuple[int, int], int]  # poses of MET at which their surfaces meet


def _costly(found: RefinedCovers) -> list[tuple[int, int]]:
    """Joints of bodies whose capsules overlap always, or far more often than their hulls."""
    rng, limits = np.random.default_rng(0), found.model.limits
    poses = random_poses(limits, POSES, rng)
    overlaps = overlaps_by_body(found, poses)
    return [
        bodies
        for bodies, share in overlaps.items()
        if share.capsules > share.hulls + COSTLY or share.capsules == 1.0
    ]


def _with_pairs(
    covers: Sequence[BodyCover],
    known: _Known,
    urdf: Path,
    facts: RobotFacts,
    name: str,
) -> RefinedCovers:
    """Build the arm, and find out about pairs that always overlap."""
    shapes = dict(shapes_of(covers))
    bare = replace(facts, collision=CollisionFacts(shapes))
    model = RobotModel.from_files(urdf, bare, name)
    by_joint = {cover.surface.joint: cover for cover in covers}
    left_out, stuck = {}, dict[tuple[int, int], tuple[int, int]]()
    for pair, bodies in _always_overlapping(model):
        names = model.capsules.names[pair[0]], model.capsules.names[pair[1]]
        if bodies not in known.hulls:
            known.hulls[bodies] = _hulls(model, pair, by_joint, bodies)
        if known.hulls[bodies] is Verdict.APART:
            left_out[names] = 'capsules overlap at every pose, hulls are proven apart'
        else:
            stuck.setdefault(bodies, pair)
    remarks = [_stuck(model, by_joint, pair, known.met) for pair in stuck.values()]
    out = CollisionFacts(shapes, tuple(left_out))
    with_pairs = replace(facts, collision=out)
    arm = RobotModel.from_files(urdf, with_pairs, name) if left_out else model
    return RefinedCovers(tuple(covers), left_out, tuple(remarks), arm, with_pairs)


def _stuck(
    model: RobotModel,
    by_joint: Mapping[int, BodyCover],
    pair: tuple[int, int],
    known: dict[tuple[int, int], int],
) -> str:
    """Say how hulls and surfaces of bodies are whose capsules overlap at every pose."""
    bodies = int(model.capsules.joint[pair[0]]), int(model.capsules.joint[pair[1]])
    first, second = (by_joint[joint] for joint in bodies)
    chain = chain_between(model.tree, model.limits, model.capsules, pair)
    poses = random_poses(model.limits, MET, np.random.default_rng(0))[:, chain.joints]
    hulls = int((HullPair(chain, first.hulls, second.hulls).gaps(poses) + DOUBTED < 0.0).sum())
    if bodies not in known:
        surfaces = first.surface.triangles, second.surface.triangles
        known[bodies] = int(surface_contacts(chain, *surfaces, poses).sum())
    met = known[bodies]
    words = (
        f'capsules of {first.surface.link} and {second.surface.link} overlap at every pose looked '
        f'at, so no plan can be certified; their convex hulls meet at {hulls} of {MET} poses, '
        f'their surfaces at {met}'
    )
    if met == MET:
        return (
            f'{words}: they are in contact as described: mend the description, or name their '
            'capsules under collision.housings_apart if the arm is built that way'
        )
    if met:
        return f'{words}: they can touch; give more --capsules, or shapes of your own'
    return (
        f'{words}, which is no proof: give more --capsules, or name their capsules under '
        'collision.housings_apart if whoever built the arm says that they cannot touch'
    )


def _always_overlapping(
    model: RobotModel,
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Pairs of capsules that overlap at every pose looked at, and the joints that carry them."""
    capsules, found = model.capsules, []
    for i, j in capsules.pairs.tolist():
        chain = chain_between(model.tree, model.limits, capsules, (i, j))
        shares = np.random.default_rng(0).random((POSES, len(chain.lower)))
        positions = chain.lower + (chain.upper - chain.lower) * shares
        if bool(np.all(gaps(chain, positions) < 0.0)):
            found.append(((i, j), (int(capsules.joint[i]), int(capsules.joint[j]))))
    return found


def _hulls(
    model: RobotModel,
    pair: tuple[int, int],
    by_joint: Mapping[int, BodyCover],
    bodies: tuple[int, int],
) -> Verdict:
    chain = chain_between(model.tree, model.limits, model.capsules, pair)
    first, second = (by_joint[joint].hulls for joint in bodies)
    return HullPair(chain, first, second).separation().verdict


class OverlapShares(NamedTuple):
    """Shares of poses at which two bodies overlap."""

    capsules: float
    hulls: float
    poses: npt.NDArray[np.bool_]  # (N,) as capsules
    in_contact: npt.NDArray[np.bool_]  # (N,) as hulls, looked at where capsules overlap


def random_poses(limits: JointLimits, count: int, rng: np.random.Generator) -> Array:
    """Poses within the limits (N, n), every tenth of them with each joint at a limit."""
    lower = np.where(np.isfinite(limits.position_lower), limits.position_lower, -np.pi)
    upper = np.where(np.isfinite(limits.position_upper), limits.position_upper, np.pi)
    shares = rng.random((count, len(lower)))
    shares[::10] = np.round(shares[::10])
    return np.asarray(lower + (upper - lower) * shares)


def overlaps_by_body(found: RefinedCovers, poses: Array) -> dict[tuple[int, int], OverlapShares]:
    """How often the bodies of listed pairs overlap at poses (N, n)."""
    model, by_joint = found.model, {cover.surface.joint: cover for cover in found.covers}
    capsules = model.capsules
    overlap: dict[tuple[int, int], npt.NDArray[np.bool_]] = {}
    chains = {}
    for i, j in capsules.pairs.tolist():
        chain = chain_between(model.tree, model.limits, capsules, (i, j))
        bodies = int(capsules.joint[i]), int(capsules.joint[j])
        touching = gaps(chain, poses[:, chain.joints]) < 0.0
        overlap[bodies] = overlap.get(bodies, np.zeros(len(poses), dtype=bool)) | touching
        chains[bodies] = chain
    shares = {}
    for bodies, at in overlap.items():
        contact = np.zeros(len(poses), dtype=bool)
        hulls = HullPair(chains[bodies], *(by_joint[joint].hulls for joint in bodies))
        contact[at] = hulls.gaps(poses[at][:, chains[bodies].joints]) < 0.0
        shares[bodies] = OverlapShares(float(at.mean()), float(contact.mean()), at, contact)
    return shares


def contacts_called_apart(
    model: RobotModel, surfaces: Mapping[int, Array], poses: Array
) -> dict[tuple[int, int], int]:
    """Count poses (N, n) at which surfaces meet of bodies no pair of which is listed.

    Keys are the joints that carry the bodies; surfaces are triangles in the frames of these. Where
    convex hulls meet, the triangles themselves are looked at.
    """
    hulls = {joint: hull_points(each.reshape(-1, 3)) for joint, each in surfaces.items()}
    wrong: dict[tuple[int, int], int] = {}
    for bodies, pair in _bodies_apart(model).items():
        if not all(joint in hulls for joint in bodies):
            continue
        chain = chain_between(model.tree, model.limits, model.capsules, pair)
        shapes = [hulls[joint] for joint in bodies]
        near = gaps(_around(chain, shapes), poses[:, chain.joints]) < 0.0
        pair_of_hulls = HullPair(chain, shapes[:1], shapes[1:])
        meeting = pair_of_hulls.gaps(poses[near][:, chain.joints]) + DOUBTED < 0.0
        if meeting.any():
            first, second = (surfaces[joint] for joint in bodies)
            at = poses[near][meeting][:, chain.joints]
            count = int(surface_contacts(chain, first, second, at).sum())
            wrong.update({bodies: count} if count else {})
    return wrong


def _bodies_apart(model: RobotModel) -> dict[tuple[int, int], tuple[int, int]]:
    """Joints of bodies none of whose pairs is listed, and one of these pairs."""
    joint, listed = model.capsules.joint, set(map(tuple, model.capsules.pairs.tolist()))
    seen = {(int(joint[i]), int(joint[j])) for i, j in listed}
    others = np.concatenate([model.capsules.apart, model.capsules.left_out]).tolist()
    return {
        bodies: (i, j) for i, j in others if (bodies := (int(joint[i]), int(joint[j]))) not in seen
    }


def _around(chain: Chain, hulls: Sequence[Array]) -> Chain:
    """Balls around both hulls in the place of the capsules, to look only where these overlap."""
    ends, radii = [], 0.0
    for hull in hulls:
        middle = 0.5 * (hull.min(axis=0) + hull.max(axis=0))
        ends += [middle, middle]
        radii += float(np.linalg.norm(hull - middle, axis=1).max())
    return chain._replace(ends=np.array(ends), radii=radii)
