"""Which changes of the inertial parameters no motion of an open chain can show.

One pass outward over the joints. Every undetectable change is a sum of transfers: a change of one
link (and its rotor), and minus its image on the link below; which ones qualify follows from small
matrices of the kinematics alone. Ranks are decided modulo primes, on geometry without rounding;
floats only carry the coefficients. `floating_nullspace` decides in floats, with a tolerance.

The result holds for open chains. A loop of links takes more away; its rank is found numerically
(`base_parameters` of the regressor of the actuated torques).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.errors import ModelError
from safe_sysid.identifiability.base_parameters import RankDecision
from safe_sysid.identifiability.floating_spans import TOLERANCE, FloatingSpans, GuidedSpans
from safe_sysid.identifiability.inertial_transfer import Arithmetic, rotation_matrix
from safe_sysid.identifiability.joint_conditions import (
    Conditions,
    Spans,
    Torques,
    across,
    geometry,
)
from safe_sysid.identifiability.kinematic_tree import (
    WORLD,
    Armature,
    GeneralRotor,
    Joint,
    KinematicTree,
    SymmetricRotor,
)
from safe_sysid.identifiability.parameter_classes import ParameterClass
from safe_sysid.identifiability.residue_field import PRIMES, ResidueField
from safe_sysid.identifiability.rotor_conditions import (
    Crossing,
    with_armature,
    with_general_rotor,
    with_symmetric_rotor,
)
from safe_sysid.model import inertia

SAFE_GAP = 10.0  # between what counts and what does not, so that coefficients mean something

# Which of two parameters that can't be told apart stands for both: the first in this order,
# m, mcx, mcy, mcz, Ixx, Iyy, Izz, Iyz, Ixz, Ixy, then the rotor in its own order.
PREFERENCE = np.array([0, 1, 2, 3, 4, 6, 9, 8, 7, 5])
ROTOR_LABELS = {
    Armature: ('Ia',),
    SymmetricRotor: ('m_r', 'mcz_r', 'Ixx_r', 'Im'),
    GeneralRotor: tuple(f'{label}_r' for label in inertia.LABELS),
}


@dataclass(frozen=True, eq=False)
class JointNullspace:
    """What a joint can feel of its group: ten parameters of the link, then those of its rotor."""

    labels: tuple[str, ...]  # of the group
    selected: IntArray  # (r,) S, in the order of preference
    others: IntArray  # (s - r,) D
    W: Array  # (r, s - r) N[:, D] = N[:, S] W
    image: Array  # (10, s) the group on the link below
    velocity_dimension: int  # of the span V of the link
    energy_dimension: int  # of the span K of the link
    classes: tuple[ParameterClass, ...]

    @property
    def transfer_dimension(self) -> int:
        """How many independent changes can go to the link below unseen."""
        return len(self.others)


@dataclass(frozen=True, eq=False)
class ParameterNullspace:
    """The answer for a whole tree; theta stacks the groups of its joints."""

    tree: KinematicTree
    torques: Torques
    joints: tuple[JointNullspace, ...]
    decision: RankDecision  # of the floats, even where remainders decided
    is_exact: bool

    @property
    def base_count(self) -> int:
        """Number of base parameters."""
        return sum(len(joint.selected) for joint in self.joints)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return sum(len(joint.labels) for joint in self.joints)

    @property
    def starts(self) -> list[int]:
        """Where the group of each joint begins in theta."""
        sizes = [len(joint.labels) for joint in self.joints]
        return [sum(sizes[:i]) for i in range(len(sizes))]


@dataclass(frozen=True, eq=False)
class _Outcome:
    """What the recursion finds at one joint, in the numbers of an arithmetic."""

    selected: IntArray
    others: IntArray
    W: AnyArray
    W_is_zero: AnyArray
    image: AnyArray
    spans: Spans
    unheard: AnyArray  # (s,) which parameters have no effect
    leak: AnyArray  # (10,) which parameters of the link below take part in transfers


def preferred_in_group(size: int) -> IntArray:
    """Entries of a group, those first that shall stand for a combination."""
    return np.concatenate([PREFERENCE, np.arange(10, size)])


def exact_nullspace(
    tree: KinematicTree, torques: Torques = Torques.OF_MOTION
) -> ParameterNullspace:
    """Nullspace with ranks modulo two primes that agree."""
    field, outcomes = _confirmed(tree, torques)
    floats = GuidedSpans(tree.length, field.ranks, field.choices)
    numbers = list(_recursion(tree, floats, torques))
    if not floats.decision.gap > SAFE_GAP:
        raise ModelError(
            f'the geometry is so nearly special that floats lose it: {floats.decision}; '
            'round lengths and angles to what is meant, or decide with a tolerance'
        )
    joints = tuple(
        _joint(tree, i, exact, number, tuple(_classes(tree, i, outcomes)))
        for i, (exact, number) in enumerate(zip(outcomes, numbers, strict=True))
    )
    return ParameterNullspace(tree, torques, joints, floats.decision, is_exact=True)


def floating_nullspace(
    tree: KinematicTree, torques: Torques = Torques.OF_MOTION, tolerance: float = TOLERANCE
) -> ParameterNullspace:
    """Nullspace with ranks by a tolerance; `decision` says how close they were."""
    floats = FloatingSpans(tree.length, tolerance)
    outcomes = list(_recursion(tree, floats, torques))
    joints = tuple(
        _joint(tree, i, outcome, outcome, tuple(_classes(tree, i, outcomes)))
        for i, outcome in enumerate(outcomes)
    )
    return ParameterNullspace(tree, torques, joints, floats.decision, is_exact=False)


def _confirmed(tree: KinematicTree, torques: Torques) -> tuple[ResidueField, list[_Outcome]]:
    """Recursion modulo the first prime whose ranks and zeros another one confirms."""
    found: list[tuple[ResidueField, list[_Outcome]]] = []
    for prime in PRIMES:
        field = ResidueField(prime)
        outcomes = list(_recursion(tree, field, torques))
        for earlier, other in found:
            if earlier.ranks == field.ranks and _agree(outcomes, other):
                return field, outcomes
        found.append((field, outcomes))
    raise ModelError(f'ranks modulo {PRIMES} all differ; use floating-point decisions instead')


def _agree(these: list[_Outcome], those: list[_Outcome]) -> bool:
    return all(
        np.array_equal(a.selected, b.selected)
        and np.array_equal(a.W_is_zero, b.W_is_zero)
        and np.array_equal(a.unheard, b.unheard)
        and np.array_equal(a.leak, b.leak)
        for a, b in zip(these, those, strict=True)
    )


def _recursion(
    tree: KinematicTree, arithmetic: Arithmetic, torques: Torques
) -> Iterator[_Outcome]:
    """Outward pass over the joints."""
    world = _world(tree, arithmetic)
    spans: list[Spans] = []
    for joint in tree.joints:
        below = world if joint.parent == WORLD else spans[joint.parent]
        motion = geometry(arithmetic, joint)
        link, conditions = across(arithmetic, motion, below, torques)
        crossing = Crossing(arithmetic, joint, motion, below, torques)
        spans.append(link)
        yield _outcome(arithmetic, _with_rotor(crossing, conditions), below, link)


def _world(tree: KinematicTree, arithmetic: Arithmetic) -> Spans:
    """Gravity is a motion of the world whose force nobody measures."""
    V = arithmetic.array(np.zeros((0, 6), dtype=np.int64))
    if tree.gravity is not None:
        direction = rotation_matrix(arithmetic, tree.gravity)[:, 2]
        V = np.concatenate([direction, 0 * direction])[None]
    return Spans(arithmetic.span(V), arithmetic.array(np.zeros((0, 10), dtype=np.int64)))


def _with_rotor(crossing: Crossing, link: Conditions) -> Conditions:
    match crossing.joint.rotor:
        case Armature():
            return with_armature(crossing, link)
        case SymmetricRotor():
            return with_symmetric_rotor(crossing, link)
        case GeneralRotor():
            return with_general_rotor(crossing, link)
    return link


def _outcome(
    arithmetic: Arithmetic, conditions: Conditions, below: Spans, link: Spans
) -> _Outcome:
    N = np.vstack([conditions.momentum, conditions.mapping])
    image = conditions.image
    order = preferred_in_group(N.shape[1])
    chosen, W = arithmetic.dependence(N[:, order])
    selected, others = order[chosen], np.delete(order, chosen)
    felt_below = arithmetic.product(below.K, image)
    unheard = np.all(arithmetic.is_zero(np.vstack([N, felt_below])), axis=0)
    moved = image[:, others] - arithmetic.product(image[:, selected], W)
    leak = np.any(~arithmetic.is_zero(arithmetic.reduced(moved)), axis=1)
    zero = arithmetic.is_zero(W)
    return _Outcome(selected, others, W, zero, image, link, unheard, leak)


def _classes(tree: KinematicTree, i: int, outcomes: list[_Outcome]) -> Iterator[ParameterClass]:
    """Class of every parameter in the group of joint i."""
    own = outcomes[i]
    mixed = np.zeros(len(own.unheard), dtype=bool)  # part of a transfer across some joint
    mixed[own.selected] = (~own.W_is_zero).any(axis=1)
    for child in tree.children[i]:
        mixed[:10] |= outcomes[child].leak
    for k in range(len(mixed)):
        if own.unheard[k]:
            yield ParameterClass.NONE
        elif k not in own.selected:
            yield ParameterClass.NOT_SELECTED
        else:
            yield ParameterClass.COMBINED if mixed[k] else ParameterClass.ALONE


def _joint(
    tree: KinematicTree,
    i: int,
    exact: _Outcome,
    number: _Outcome,
    classes: tuple[ParameterClass, ...],
) -> JointNullspace:
    """Return the result at a joint in SI units: structure of one, coefficients of another."""
    joint, length = tree.joints[i], float(tree.length)
    scale = _scales(joint, length)
    W = np.where(exact.W_is_zero, 0.0, number.W)
    W = W * scale[exact.selected][:, None] / scale[exact.others]
    return JointNullspace(
        labels=(*inertia.LABELS, *ROTOR_LABELS.get(type(joint.rotor), ())),
        selected=exact.selected,
        others=exact.others,
        W=W,
        image=scale[:10, None] * number.image / scale,
        velocity_dimension=len(exact.spans.V),
        energy_dimension=len(exact.spans.K),
        classes=classes,
    )


def _scales(joint: Joint, length: float) -> Array:
    """Parameters of a group in SI units per unit of the recursion."""
    ten = np.array([1.0, *[length] * 3, *[length**2] * 6])
    match joint.rotor:
        case Armature():
            return np.append(ten, 1.0 if joint.slides else length**2)
        case SymmetricRotor(_, ratio):
            per = float(ratio) * (length if joint.slides else 1.0)
            return np.concatenate([ten, [1.0, length, length**2, (length / per) ** 2]])
        case GeneralRotor():
            return np.concatenate([ten, ten])
    return ten
