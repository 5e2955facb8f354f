"""The steps of `handle`: what is learnt before something is carried, and what was picked again."""

from dataclasses import replace
from types import SimpleNamespace

from geometry_msgs.msg import PoseStamped
import numpy as np
import pytest
from ros.actions.test_handling import Gripper, Loop
from ros.actions.test_placing import Placed
from sensor_msgs.msg import JointState

from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.actions.asked import Outcome
from safe_sysid.ros.actions.handle_action import Asking, Hand, HandleAction
from safe_sysid.sets.interval import Interval

ARM = RobotModel.named('two_link')
Q = [1.0, 0.5]
PLACE = JointState(name=list(ARM.layout.joint_names), position=[0.7, 0.7])
asked_about = []  # places, the newest last


def check(places):
    asked_about.append(places)


KIND = SimpleNamespace(Result=SimpleNamespace, Feedback=SimpleNamespace)


class Moving(Loop):
    """One whose arm is somewhere, and whose planner may learn on the way."""

    def __init__(self, on_the_way=False):
        super().__init__()
        self.q, self.on_the_way = Q, on_the_way

    @property
    def measured(self):
        return SimpleNamespace(position=np.array(self.q), stamp=1)

    def figure(self, key, node='planner'):
        told = {('planner', 'learns on the way'): str(self.on_the_way)}
        return told.get((node, key), '')


def action(loop, placed=None, mass=(0.0, 1.0), **asked):
    """One goal; `mass` are bounds on that of the thing [kg], a list may change."""
    goal = {
        **{name: JointState() for name in ('pick_joints', 'lift_joints', 'place_joints')},
        **{name: PoseStamped() for name in ('pick', 'place')},
        **{'heaviest': 0.0, 'half_widths': [], 'time_limit': 0.0},
    }
    own = Interval(np.zeros(10), np.zeros(10))

    def known():
        bounds = Interval(np.full(10, mass[0]), np.full(10, mass[1]))
        return SimpleNamespace(end_effector_bounds=bounds, end_effector=bounds.center)

    asking = Asking(loop, None, known, lambda: ([], []), lambda _: None, check, None)
    hand = Hand(Gripper(), own, ARM, placed or Placed())
    return HandleAction(KIND, SimpleNamespace(**{**goal, **asked}), asking, hand)


@pytest.mark.parametrize(
    ('on_the_way', 'asked', 'weighs'),
    [
        (False, {'place_joints': PLACE}, 1),
        (True, {'place_joints': PLACE}, 0),
        (True, {}, 1),  # nothing is carried
        (True, {'place_joints': PLACE, 'half_widths': [0.1]}, 1),
        (True, {'place_joints': PLACE, 'time_limit': 5.0}, 1),
        (True, {'place_joints': PLACE, 'heaviest': 2.0}, 1),
        (False, {'place_joints': PLACE, 'heaviest': 2.0, 'half_widths': [0.1]}, 2),
    ],
)
def test_what_carrying_needs_is_left_to_a_planner_that_learns_on_the_way(
    on_the_way, asked, weighs
):
    names = [name for name, _ in action(Moving(on_the_way), **asked)._steps()]
    carried = ['carry', 'release'] if asked else []
    checked = ['check'] if asked else []
    assert names == [*checked, 'grasp', *['weigh'] * weighs, *carried]


def test_all_places_that_a_goal_names_are_asked_about_before_anything_moves():
    pick = PoseStamped()
    pick.header.frame_id = 'base_link'
    steps = action(Moving(), pick=pick, lift_joints=PLACE, place_joints=PLACE)._steps()
    name, begin = steps[0]
    assert (name, steps[1][0]) == ('check', 'approach')
    begin()
    assert asked_about.pop() == [('pick', pick), ('lift', PLACE), ('place', PLACE)]
    assert action(Moving())._steps()[0][0] == 'grasp'


def test_what_was_placed_is_in_the_hand_again_once_that_is_certain():
    """Where the gripper closed, not where the arm is when bounds tell."""
    loop, placed, mass = Moving(), Placed(), [-0.1, 1.0]
    handle = action(loop, placed, mass)
    handle._note_picked()
    assert not placed.taken_at
    handle.asked.done.append('grasp')
    handle._note_picked()
    assert not placed.taken_at  # it may have missed it
    loop.q, mass[0] = [0.0, 0.0], 0.2
    handle.result(Outcome(True, 'learned'))
    assert placed.taken_at == [tuple(Q)]


@pytest.mark.parametrize(
    ('mass', 'lightest', 'missed'),
    [
        ((-0.05, 0.05), 1.0, True),
        ((-0.05, 0.99), 1.0, True),
        ((-0.05, 1.0), 1.0, False),
        ((-0.05, 0.05), 0.0, False),  # nobody knows how light it may be
    ],
)
def test_a_hand_is_empty_once_it_weighs_less_than_all_that_it_may_hold(mass, lightest, missed):
    handle = action(Moving(), mass=mass)
    hand = replace(handle._hand, lightest=lightest)
    known = handle._asking.known()
    assert ('the lightest that it may be 1 kg; nothing was picked' in hand.missed(known)) is missed
    assert bool(hand.missed(known)) is missed
    assert hand.missed(None) == ''


def test_every_step_begins_with_what_the_last_one_has_picked():
    loop, placed = Moving(), Placed()
    handle = action(loop, placed, (0.2, 1.0))
    begun = handle._noting(lambda: 'begun')
    assert begun() == 'begun'
    assert not placed.taken_at
    handle.asked.done.append('grasp')
    begun()
    assert placed.taken_at == [tuple(Q)]
