"""What RViz shows: payload, plan, what it may reach and obstacles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from geometry_msgs.msg import Inertia, InertiaStamped, Point, Quaternion, Vector3
import numpy as np
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.arrays import Array
from safe_sysid.identify.payload_in_frame import nearest_body
from safe_sysid.model.inertia import from_mass_com_inertia, is_consistent
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.messages.codec import time_of
from safe_sysid.sets.box import Box

THINNEST = 1e-4  # [m]
MASS, INERTIA = ColorRGBA(r=0.9, g=0.2, b=0.7, a=0.6), ColorRGBA(r=0.2, g=0.7, b=0.4, a=0.35)
PATH, REACH, OBSTACLE = (
    ColorRGBA(r=0.1, g=0.5, b=0.9, a=1.0),
    ColorRGBA(r=0.9, g=0.6, b=0.1, a=0.25),
    ColorRGBA(r=0.6, g=0.1, b=0.1, a=0.8),
)


def payload_message(model: RobotModel, estimate: ParameterEstimate, stamp: int) -> InertiaStamped:
    """Nominal payload alone: the end effector, less what the URDF says of it empty.

    What is left need not be a body; the nearest one is told, or its mass alone, at its centre.
    """
    own = model.own_end_effector
    held = nearest_body(estimate.end_effector - own, estimate.end_effector_bounds - own)
    if held[0] <= 0.0:
        held = np.zeros(10)
    elif not is_consistent(held):
        centre = held[1:4] / held[0]
        held = from_mass_com_inertia(held[0], centre, np.zeros((3, 3)))
    return _inertia_message(model, held, stamp)


def _inertia_message(model: RobotModel, body: Array, stamp: int) -> InertiaStamped:
    """Ten parameters of a body as mass, centre and inertia about it, in the frame of the tip."""
    m, *first, Ixx, Ixy, Iyy, Ixz, Iyz, Izz = body.tolist()
    com = np.array(first) / m if m > 0.0 else np.zeros(3)
    about_joint = np.array([[Ixx, Ixy, Ixz], [Ixy, Iyy, Iyz], [Ixz, Iyz, Izz]])
    about_com = about_joint - m * (com @ com * np.eye(3) - np.outer(com, com))
    return InertiaStamped(
        header=Header(stamp=time_of(stamp), frame_id=frame_of_tip(model)),
        inertia=Inertia(
            m=m,
            com=Vector3(x=float(com[0]), y=float(com[1]), z=float(com[2])),
            ixx=float(about_com[0, 0]),
            ixy=float(about_com[0, 1]),
            ixz=float(about_com[0, 2]),
            iyy=float(about_com[1, 1]),
            iyz=float(about_com[1, 2]),
            izz=float(about_com[2, 2]),
        ),
    )


def payload_markers(model: RobotModel, estimate: ParameterEstimate, stamp: int) -> MarkerArray:
    """Draw the box of the centre of mass of [theta_e] and the ellipsoid of its nominal inertia."""
    frame, markers = frame_of_tip(model), [Marker(action=Marker.DELETEALL)]
    bounds = estimate.end_effector_bounds
    told = _inertia_message(model, estimate.end_effector, stamp).inertia
    if bounds.lower[0] > 0.0:
        mass = bounds[:1]
        com = bounds[1:4] / mass
        box = _marker(frame, stamp, 'centre of mass', 0, MASS)
        box.type = Marker.CUBE
        box.pose.position = _point(com.center)
        box.scale = _sizes(2.0 * com.radius)
        markers.append(box)
    if told.m > 0.0:
        about = np.array(
            [
                [told.ixx, told.ixy, told.ixz],
                [told.ixy, told.iyy, told.iyz],
                [told.ixz, told.iyz, told.izz],
            ]
        )
        moments, axes = np.linalg.eigh(about)
        axes[:, 0] *= np.sign(np.linalg.det(axes))
        # of a solid ellipsoid of this mass: I1 = m/5 (b^2 + c^2), and so on
        squares = 2.5 * (moments.sum() - 2.0 * moments) / told.m
        solid = _marker(frame, stamp, 'inertia', 0, INERTIA)
        solid.type = Marker.SPHERE
        solid.pose.position = _point([told.com.x, told.com.y, told.com.z])
        solid.pose.orientation = quaternion_of(axes)
        solid.scale = _sizes(2.0 * np.sqrt(np.maximum(squares, 0.0)))
        markers.append(solid)
    return MarkerArray(markers=markers)


def frame_of_tip(model: RobotModel) -> str:
    """Link whose frame is that of the last joint."""
    return _frame_at(model, model.layout.tip)


def frame_of_base(model: RobotModel) -> str:
    """Link that does not move."""
    return _frame_at(model, -1)


def _frame_at(model: RobotModel, joint: int) -> str:
    frames = [(name, f) for name, f in model.frames.items() if f.joint == joint]
    at_joint = [
        name for name, f in frames if np.allclose(f.p, 0.0) and np.allclose(f.R, np.eye(3))
    ]
    return at_joint[0] if at_joint else frames[0][0]


def quaternion_of(R: Array) -> Quaternion:
    """Return unit quaternion of a rotation matrix."""
    # the eigenvector of the largest eigenvalue: no case distinction, exact for every rotation
    K = np.array(
        [
            [R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[2, 1] - R[1, 2]],
            [R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1], R[0, 2] - R[2, 0]],
            [R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], np.trace(R)],
        ]
    )
    x, y, z, w = np.linalg.eigh(K)[1][:, -1].tolist()
    return Quaternion(x=x, y=y, z=z, w=w)


def obstacle_markers(boxes: Mapping[str, Box], frame: str, stamp: int) -> MarkerArray:
    """Boxes as cubes, exactly what the planner avoids."""
    markers = [Marker(action=Marker.DELETEALL)]
    each = enumerate(boxes.items())
    markers += [box_marker(box, frame, name, number, stamp) for number, (name, box) in each]
    return MarkerArray(markers=markers)


def box_marker(box: Box, frame: str, ns: str, number: int, stamp: int = 0) -> Marker:
    """Return a box as a cube, its rounded edges included."""
    marker = _marker(frame, stamp, ns, number, OBSTACLE)
    marker.type = Marker.CUBE
    marker.pose.position = _point(box.center)
    marker.pose.orientation = quaternion_of(box.rotation)
    sizes = 2.0 * (box.half_sizes + box.radius)
    marker.scale = Vector3(x=float(sizes[0]), y=float(sizes[1]), z=float(sizes[2]))
    return marker


def path_markers(points: Array, frame: str, stamp: int) -> MarkerArray:
    """Return a path in space as a line, (m, 3) [m]."""
    marker = _marker(frame, stamp, 'plan', 0, PATH)
    marker.type = Marker.LINE_STRIP
    marker.scale.x = 0.01  # [m] wide
    marker.points = [_point(p) for p in points]
    return MarkerArray(markers=[marker])


@dataclass(frozen=True, eq=False)
class Balls:
    """Balls of one size."""

    centers: Array  # (m, 3) [m]
    radius: float  # [m]


def ball_markers(every: Sequence[Balls], frame: str, stamp: int) -> MarkerArray:
    """Balls that contain what is reached."""
    markers = [Marker(action=Marker.DELETEALL)]
    for number, balls in enumerate(every):
        marker = _marker(frame, stamp, 'reachable_set', number, REACH)
        marker.type = Marker.SPHERE_LIST
        size = 2.0 * balls.radius
        marker.scale = Vector3(x=size, y=size, z=size)
        marker.points = [_point(p) for p in balls.centers]
        markers.append(marker)
    return MarkerArray(markers=markers)


def _marker(frame: str, stamp: int, ns: str, number: int, color: ColorRGBA) -> Marker:
    marker = Marker(
        header=Header(stamp=time_of(stamp), frame_id=frame),
        ns=ns,
        id=number,
        action=Marker.ADD,
        color=color,
    )
    marker.pose.orientation.w = 1.0
    return marker


def _sizes(lengths: Array) -> Vector3:
    """Return lengths that RViz draws: not quite nothing."""
    x, y, z = np.maximum(lengths, THINNEST).tolist()
    return Vector3(x=x, y=y, z=z)


def _point(p: Sequence[float] | Array) -> Point:
    return Point(x=float(p[0]), y=float(p[1]), z=float(p[2]))
