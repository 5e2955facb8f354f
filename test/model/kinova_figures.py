"""Figures of the Kinova Gen3 with Robotiq 2F-85, typed from their sources, for tests only.

Sources: kortex_description and the RAPTOR project; rounded as printed there.
"""

from model.arm_figures import BodyFigures, JointFigures

BODIES = {
    'gen3_base_link': BodyFigures(
        1.697,
        (-0.000648, -0.000166, 0.084487),
        (0.004622, 9e-06, 6e-05, 0.004495, 9e-06, 0.002079),
    ),
    'gen3_shoulder_link': BodyFigures(
        1.3773,
        (-2.3e-05, -0.010364, -0.07336),
        (0.00457, 1e-06, 2e-06, 0.004831, 0.000448, 0.001409),
    ),
    'gen3_half_arm_1_link': BodyFigures(
        1.1636,
        (-4.4e-05, -0.09958, -0.013278),
        (0.011088, 5e-06, 0.0, 0.001072, -0.000691, 0.011255),
    ),
    'gen3_half_arm_2_link': BodyFigures(
        1.1636,
        (-4.4e-05, -0.006641, -0.117892),
        (0.010932, 0.0, -7e-06, 0.011127, 0.000606, 0.001043),
    ),
    'gen3_forearm_link': BodyFigures(
        0.9302,
        (-1.8e-05, -0.075478, -0.015006),
        (0.008147, -1e-06, 0.0, 0.000631, -0.0005, 0.008316),
    ),
    'gen3_spherical_wrist_1_link': BodyFigures(
        0.6781,
        (1e-06, -0.009432, -0.063883),
        (0.001596, 0.0, 0.0, 0.001607, 0.000256, 0.000399),
    ),
    'gen3_spherical_wrist_2_link': BodyFigures(
        0.6781,
        (1e-06, -0.045483, -0.00965),
        (0.001641, 0.0, 0.0, 0.00041, -0.000278, 0.001641),
    ),
    'gen3_bracelet_link': BodyFigures(
        0.364,
        (-9.3e-05, 0.000132, -0.022905),
        (0.000214, 0.0, 1e-06, 0.000223, -2e-06, 0.00024),
    ),
    'gen3_robotiq_85_base_link': BodyFigures(
        0.66320197,
        (0.0, 2.274e-05, 0.03232288),
        (0.00051617816, 2.936e-08, 0.0, 0.00058802208, -3.2296e-07, 0.00039462776),
    ),
    'gen3_robotiq_85_left_knuckle_link': BodyFigures(
        0.01384773208,
        (0.01213197, 0.0002, -0.00058647),
        (3.5232e-07, 0.0, 1.1744e-07, 2.31944e-06, 0.0, 2.23136e-06),
    ),
    'gen3_robotiq_85_right_knuckle_link': BodyFigures(
        0.01384773208,
        (-0.01213197, 0.0002, -0.00058647),
        (3.5232e-07, 0.0, -1.1744e-07, 2.31944e-06, 0.0, 2.23136e-06),
    ),
    'gen3_robotiq_85_left_finger_link': BodyFigures(
        0.04260376752,
        (0.00346899, -0.00079447, 0.01867121),
        (1.385792e-05, 0.0, -2.17264e-06, 1.183208e-05, 0.0, 5.19672e-06),
    ),
    'gen3_robotiq_85_right_finger_link': BodyFigures(
        0.04260376752,
        (-0.00346899, -5.53e-06, 0.01867121),
        (1.385792e-05, 0.0, 2.17264e-06, 1.183208e-05, 0.0, 5.19672e-06),
    ),
    'gen3_robotiq_85_left_inner_knuckle_link': BodyFigures(
        0.02969376448,
        (0.01897699, 0.00015001, 0.02247101),
        (9.57136e-06, 0.0, -3.93424e-06, 8.69056e-06, 0.0, 8.19144e-06),
    ),
    'gen3_robotiq_85_right_inner_knuckle_link': BodyFigures(
        0.02969376448,
        (-0.01926824, 5.001e-05, 0.02222178),
        (9.42456e-06, 0.0, 3.9636e-06, 8.69056e-06, 0.0, 8.33824e-06),
    ),
    'gen3_robotiq_85_left_finger_tip_link': BodyFigures(
        0.04268588744,
        (-0.01456706, -0.0008, 0.01649701),
        (1.048152e-05, 0.0, 3.5232e-06, 1.197888e-05, 0.0, 4.22784e-06),
    ),
    'gen3_robotiq_85_right_finger_tip_link': BodyFigures(
        0.04268588744,
        (0.01456706, 5e-05, 0.01649701),
        (1.048152e-05, 0.0, -3.5232e-06, 1.197888e-05, 0.0, 4.22784e-06),
    ),
}
FRAMES = (
    'world',
    'gen3_end_effector_link',
    'wrist_camera_link',
    'wrist_mounted_camera_bottom_screw_frame',
)
JOINTS = {
    'gen3_base_joint': JointFigures('world', 'gen3_base_link', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    'joint_1': JointFigures(
        'gen3_base_link',
        'gen3_shoulder_link',
        (0.0, 0.0, 0.15643),
        (3.1416, 2.7629e-18, -4.9305e-36),
        (0.0, 0.0, 1.0),
    ),
    'joint_2': JointFigures(
        'gen3_shoulder_link',
        'gen3_half_arm_1_link',
        (0.0, 0.005375, -0.12838),
        (1.5708, 2.1343e-17, -1.1102e-16),
        (0.0, 0.0, 1.0),
    ),
    'joint_3': JointFigures(
        'gen3_half_arm_1_link',
        'gen3_half_arm_2_link',
        (0.0, -0.21038, -0.006375),
        (-1.5708, 1.2326e-32, -2.9122e-16),
        (0.0, 0.0, 1.0),
    ),
    'joint_4': JointFigures(
        'gen3_half_arm_2_link',
        'gen3_forearm_link',
        (0.0, 0.006375, -0.21038),
        (1.5708, -6.6954e-17, -1.6653e-16),
        (0.0, 0.0, 1.0),
    ),
    'joint_5': JointFigures(
        'gen3_forearm_link',
        'gen3_spherical_wrist_1_link',
        (0.0, -0.20843, -0.006375),
        (-1.5708, 2.2204e-16, -6.373e-17),
        (0.0, 0.0, 1.0),
    ),
    'joint_6': JointFigures(
        'gen3_spherical_wrist_1_link',
        'gen3_spherical_wrist_2_link',
        (0.0, 0.00017505, -0.10593),
        (1.5708, 9.2076e-28, -8.2157e-15),
        (0.0, 0.0, 1.0),
    ),
    'joint_7': JointFigures(
        'gen3_spherical_wrist_2_link',
        'gen3_bracelet_link',
        (0.0, -0.10593, -0.00017505),
        (-1.5708, -5.5511e-17, 9.6396e-17),
        (0.0, 0.0, 1.0),
    ),
    'gen3_end_effector': JointFigures(
        'gen3_bracelet_link',
        'gen3_end_effector_link',
        (0.0, 0.0, -0.0615250000000001),
        (3.14159265358979, 1.09937075168372e-32, 0.0),
    ),
    'gen3_robotiq_85_base_joint': JointFigures(
        'gen3_end_effector_link', 'gen3_robotiq_85_base_link', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    ),
    'gen3_robotiq_85_left_knuckle_joint': JointFigures(
        'gen3_robotiq_85_base_link',
        'gen3_robotiq_85_left_knuckle_link',
        (0.03060114, 0.0, 0.05490452),
        (0.0, 0.0, 0.0),
    ),
    'gen3_robotiq_85_right_knuckle_joint': JointFigures(
        'gen3_robotiq_85_base_link',
        'gen3_robotiq_85_right_knuckle_link',
        (-0.03060114, 0.0, 0.05490452),
        (0.0, 0.0, 0.0),
    ),
    'gen3_robotiq_85_left_finger_joint': JointFigures(
        'gen3_robotiq_85_left_knuckle_link',
        'gen3_robotiq_85_left_finger_link',
        (0.03152616, 0.0, -0.00376347),
        (0.0, 0.0, 0.0),
    ),
    'gen3_robotiq_85_right_finger_joint': JointFigures(
        'gen3_robotiq_85_right_knuckle_link',
        'gen3_robotiq_85_right_finger_link',
        (-0.03152616, 0.0, -0.00376347),
        (0.0, 0.0, 0.0),
    ),
    'gen3_robotiq_85_left_inner_knuckle_joint': JointFigures(
        'gen3_robotiq_85_base_link',
        'gen3_robotiq_85_left_inner_knuckle_link',
        (0.0127, 0.0, 0.06142),
        (0.0, 0.0, 0.0),
    ),
    'gen3_robotiq_85_right_inner_knuckle_joint': JointFigures(
        'gen3_robotiq_85_base_link',
        'gen3_robotiq_85_right_inner_knuckle_link',
        (-0.0127, 0.0, 0.06142),
        (0.0, 0.0, 0.0),
    ),
    'gen3_robotiq_85_left_finger_tip_joint': JointFigures(
        'gen3_robotiq_85_left_finger_link',
        'gen3_robotiq_85_left_finger_tip_link',
        (0.00563134, 0.0, 0.04718515),
        (0.0, 0.0, 0.0),
    ),
    'gen3_robotiq_85_right_finger_tip_joint': JointFigures(
        'gen3_robotiq_85_right_finger_link',
        'gen3_robotiq_85_right_finger_tip_link',
        (-0.00563134, 0.0, 0.04718515),
        (0.0, 0.0, 0.0),
    ),
    'wrist_camera_joint': JointFigures(
        'gen3_bracelet_link',
        'wrist_camera_link',
        (0.0, -0.06841, -0.05044),
        (0.0, 1.7444444444444447, -1.5708),
    ),
    'wrist_mounted_camera_joint': JointFigures(
        'wrist_camera_link',
        'wrist_mounted_camera_bottom_screw_frame',
        (0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
    ),
}
CONTINUOUS = ('joint_1', 'joint_3', 'joint_5', 'joint_7')
POSITION_DEG = {'joint_2': 128.9, 'joint_4': 147.8, 'joint_6': 120.3}
POSITION_OF_DESCRIPTION = {'joint_2': 2.24, 'joint_4': 2.57, 'joint_6': 2.09}  # [rad], today's
POSITION_BEFORE = {'joint_2': 2.41, 'joint_4': 2.66, 'joint_6': 2.23}  # [rad], until 2024
VELOCITY_DEG = (100.0, 100.0, 100.0, 100.0, 180.0, 180.0, 180.0)
VELOCITY_OF_DESCRIPTION = (
    1.3963,
    1.3963,
    1.3963,
    1.3963,
    1.2218,
    1.2218,
    1.2218,
)  # [rad/s]
ACCELERATION_DEG = (297.94, 297.94, 297.94, 297.94, 572.95, 572.95, 572.95)
TORQUE_CONTINUOUS = (39.0, 39.0, 39.0, 39.0, 9.0, 9.0, 9.0)  # [N m]
TORQUE_WARNING = (56.7, 56.7, 56.7, 56.7, 29.4, 29.4, 29.4)
COULOMB = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
VISCOUS = (
    10.5,
    7.406484581723072,
    9.972763340817286,
    8.266795082250392,
    8.857224902652815,
    8.711083156933284,
    8.888190363830693,
)
ARMATURE = (
    8.03,
    11.996202461530364,
    9.002542786175152,
    11.580643931670636,
    8.466504091791412,
    8.853706937374243,
    8.858730366468532,
)
ENCODER_DEG = (0.02, 0.02, 0.02, 0.02, 0.011, 0.011, 0.011)
END_EFFECTOR_MASS = 1.28  # [kg], bracelet with gripper, rounded to 10 g
SPHERES = (  # link, centre [m], radius [m]
    ('gen3_half_arm_1_link', (0.0, -0.05, -0.01), 0.06),
    ('gen3_half_arm_1_link', (0.0, -0.11, -0.01), 0.06),
    ('gen3_half_arm_1_link', (0.0, -0.17, -0.01), 0.06),
    ('gen3_half_arm_1_link', (0.0, -0.24, -0.01), 0.06),
    ('gen3_half_arm_1_link', (0.0, -0.3, -0.01), 0.06),
    ('gen3_half_arm_1_link', (0.0, -0.36, -0.01), 0.06),
    ('gen3_half_arm_1_link', (0.0, -0.43, -0.01), 0.07),
    ('gen3_forearm_link', (0.0, -0.07, 0.0), 0.07),
    ('gen3_forearm_link', (0.0, -0.14, 0.0), 0.06),
    ('gen3_forearm_link', (0.0, -0.21, 0.0), 0.06),
    ('gen3_forearm_link', (0.0, -0.28, 0.0), 0.06),
    ('gen3_forearm_link', (0.0, -0.32, 0.0), 0.06),
    ('gen3_spherical_wrist_2_link', (0.0, -0.07, 0.0), 0.05),
    ('gen3_spherical_wrist_2_link', (0.0, -0.14, 0.0), 0.05),
    ('gen3_bracelet_link', (-0.03, -0.06, -0.055), 0.02),
    ('gen3_bracelet_link', (0.0, -0.06, -0.055), 0.02),
    ('gen3_bracelet_link', (0.03, -0.06, -0.055), 0.02),
    ('gen3_bracelet_link', (0.0, 0.0, -0.1), 0.05),
    ('gen3_bracelet_link', (0.0, 0.0, -0.15), 0.05),
    ('gen3_bracelet_link', (0.0, 0.0, -0.2), 0.05),
)

# Of the meshes in kortex_description, seven joints, with the camera: the outermost vertices along
# each axis of the link and those nearest to the surface of our capsules [m].
MESH_POINTS = {
    'gen3_base_link': (
        (-0.0461, -0.0279, 0.0),
        (-0.0456, -0.0295, 0.0),
        (-0.0456, 0.0295, 0.0),
        (-0.0451, -0.0047, 0.1708),
        (0.0001, -0.046, 0.1417),
        (0.0001, 0.0462, 0.0388),
        (0.0458, -0.0048, 0.1702),
        (0.0458, 0.0048, 0.1702),
        (0.0464, -0.001, 0.0202),
    ),
    'gen3_shoulder_link': (
        (-0.0464, -0.0202, -0.0497),
        (-0.0458, 0.0192, -0.1322),
        (-0.0446, 0.0192, -0.1397),
        (-0.044, 0.0, -0.0024),
        (0.0, -0.0487, -0.1358),
        (-0.0, -0.013, -0.1744),
        (0.0, 0.0461, -0.0276),
        (0.0446, 0.0192, -0.1397),
        (0.0458, 0.0192, -0.1322),
        (0.0464, -0.0202, -0.0497),
    ),
    'gen3_half_arm_1_link': (
        (-0.046, -0.0, -0.0194),
        (-0.0454, -0.2248, -0.0064),
        (-0.0042, 0.0423, -0.0464),
        (0.0, 0.0025, -0.0554),
        (-0.0, 0.0405, -0.0484),
        (-0.0, 0.0426, -0.0465),
        (0.0, 0.046, -0.0194),
        (0.0002, -0.194, 0.0396),
        (0.0042, 0.0423, -0.0464),
        (0.046, 0.0, -0.0194),
    ),
    'gen3_half_arm_2_link': (
        (-0.046, -0.013, -0.2104),
        (-0.044, -0.0, -0.0024),
        (-0.04, -0.0369, -0.2014),
        (-0.0383, -0.0385, -0.2055),
        (0.0, -0.049, -0.2129),
        (0.0, 0.0202, -0.2564),
        (0.0003, 0.046, -0.0164),
        (0.0383, -0.0385, -0.2055),
        (0.04, -0.0369, -0.2014),
        (0.046, -0.013, -0.2104),
    ),
    'gen3_forearm_link': (
        (-0.046, -0.0, -0.0194),
        (-0.0344, -0.2209, -0.0064),
        (-0.0081, 0.0404, -0.0477),
        (-0.0041, 0.0411, -0.0477),
        (-0.002, 0.0412, -0.0477),
        (0.0, -0.1846, 0.0286),
        (-0.0, -0.0058, -0.0559),
        (0.0, 0.0413, -0.0477),
        (0.0, 0.046, -0.0194),
        (0.046, 0.0, -0.0194),
    ),
    'gen3_spherical_wrist_1_link': (
        (-0.035, -0.0143, -0.1063),
        (-0.0332, 0.0, -0.0025),
        (-0.0101, -0.0522, -0.1107),
        (-0.0069, -0.0527, -0.1114),
        (-0.0035, -0.053, -0.1118),
        (-0.0, -0.026, -0.141),
        (-0.0, 0.035, -0.0144),
        (0.0069, -0.0527, -0.1114),
        (0.0101, -0.0522, -0.1107),
        (0.035, -0.0143, -0.1059),
    ),
    'gen3_spherical_wrist_2_link': (
        (-0.035, -0.1178, -0.0002),
        (-0.0344, -0.1184, -0.0002),
        (-0.0035, 0.0133, -0.0523),
        (-0.0035, 0.0167, -0.0513),
        (0.0, -0.0915, 0.0348),
        (0.0, 0.0062, -0.0533),
        (0.0, 0.0124, -0.0526),
        (0.0, 0.0351, -0.0262),
        (0.0035, 0.0133, -0.0523),
        (0.035, -0.1178, -0.0002),
    ),
    'gen3_bracelet_link': (
        (-0.0455, -0.062, -0.0619),
        (-0.0375, 0.0, -0.0644),
        (-0.0308, 0.0, -0.0025),
        (-0.0249, -0.0403, -0.0462),
        (-0.0247, -0.0405, -0.046),
        (0.0, 0.0375, -0.0644),
        (0.0045, -0.0747, -0.0545),
        (0.0247, -0.0405, -0.046),
        (0.0249, -0.0403, -0.0464),
        (0.0455, -0.062, -0.0619),
    ),
}
