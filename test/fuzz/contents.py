"""Numbers, names and texts that a message may hold, and the check of one message after another."""

from fuzz.limits import soon
from fuzz.searched import searched, some_or
from geometry_msgs.msg import Point, Pose, Quaternion
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from std_msgs.msg import Header

from safe_sysid.errors import SafeSysidError
from safe_sysid.model.robot_model import RobotModel

MODEL = RobotModel.named('two_link')
NAMES = list(MODEL.layout.joint_names)
HARSH = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e-12, 2.0**53]
NUMBERS = st.one_of(st.sampled_from(HARSH), st.floats(-10.0, 10.0))
USUAL = st.floats(-3.0, 3.0)
WHOLE = st.one_of(st.sampled_from([0, 1, 2, 3, 12, 2**31 - 1, -(2**31)]), st.integers(-5, 15))
NANOSECONDS = st.sampled_from([0, 1, 999_999_999, 2**32 - 1])
TEXTS = st.sampled_from(['', 'base_link', 'camera', '/', 'ß', 'a' * 300, 'x\x01y'])
JOINT_NAMES = st.lists(st.sampled_from([*NAMES, 'gripper', '']), max_size=5)
SEARCH = some_or(30, 6000)


def look_at(search, strategy, check):
    """Check so many contents; a sentence is as good as a result."""

    @searched(search)
    @given(strategy)
    def one(content):
        try:
            with soon():
                check(content)
        except SafeSysidError as error:
            assert str(error).strip(), type(error)

    one()


def some(usual, harsh=NUMBERS):
    """Mostly what is usual."""
    return st.one_of(usual, usual, usual, harsh)


@st.composite
def headers(draw):
    """Of any frame at any time."""
    header = Header(frame_id=draw(TEXTS))
    header.stamp.sec, header.stamp.nanosec = draw(WHOLE), draw(NANOSECONDS)
    return header


@st.composite
def poses(draw):
    """Somewhere, mostly."""
    x, y, z = (draw(some(USUAL)) for _ in range(3))
    turn = Quaternion(w=1.0)
    if draw(st.booleans()):
        turn.x, turn.y, turn.z, turn.w = (draw(NUMBERS) for _ in range(4))
    return Pose(position=Point(x=x, y=y, z=z), orientation=turn)
