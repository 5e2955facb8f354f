"""Figures of the LBR Med 7 and the dumbbell, typed from their sources once more, for tests only.

Angles and limits are as the sources print them, rounding included; nothing here is computed.
"""

from typing import NamedTuple


class BodyFigures(NamedTuple):
    """A link with mass; the inertia is about the centre of mass, axes of the link."""

    mass: float  # [kg]
    com: tuple[float, float, float]  # [m]
    inertia: tuple[float, float, float, float, float, float]  # ixx ixy ixz iyy iyz izz [kg m^2]


class JointFigures(NamedTuple):
    """A joint; axis is None if it is fixed."""

    parent: str
    child: str
    xyz: tuple[float, float, float]  # [m]
    rpy: tuple[float, float, float]  # [rad]
    axis: tuple[float, float, float] | None = None


# KUKA LBR Med 7 R800: lbr_description 2.1.2; effort: LBR iiwa 7 R800.
LBR_BODIES = {
    'link_0': BodyFigures(
        7.143112,
        (-0.001896, 0.0, 0.076263),
        (0.038694, 0.0, -0.000686, 0.039461, 0.0, 0.054387),
    ),
    'link_1': BodyFigures(
        3.271499,
        (0.0, -0.034819, 0.123299),
        (0.020611, 0.0, 0.0, 0.019667, 0.00366, 0.00729),
    ),
    'link_2': BodyFigures(
        3.886413,
        (0.0, 0.039793, 0.086944),
        (0.030552, 0.0, 0.0, 0.028995, 0.005676, 0.009317),
    ),
    'link_3': BodyFigures(
        3.271499,
        (0.0, 0.034819, 0.123299),
        (0.020611, 0.0, 0.0, 0.019667, -0.00366, 0.00729),
    ),
    'link_4': BodyFigures(
        3.886411,
        (0.0, -0.039793, 0.086944),
        (0.030547, 0.0, 0.0, 0.028993, -0.005676, 0.009313),
    ),
    'link_5': BodyFigures(
        1.474048,
        (0.0, -0.029824, 0.076267),
        (0.008179, 0.0, 0.0, 0.006879, 0.002704, 0.003709),
    ),
    'link_6': BodyFigures(
        2.316911,
        (-1e-06, 0.07102, 0.004953),
        (0.006813, 0.0, 0.0, 0.006559, 0.0003, 0.004462),
    ),
    'link_7': BodyFigures(
        0.250108,
        (3e-06, -2e-06, 0.013782),
        (0.000165, 0.0, 0.0, 0.000165, 0.0, 0.000288),
    ),
}
LBR_JOINTS = {
    'A1': JointFigures('link_0', 'link_1', (0.0, 0.0, 0.1475), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
    'A2': JointFigures(
        'link_1', 'link_2', (0.0, -0.0105, 0.1925), (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    ),
    'A3': JointFigures(
        'link_2', 'link_3', (0.0, 0.0105, 0.2075), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    ),
    'A4': JointFigures(
        'link_3', 'link_4', (0.0, 0.0105, 0.1925), (0.0, 0.0, 0.0), (0.0, -1.0, 0.0)
    ),
    'A5': JointFigures(
        'link_4', 'link_5', (0.0, -0.0105, 0.2075), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    ),
    'A6': JointFigures(
        'link_5', 'link_6', (0.0, -0.0707, 0.1925), (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    ),
    'A7': JointFigures('link_6', 'link_7', (0.0, 0.0707, 0.091), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
    'joint_ee': JointFigures('link_7', 'link_ee', (0.0, 0.0, 0.035), (0.0, 0.0, 0.0)),
}
LBR_POSITION_DEG = (170.0, 120.0, 170.0, 120.0, 170.0, 120.0, 175.0)
LBR_VELOCITY_DEG = (98.0, 98.0, 100.0, 130.0, 140.0, 180.0, 180.0)
LBR_ACCELERATION = (5.4444, 5.4444, 5.5555, 7.2222, 7.7777, 10.0, 10.0)  # [rad/s^2]
LBR_TORQUE_RATED = (176.0, 176.0, 110.0, 110.0, 110.0, 40.0, 40.0)  # [N m]
LBR_DAMPING = 10.0  # [N m s/rad], every joint
LBR_FRICTION = 0.1  # [N m], every joint
LBR_TOTAL_MASS = 25.5  # [kg]
LBR_CAPSULES = {  # a, b, radius [m] in the frame of the link
    'link_0': ((-0.0065, 0.0, 0.0479), (0.0065, 0.0, 0.0479), 0.1385),
    'link_1': ((0.0, 0.0, 0.05), (0.0, -0.0417, 0.1938), 0.0802),
    'link_2': ((0.0, 0.0105, 0.1768), (0.0, 0.0506, -0.0011), 0.0794),
    'link_3': ((0.0, 0.0413, 0.1934), (0.0, 0.0005, 0.0503), 0.0802),
    'link_4': ((0.0, -0.0105, 0.1768), (0.0, -0.0506, -0.0011), 0.0794),
    'link_5': ((0.0, -0.0542, 0.1775), (0.0, 0.0, 0.0182), 0.0692),
    'link_6': ((0.0, 0.0675, -0.0222), (0.0, 0.0677, 0.0334), 0.0778),
    'link_7': ((0.0, 0.0, 0.0025), (0.0, 0.0, 0.0025), 0.052),
}

# Dumbbell of 6 lb: the RAPTOR project; x is the bar axis.
POUND = 0.45359237  # [kg]
DUMBBELL_6LB_MASS = 2.72155422  # [kg]
DUMBBELL_6LB_INERTIA = (0.00154549554, 0.01219668034, 0.01219668034)  # ixx iyy izz [kg m^2]
DUMBBELL_LINK = 'gen3_robotiq_85_base_link'
DUMBBELL_XYZ = (0.0, 0.0, 0.12)  # [m]
