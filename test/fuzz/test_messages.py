"""Messages from outside with any content: each is understood, or refused in a sentence."""

from fuzz.contents import JOINT_NAMES, MODEL, NAMES, NUMBERS, SEARCH, TEXTS, WHOLE, look_at
from geometry_msgs.msg import Point, TransformStamped
from hypothesis import strategies as st
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.ros.messages.codec import (
    JointStateReader,
    TorqueReader,
    TorqueWriter,
    estimate_message,
    estimate_of,
)
from safe_sysid.ros.messages.marker_changes import changes_of
from safe_sysid.ros.messages.transforms import transform_of
from safe_sysid.sets.interval import Interval
from safe_sysid.track.guarded_torque import Command


@st.composite
def joint_states(draw):
    names = draw(st.one_of(st.just(NAMES), JOINT_NAMES))
    msg = JointState(name=names)
    for field in ('position', 'velocity', 'effort'):
        size = draw(st.one_of(st.just(len(names)), st.integers(0, 4)))
        setattr(msg, field, draw(st.lists(NUMBERS, min_size=size, max_size=size)))
    msg.header.stamp.sec = draw(WHOLE)
    msg.header.stamp.nanosec = draw(st.sampled_from([0, 1, 999_999_999, 2**32 - 1]))
    return msg


@SEARCH
def test_joint_states_are_finite_or_refused(search):
    reader = JointStateReader(NAMES)

    def check(msg):
        sample = reader.measurement(msg)
        assert np.isfinite(sample.position).all() and np.isfinite(sample.velocity).all()
        assert np.isfinite(sample.torque).all() or np.isnan(sample.torque).all()
        order = [msg.name.index(name) for name in NAMES]
        np.testing.assert_array_equal(sample.position, np.array(msg.position)[order])

    look_at(search, joint_states(), check)


@st.composite
def markers(draw):
    marker = Marker(ns=draw(TEXTS), id=draw(WHOLE), type=draw(WHOLE))
    marker.action = draw(st.one_of(st.just(Marker.ADD), WHOLE))
    marker.header.frame_id = draw(TEXTS)
    marker.lifetime.sec, marker.frame_locked = draw(WHOLE), draw(st.booleans())
    for vector in (marker.pose.position, marker.scale):
        vector.x, vector.y, vector.z = (draw(NUMBERS) for _ in range(3))
    turn = marker.pose.orientation
    if draw(st.booleans()):
        turn.x, turn.y, turn.z, turn.w = (draw(NUMBERS) for _ in range(4))
    marker.points = [
        Point(x=x, y=y, z=z) for x, y, z in draw(st.lists(st.tuples(*[NUMBERS] * 3), max_size=5))
    ]
    marker.text = draw(TEXTS)
    marker.mesh_resource = draw(
        st.sampled_from(['', 'package://nowhere/a.stl', 'file:///dev/null', 'http://x/y.dae', 'a'])
    )
    return marker


@SEARCH
def test_markers_are_finite_boxes_or_unclear(search):
    def check(found):
        changes = changes_of(MarkerArray(markers=found))
        assert len(changes) == len(found)
        for change in changes:
            for box in change.shown.boxes if change.shown else ():
                assert np.isfinite(box.center).all() and np.isfinite(box.half_sizes).all()
                assert np.isfinite(box.radius)

    look_at(search, st.lists(markers(), max_size=3), check)


@st.composite
def arrays(draw, valid):
    """A message that was valid until some of its numbers, labels or sizes changed."""
    msg = Float64MultiArray(layout=valid.layout, data=list(valid.data))
    for _ in range(draw(st.integers(0, 4))):
        if len(msg.data):
            msg.data[draw(st.integers(0, len(msg.data) - 1))] = draw(NUMBERS)
    if draw(st.booleans()):
        msg.data = msg.data[: draw(st.integers(0, len(msg.data)))]
    if draw(st.integers(0, 4)) == 0:
        msg.layout.data_offset = draw(st.integers(0, 5))
    return msg


@SEARCH
def test_an_estimate_is_inside_its_bounds_or_refused(search):
    theta = np.linspace(-1.0, 1.0, MODEL.layout.size)
    estimate = ParameterEstimate(MODEL.layout, theta, Interval(theta - 0.1, theta + 0.1))

    def check(msg):
        found = estimate_of(msg, MODEL.layout).estimate
        assert np.isfinite(found.theta).all()
        assert (found.bounds.lower <= found.theta).all()

    look_at(search, arrays(estimate_message(estimate, 10**9)), check)


@SEARCH
def test_a_command_has_a_stamp_and_its_size_or_is_refused(search):
    reader = TorqueReader(NAMES)
    valid = TorqueWriter(NAMES).message(Command(np.array([1.0, 2.0]), 10**9))

    def check(msg):
        command = reader.command(msg)
        assert command.torque.size in (0, 2) and 0 <= command.stamp < 2**63

    look_at(search, arrays(valid), check)


@st.composite
def transforms(draw):
    msg = TransformStamped(child_frame_id=draw(TEXTS))
    msg.header.frame_id, msg.header.stamp.sec = draw(TEXTS), draw(WHOLE)
    shift, turn = msg.transform.translation, msg.transform.rotation
    shift.x, shift.y, shift.z = (draw(NUMBERS) for _ in range(3))
    turn.x, turn.y, turn.z, turn.w = (draw(NUMBERS) for _ in range(4))
    return msg


@SEARCH
def test_a_transform_is_a_placement_or_refused(search):
    def check(msg):
        place = transform_of(msg).placement
        turn = place.R
        np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-9)

    look_at(search, transforms(), check)
