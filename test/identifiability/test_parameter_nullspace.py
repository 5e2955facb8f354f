"""The recursion against published counts and tables, and against what transfers are by hand."""

from fractions import Fraction

from identifiability import reference_mechanisms as reference
from identifiability.reference_mechanisms import LEG, PARALLEL, PERPENDICULAR, PUMA, SCARA
import numpy as np
import pytest

from safe_sysid.errors import ModelError
from safe_sysid.identifiability.exact_geometry import (
    AXES,
    HERE,
    X_AXIS,
    ExactAngle,
    ExactPlacement,
    Turn,
)
from safe_sysid.identifiability.floating_spans import FloatingSpans
from safe_sysid.identifiability.joint_conditions import Spans, Torques, across, geometry
from safe_sysid.identifiability.kinematic_tree import (
    FREE,
    PLANAR,
    SPHERICAL,
    TRANSLATION,
    Armature,
    GeneralRotor,
    Joint,
    KinematicTree,
    SymmetricRotor,
    cylindrical,
    helical,
    prismatic,
    revolute,
)
from safe_sysid.identifiability.mechanism_regressor import stacked_regressor
from safe_sysid.identifiability.parameter_nullspace import (
    exact_nullspace,
    floating_nullspace,
)
from safe_sysid.identifiability.undetectable_changes import labels, regrouping, transfers
from safe_sysid.model import inertia

BOTH = [exact_nullspace, floating_nullspace]
ORDER = ('m', 'mcx', 'mcy', 'mcz', 'Ixx', 'Iyy', 'Izz', 'Iyz', 'Ixz', 'Ixy', 'Im')
ELSEWHERE = ExactPlacement(
    (Turn(0, ExactAngle(2)),), (Fraction('0.1'), Fraction('0.2'), Fraction(0))
)


def with_rotors(tree):
    return reference.leg_rotors(tree) if tree is LEG else reference.rotors_at(tree, 5)


def symbols(links):
    """Rows of the table, as one text."""
    return [
        ' '.join(joint.classes[joint.labels.index(label)].symbol for joint in links)
        for label in ORDER
    ]


@pytest.mark.parametrize('nullspace', BOTH)
@pytest.mark.parametrize(
    ('tree', 'links', 'rotors'),
    [
        (PARALLEL, 4, 5),
        (PERPENDICULAR, 8, 8),
        (PUMA, 36, 40),
        (SCARA, 8, 11),
        (LEG, 17, 18),
        (PUMA.without_gravity(), 34, 38),
        (SCARA.without_gravity(), 8, 11),
    ],
    ids=['parallel', 'perpendicular', 'puma', 'scara', 'leg', 'puma 0 g', 'scara 0 g'],
)
def test_published_counts(nullspace, tree, links, rotors):
    assert nullspace(tree).base_count == links
    assert nullspace(with_rotors(tree)).base_count == rotors


HX, HY, IXY, IXZ, IYZ, IZZ = np.eye(10)[[1, 2, 5, 7, 8, 9]]
DIFFERENCE = np.array([0, 0, 0, 0, 1, 0, -1, 0, 0, 0.0])


@pytest.mark.parametrize(
    ('tree', 'momentum', 'mapping'),
    [
        (PARALLEL, [HX, HY, IZZ], [HX, HY]),
        (PERPENDICULAR, [IXZ, IYZ, IZZ], [HX, HY, DIFFERENCE, IXY]),
    ],
    ids=['parallel', 'perpendicular'],
)
def test_published_conditions_on_the_second_of_two_links(tree, momentum, mapping):
    floats = FloatingSpans(Fraction(1))
    below = Spans(np.zeros((0, 6)), np.zeros((0, 10)))
    for joint in tree.joints:
        below, found = across(floats, geometry(floats, joint), below, Torques.OF_MOTION)
    for rows, expected in ((found.momentum, momentum), (found.mapping, mapping)):
        together = np.vstack([rows, expected])
        assert np.linalg.matrix_rank(rows) == len(expected) == np.linalg.matrix_rank(together)


def test_published_counts_of_the_leg_without_gravity():
    assert exact_nullspace(LEG.without_gravity()).base_count == 13
    assert exact_nullspace(reference.leg_rotors(LEG).without_gravity()).base_count == 14


