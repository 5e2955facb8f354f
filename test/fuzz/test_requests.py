"""Plans, goals, paths and places that are asked for, with any content: understood or refused."""

import json
from types import SimpleNamespace

from fuzz.contents import (
    JOINT_NAMES,
    MODEL,
    NAMES,
    NANOSECONDS,
    NUMBERS,
    SEARCH,
    TEXTS,
    USUAL,
    WHOLE,
    headers,
    look_at,
    some,
)
from hypothesis import strategies as st
import numpy as np
from ros.messages.test_requested_goals import STAMP, Asked
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from safe_sysid.plan.message import PlanNotice, followed_of, plan_notice
from safe_sysid.plan.path.joint_path import joint_path
from safe_sysid.plan.task_goal import joint_goal
from safe_sysid.ros.actions.joint_trajectory import tolerances_of, trajectory_of
from safe_sysid.ros.messages.codec import SECOND, goal_positions, path_points, plan_message
from safe_sysid.ros.messages.handled_places_text import places_of_text, text_of_places
from safe_sysid.ros.messages.request_topics import LEARNS_TO, WANTED
from safe_sysid.ros.process.told_parameters import told_parameters
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.task_motion import Piece, TaskMotion

STILL = np.zeros(2)
START = np.array([0.3, 0.4])
PLAN = PlanNotice(
    10**9,
    TaskMotion((Piece(Bezier(START, STILL, STILL, 2.0), np.array([0.1, 0.2])),)),
    'an estimate',
)


@st.composite
def trajectories(draw, valid=()):
    """Points that say something of every joint, until some of it changes."""
    msg = JointTrajectory(
        header=draw(headers()), joint_names=draw(some(st.just(NAMES), JOINT_NAMES))
    )
    times = draw(some(st.just([0, 1, 2]), st.lists(WHOLE, max_size=4)))
    for given in valid or times:
        point = given if valid else JointTrajectoryPoint(positions=[0.3, 0.4])
        point.time_from_start.sec = point.time_from_start.sec if valid else given
        for field in ('positions', 'velocities', 'accelerations', 'effort'):
            if draw(st.integers(0, 7)) == 0:
                setattr(point, field, draw(st.lists(NUMBERS, max_size=4)))
        if draw(st.integers(0, 7)) == 0:
            point.time_from_start.sec = draw(WHOLE)
            point.time_from_start.nanosec = draw(NANOSECONDS)
        msg.points.append(point)
    return msg


def plan():
    """Points of a valid plan."""
    return plan_message(PLAN, NAMES).points


def damaged_plans():
    return st.builds(plan).flatmap(lambda points: trajectories(valid=tuple(points)))


def test_the_plan_itself_is_understood():
    assert plan_notice(plan_message(PLAN, NAMES), NAMES).start == 10**9


@SEARCH
def test_a_plan_has_finite_pieces_and_ends_at_rest_or_is_refused(search):
    def check(msg):
        notice = plan_notice(msg, NAMES)
        q, qd, qdd = notice.motion.pieces[-1].end
        assert np.isfinite(q).all() and not qd.any() and not qdd.any()
        assert notice.motion.duration > 0.0
        followed = followed_of(msg, NAMES)
        assert followed.end > followed.start == notice.start

    look_at(search, damaged_plans(), check)


@st.composite
def goals(draw):
    names = draw(some(st.just(NAMES), JOINT_NAMES))
    count = draw(some(st.just(len(names)), st.integers(0, 4)))
    positions = [draw(some(USUAL)) for _ in range(count)]
    return JointState(header=draw(headers()), name=names, position=positions)


@SEARCH
def test_a_goal_is_a_configuration_or_refused(search):
    def check(msg):
        q = joint_goal(MODEL, goal_positions(msg))
        assert [q[NAMES.index(name)] for name in msg.name if name in NAMES] == [
            x for name, x in zip(msg.name, msg.position, strict=True) if name in NAMES
        ] or np.isnan(q).any()

    look_at(search, goals(), check)


@SEARCH
def test_a_path_has_finite_states_at_growing_times_or_is_refused(search):
    def check(msg):
        path, _ = joint_path(MODEL, path_points(msg, NAMES), START)
        assert np.isfinite(path.states).all() and (np.diff(path.times) > 0.0).all()

    look_at(search, trajectories(), check)


@st.composite
def followed(draw):
    """Goals of FollowJointTrajectory."""
    names = st.sampled_from([*NAMES, 'gripper', ''])
    tolerances = st.builds(
        SimpleNamespace,
        name=names,
        position=NUMBERS,
        velocity=NUMBERS,
        acceleration=some(st.just(0.0)),
    )  # fmt: skip
    each = st.lists(tolerances, max_size=3)
    return SimpleNamespace(
        trajectory=draw(trajectories()),
        multi_dof_trajectory=SimpleNamespace(points=draw(some(st.just([]), st.just([None])))),
        path_tolerance=draw(each),
        goal_tolerance=draw(each),
        component_path_tolerance=[],
        component_goal_tolerance=draw(some(st.just([]), st.just([None]))),
    )


@SEARCH
def test_a_goal_of_an_action_is_a_path_with_tolerances_or_refused(search):
    def check(request):
        told = trajectory_of(request, NAMES, 5 * SECOND)
        assert told.points and sorted(told.joint_names) == sorted(NAMES)
        for tolerance in tolerances_of(request, NAMES):
            assert (tolerance.position > 0.0).all() and (tolerance.velocity > 0.0).all()

    look_at(search, followed(), check)


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.integers(), TEXTS, st.just('\ud800')),
    lambda inner: st.one_of(
        st.lists(inner, max_size=8),
        st.dictionaries(st.sampled_from(['name', 'joints', 'frame', 'pose', 'x']), inner),
    ),
    max_leaves=8,
)
TOLD = text_of_places(STAMP, [('pick', JointState(name=NAMES, position=[0.1, 0.2]))])
PLACES = st.one_of(
    st.fixed_dictionaries({'stamp': some(st.just(STAMP), VALUES), 'places': st.lists(VALUES)}).map(
        json.dumps
    ),
    VALUES.map(json.dumps),
    st.sampled_from([TOLD, TOLD[:-2], '[' * 100_000, 'null', '{"stamp": 1e999}', '\ud800']),
    st.integers(0, len(TOLD)).map(lambda end: TOLD[:end]),
)


@SEARCH
def test_places_that_a_text_asks_about_are_goals_or_refused(search):
    def check(text):
        stamp, places = places_of_text(text)
        assert isinstance(stamp, int)
        for name, where in places:
            assert isinstance(name, str) and where.header is not None

    look_at(search, PLACES, check)


@SEARCH
def test_numbers_that_are_to_be_learnt_are_taken_or_refused(search):
    def check(numbers):
        asked = Asked()
        asked._hear[WANTED](Float64MultiArray(data=numbers))
        said = asked.goals.figures()[LEARNS_TO]
        assert said == (str(numbers) if numbers else '') or len(asked.complaints) == 1

    look_at(search, st.lists(st.one_of(NUMBERS, st.floats(0.0, 9.0)), max_size=12), check)


WORDS = st.sampled_from(
    ['--ros-args', '-p', '--', 'a:=1', 'n:a.b:=[1, 2]', 'm:a:=1', ':=', 'a:=', 'a:={x: [', 'a:=*x']
)  # fmt: skip


@SEARCH
def test_parameters_on_a_command_line_are_values_or_refused(search):
    look_at(
        search,
        st.lists(WORDS, max_size=8),
        lambda words: told_parameters(['--ros-args', *words], '/n'),
    )
