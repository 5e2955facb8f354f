"""Mechanisms whose identifiable parameters are published, from their modified DH rows."""

from fractions import Fraction

from safe_sysid.identifiability.exact_geometry import (
    HERE,
    X_AXIS,
    ExactAngle,
    ExactPlacement,
    Turn,
)
from safe_sysid.identifiability.kinematic_tree import (
    Joint,
    KinematicTree,
    SymmetricRotor,
    prismatic,
    revolute,
)

DOWN = (Turn(0, ExactAngle(12)),)
QUARTER = 6  # steps of 15 degrees
SINE = {0: 0, QUARTER: 1, -QUARTER: -1}


def serial(kinds, rows, gravity):
    """Chain of joints about z; rows are (alpha in steps, a, d), lengths as decimals."""
    joints = []
    for i, (kind, (alpha, a, d)) in enumerate(zip(kinds, rows, strict=True)):
        cosine, sine = int(alpha == 0), SINE[alpha]
        position = (Fraction(a), -sine * Fraction(d), cosine * Fraction(d))
        placement = ExactPlacement((Turn(0, ExactAngle(alpha)),), position)
        screws = revolute() if kind == 'R' else prismatic()
        joints.append(Joint(f'joint_{i + 1}', f'link_{i + 1}', i - 1, placement, screws))
    return KinematicTree(tuple(joints), gravity)


def rotors_at(tree, ratio):
    """Symmetric rotors at the joint frames."""
    return tree.with_symmetric_rotors(Fraction(ratio))


PARALLEL = serial('RR', [(0, '0', '0'), (0, '0.3', '0')], None)
PERPENDICULAR = serial('RR', [(0, '0', '0'), (QUARTER, '0.3', '0')], None)
PUMA_LENGTHS = {'a2': 0.2, 'd3': 0.4, 'a3': 0.153, 'd4': 0.839}
PUMA = serial(
    'RRRRRR',
    [
        (0, '0', '0'),
        (-QUARTER, '0', '0'),
        (0, '0.2', '0.4'),
        (-QUARTER, '0.153', '0.839'),
        (QUARTER, '0', '0'),
        (-QUARTER, '0', '0'),
    ],
    DOWN,
)
SCARA = serial('RRPR', [(0, '0', '0'), (0, '0.1', '0'), (0, '0.2', '0'), (0, '0', '0')], DOWN)
LEG = serial('RRR', [(0, '0', '0'), (QUARTER, '0', '0.044'), (0, '0.342', '0')], X_AXIS)


def leg_rotors(tree):
    """Rotors of the leg: that of the knee sits at the hip."""
    tree = rotors_at(tree, 10)
    rotors = [joint.rotor for joint in tree.joints]
    return tree.with_rotors([*rotors[:-1], SymmetricRotor(HERE, Fraction(10))])


def quadruped():
    """Four legs on a torso that moves freely."""
    joints = list(LEG.on_floating_base('torso').joints[:1])
    for k in range(4):
        first = len(joints)
        x, y = Fraction('0.3') * (-1) ** k, Fraction('0.1') * (-1) ** (k // 2)
        for i, joint in enumerate(LEG.joints):
            place = joint.placement if i else ExactPlacement((), (x, y, Fraction(0)))
            parent = first + i - 1 if i else 0
            joints.append(
                Joint(f'{joint.name}_{k}', f'{joint.link}_{k}', parent, place, joint.screws)
            )
    return KinematicTree(tuple(joints), X_AXIS)


def quadruped_rotors(tree):
    """Rotors of all legs."""
    tree = rotors_at(tree, 10)
    rotors = [joint.rotor for joint in tree.joints]
    for knee in range(3, len(rotors), 3):
        rotors[knee] = SymmetricRotor(HERE, Fraction(10))
    return tree.with_rotors(rotors)


# Tables of symbols: rows m, mcx, mcy, mcz, Ixx, Iyy, Izz, Iyz, Ixz, Ixy, Im; one letter per link.
PUMA_TABLE = """
× × ○ ○ ○ ○
× ● ● ★ ★ ★
× ★ ● ● ● ★
× × ○ ○ ○ ○
× ● ● ● ● ●
× ○ ○ ○ ○ ○
● ● ● ● ● ★
× ★ ★ ★ ★ ★
× ● ★ ★ ★ ★
× ★ ● ★ ★ ★
○ ○ ★ ★ ★ ★
"""
SCARA_TABLE = """
× ○ ● ○
× ● ○ ★
× ● ○ ★
× × × ×
× × × ×
× × × ×
● ● ○ ★
× × × ×
× × × ×
× × × ×
○ ★ ★ ★
"""
LEG_TABLE = """
× ○ ○
★ ● ★
● ★ ★
× ○ ○
× ● ●
× ○ ○
● ● ★
× ★ ★
× ● ★
× ★ ★
○ ○ ★
"""
FLOATING_LEG_TABLE = """
○ ○ ○
★ ● ★
● ★ ★
○ ○ ○
● ● ●
○ ○ ○
● ● ★
★ ★ ★
★ ● ★
★ ★ ★
★ ★ ★
"""