@pytest.mark.parametrize(
    ('tree', 'count'),
    [(PUMA, 10), (SCARA, 1), (LEG, 6), (LEG.on_floating_base('torso'), 10)],
    ids=['puma', 'scara', 'leg', 'floating leg'],
)
def test_published_counts_at_rest(tree, count):
    assert exact_nullspace(tree, Torques.OF_GRAVITY).base_count == count


@pytest.mark.parametrize(('tree', 'count'), [(PARALLEL, 0), (PERPENDICULAR, 2)])
def test_two_links_at_rest_with_gravity_along_the_first_axis(tree, count):
    upright = KinematicTree(tree.joints, reference.DOWN)
    assert exact_nullspace(upright, Torques.OF_GRAVITY).base_count == count


def test_a_quadruped_has_94_of_130_and_106_of_178():
    tree = reference.quadruped()
    links, rotors = exact_nullspace(tree), exact_nullspace(reference.quadruped_rotors(tree))
    assert (links.base_count, links.size) == (94, 130)
    assert (rotors.base_count, rotors.size) == (106, 178)


@pytest.mark.parametrize('nullspace', BOTH)
@pytest.mark.parametrize(
    ('tree', 'table'),
    [(PUMA, 'PUMA_TABLE'), (SCARA, 'SCARA_TABLE'), (LEG, 'LEG_TABLE')],
    ids=['puma', 'scara', 'leg'],
)
def test_published_symbols(nullspace, tree, table):
    found = nullspace(with_rotors(tree))
    assert symbols(found.joints) == getattr(reference, table).split('\n')[1:-1]


def test_published_symbols_of_the_floating_leg():
    tree = reference.leg_rotors(LEG.on_floating_base('torso'))
    found = exact_nullspace(tree)
    assert symbols(found.joints[1:]) == reference.FLOATING_LEG_TABLE.split('\n')[1:-1]
    assert sum(len(joint.selected) for joint in found.joints[1:]) == 24
    assert len(found.joints[0].selected) == 10
    bare = exact_nullspace(LEG.on_floating_base('torso'))
    assert {joint.velocity_dimension for joint in bare.joints} == {6}
    assert {joint.energy_dimension for joint in bare.joints} == {10}
    assert sum(len(joint.selected) for joint in bare.joints[1:]) == 21
    assert [joint.transfer_dimension for joint in bare.joints[1:]] == [3, 3, 3]


@pytest.mark.parametrize(
    ('tree', 'V', 'K', 'T'),
    [
        (PUMA, (2, 5, 6, 6, 6, 6), (1, 8, 10, 10, 10, 10), (9, 3, 3, 3, 3, 3)),
        (PUMA.without_gravity(), (1, 3, 6, 6, 6, 6), (1, 6, 10, 10, 10, 10), (9, 5, 3, 3, 3, 3)),
        (SCARA, (2, 4, 4, 4), (1, 4, 4, 4), (9, 7, 9, 7)),
        (SCARA.without_gravity(), (1, 3, 4, 4), (1, 4, 4, 4), (9, 7, 9, 7)),
        (LEG, (3, 6, 6), (3, 9, 10), (7, 3, 3)),
        (LEG.without_gravity(), (1, 3, 6), (1, 6, 10), (9, 5, 3)),
    ],
    ids=['puma', 'puma 0 g', 'scara', 'scara 0 g', 'leg', 'leg 0 g'],
)
@pytest.mark.parametrize('nullspace', BOTH)
def test_published_dimensions(nullspace, tree, V, K, T):
    joints = nullspace(tree).joints
    assert tuple(joint.velocity_dimension for joint in joints) == V
    assert tuple(joint.energy_dimension for joint in joints) == K
    assert tuple(joint.transfer_dimension for joint in joints) == T


def test_published_transfers_with_rotors():
    joints = exact_nullspace(reference.rotors_at(PUMA, 5)).joints
    assert [joint.transfer_dimension for joint in joints] == [13, 7, 6, 6, 6, 6]


def on_free_link(screws, rotor=None):
    """A joint on a link that moves freely."""
    base = Joint('base', 'base', -1, HERE, FREE)
    return KinematicTree((base, Joint('joint', 'link', 0, ELSEWHERE, screws, rotor)), X_AXIS)


@pytest.mark.parametrize(
    ('screws', 'changes'),
    [
        (revolute(), [{'m': 1}, {'mcz': 1}, {'Ixx': 1, 'Iyy': 1}]),
        (prismatic(), [{label: 1} for label in inertia.LABELS[4:]]),
        (TRANSLATION, [{label: 1} for label in inertia.LABELS[4:]]),
        (helical(Fraction('0.05')), [{'Ixx': 1, 'Iyy': 1}]),
        (cylindrical(), [{'Ixx': 1, 'Iyy': 1}]),
        (PLANAR, [{'Ixx': 1, 'Iyy': 1}]),
        (SPHERICAL, [{'m': 1}]),
        (FREE, []),
    ],
    ids=[
        'revolute',
        'prismatic',
        'translation',
        'helical',
        'cylindrical',
        'planar',
        'ball',
        'free',
    ],
)
def test_what_each_kind_of_joint_lets_pass(screws, changes):
    found = exact_nullspace(on_free_link(screws))
    expected = np.array([[c.get(label, 0) for label in inertia.LABELS] for c in changes])
    passed = transfers(found)[10:].T
    assert len(passed) == len(changes)
    together = np.vstack([expected.reshape(-1, 10), passed])
    assert np.linalg.matrix_rank(together) == len(changes)


@pytest.mark.parametrize('turned', [0, 12])
@pytest.mark.parametrize('ratio', [1, -1, 2, -100])
def test_a_rotor_is_felt_unless_it_turns_as_the_link_does(ratio, turned):
    place = ExactPlacement((*ELSEWHERE.turns, Turn(0, ExactAngle(turned))), ELSEWHERE.position)
    rotor = SymmetricRotor(place, Fraction(ratio))
    bare = exact_nullspace(on_free_link(revolute())).base_count
    felt = exact_nullspace(on_free_link(revolute(), rotor)).base_count - bare
    with_the_link = ratio == (-1 if turned else 1)
    assert felt == (0 if with_the_link else 1)


@pytest.mark.parametrize('turned', [0, 12])
def test_a_direct_drive_hides_in_its_link_whichever_way_it_points(turned, rng):
    place = ExactPlacement((*ELSEWHERE.turns, Turn(0, ExactAngle(turned))), ELSEWHERE.position)
    rotor = SymmetricRotor(place, Fraction(-1 if turned else 1))
    tree = on_free_link(revolute(), rotor)
    Y = stacked_regressor(tree, Torques.OF_MOTION, 12, rng)
    assert np.abs(Y @ transfers(exact_nullspace(tree))).max() < 1e-11 * np.abs(Y).max()


@pytest.mark.parametrize('direction', AXES)
def test_rotors_of_an_arm_turn_about_the_axes_of_its_joints(direction):
    tree = on_free_link(revolute(direction))
    driven = exact_nullspace(tree.with_symmetric_rotors(Fraction(1)))
    assert driven.base_count == exact_nullspace(tree).base_count


def test_a_rotor_weighs_on_a_sliding_joint_with_the_square_of_its_ratio():
    """By hand: all that slides, and ratio^2 Im, in kg; lengths of the arm have no say in it."""
    arm = Joint(
        'arm', 'A', 0, ExactPlacement((), (Fraction('0.3'), Fraction(0), Fraction(0))), revolute()
    )
    slide = Joint('slide', 'S', -1, HERE, prismatic(X_AXIS))
    tree = KinematicTree((slide, arm), None).with_symmetric_rotors(Fraction(20))
    nullspace = exact_nullspace(tree)
    row = dict(zip(labels(nullspace), regrouping(nullspace)[0], strict=True))
    expected = {'slide.m': 1, 'slide.Im': 400, 'arm.m': 1, 'arm.m_r': 1}
    assert {name: size for name, size in row.items() if size} == pytest.approx(expected)


@pytest.mark.parametrize('ratio', [1, -1, 2, 100])
def test_a_rotor_of_a_sliding_joint_is_always_felt(ratio):
    rotor = SymmetricRotor(ELSEWHERE, Fraction(ratio))
    bare = exact_nullspace(on_free_link(prismatic())).base_count
    assert exact_nullspace(on_free_link(prismatic(), rotor)).base_count == bare + 1


@pytest.mark.parametrize(('tree', 'direct', 'geared'), [(PUMA, 36, 40), (SCARA, 9, 11)])
def test_direct_drives_of_fixed_arms(tree, direct, geared):
    counts = {n: exact_nullspace(reference.rotors_at(tree, n)).base_count for n in (1, -1, 2, 100)}
    assert counts == {1: direct, -1: geared, 2: geared, 100: geared}


def test_direct_drives_of_the_leg():
    leg = exact_nullspace(LEG.with_symmetric_rotors(Fraction(1)))
    assert leg.base_count == 17


@pytest.mark.parametrize('tree', [PUMA, SCARA, LEG.on_floating_base('torso')])
@pytest.mark.parametrize('nullspace', BOTH)
def test_a_symmetric_rotor_is_a_general_one_with_symmetry(tree, nullspace):
    """The flywheel and the second body are two derivations of the same answer."""
    flywheel = reference.rotors_at(tree, 5)
    general = flywheel.with_rotors(
        [j.rotor and GeneralRotor(j.rotor.placement, j.rotor.ratio) for j in flywheel.joints]
    )
    R = transfers(nullspace(general))
    symmetric = np.array([[0, 0, 0, 0, 1, 0, -1, 0, 0, 0], *np.eye(10)[[1, 2, 5, 7, 8]]])
    rows, first = [], 0  # changes of the general rotors that keep them symmetric
    for joint in nullspace(general).joints:
        if len(joint.labels) == 20:
            block = np.zeros((6, len(R)))
            block[:, first + 10 : first + 20] = symmetric
            rows.append(block)
        first += len(joint.labels)
    kept = R.shape[1] - np.linalg.matrix_rank(np.vstack(rows) @ R, tol=1e-9)
    flat = nullspace(flywheel)
    assert kept == flat.size - flat.base_count


def test_armature_is_felt_beyond_the_first_joint_of_a_turning_chain():
    """At joint 1 it hides behind Izz; at the others the link below turns without it."""
    assert exact_nullspace(PUMA.with_armature()).base_count == 40
    only_first = [Armature(), *[None] * 5]
    assert exact_nullspace(PUMA.with_rotors(only_first)).base_count == 36


def test_exact_and_floating_decisions_come_with_a_certificate():
    exact, floating = exact_nullspace(PUMA), floating_nullspace(PUMA)
    assert exact.is_exact and not floating.is_exact
    for found in (exact, floating):
        assert found.decision.smallest_accepted > 0.01
        assert found.decision.largest_rejected < 1e-13


def test_axes_that_are_nearly_parallel_are_not():
    """Without rounding 1e-3 rad is an angle like any other; a coarse tolerance says otherwise."""
    tilted = ExactPlacement(
        (Turn(0, ExactAngle(0, Fraction(1, 2000))),), PARALLEL.joints[1].placement.position
    )
    joints = (PARALLEL.joints[0], Joint('joint_2', 'link_2', 0, tilted, revolute()))
    tree = KinematicTree(joints, None)
    assert exact_nullspace(tree).base_count == 8
    assert floating_nullspace(tree, tolerance=1e-2).base_count < 8


def test_a_long_chain_repeats_itself():
    """From the third joint on every joint of this arm is the same, however many there are."""
    rows = [(0, '0', '0.3'), *[(6 * (-1) ** k, '0.1', '0.2') for k in range(39)]]
    counts = [
        len(j.selected)
        for j in exact_nullspace(reference.serial('R' * 40, rows, reference.DOWN)).joints
    ]
    assert counts[2:] == [7] * 38


@pytest.mark.parametrize(
    ('joints', 'message'),
    [
        ((Joint('a', 'A', 0, HERE, revolute()),), "joint 'a' has parent 0"),
        ((Joint('a', 'A', -1, HERE, SPHERICAL, Armature()),), "joint 'a' has 3 freedoms"),
        (
            (Joint('a', 'A', -1, HERE, revolute(), SymmetricRotor(HERE, Fraction(0))),),
            "rotor of joint 'a' has ratio 0",
        ),
    ],
)
def test_trees_that_make_no_sense_are_refused(joints, message):
    with pytest.raises(ModelError, match=message):
        KinematicTree(joints, None)
