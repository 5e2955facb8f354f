"""Questions about places are answered under their stamp, and lead nowhere."""

from types import SimpleNamespace

from geometry_msgs.msg import PoseStamped
import numpy as np
import pytest
from ros.messages.test_requested_goals import FIRST, HERE, MODEL, SECOND, STAMP, Asked
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from safe_sysid.errors import MessageError
from safe_sysid.model.collision.capsules_to_box import box_about
from safe_sysid.plan.picked_again import PickedAgain
from safe_sysid.ros.messages.handled_places_text import (
    pick_of_text,
    places_of_text,
    text_of_places,
)
from safe_sysid.ros.messages.handling_checks import HandlingChecks
from safe_sysid.ros.messages.request_topics import (
    ANSWERED,
    CHECK_PICKS,
    CHECK_REFUSED,
    CHECKED,
    PLACES,
)

LINK = MODEL.capsules.names[-1]
JOINTS = JointState(name=[SECOND, FIRST], position=[0.9, 0.4])


def pose(frame='base_link', **position):
    msg = PoseStamped()
    msg.header.frame_id = frame
    msg.pose.orientation.w = 1.0
    for axis, value in position.items():
        setattr(msg.pose.position, axis, value)
    return msg


class Checked(Asked):
    """One that is asked about places, too; every place but those of `weak` can be stood at."""

    def __init__(self, weak=()):
        super().__init__()
        self.stood, self.noted = [], []

        def trouble(q, obstacles):
            del obstacles
            self.stood.append(q.tolist())
            return 'too heavy' if q.tolist() in weak else ''

        standing = SimpleNamespace(trouble=trouble, problem=SimpleNamespace(retreat=None))
        self.checks = HandlingChecks(self.goals, lambda: standing, ())
        self.checks.listen(self, self, self.complaints.append, lambda: None)

    def beside(self, work, then):
        then(work())

    def note_rest(self, q):
        self.noted.append(q.tolist())

    def answer(self, *places):
        self._hear[PLACES](String(data=text_of_places(STAMP, places)))
        figures = self.checks.figures()
        assert figures[CHECKED] == str(STAMP)
        assert self.goals.figures()[ANSWERED] == ''
        assert not self.task.has_goal
        return figures[CHECK_REFUSED]


def test_a_text_about_places_is_read_as_it_was_meant():
    told = pose('table', x=0.1, y=-0.2, z=1e-9)
    stamp, places = places_of_text(text_of_places(STAMP, [('pick', told), ('lift', JOINTS)]))
    assert (stamp, [name for name, _ in places]) == (STAMP, ['pick', 'lift'])
    assert places[0][1] == told
    assert dict(zip(places[1][1].name, places[1][1].position, strict=True)) == {
        FIRST: 0.4,
        SECOND: 0.9,
    }


@pytest.mark.parametrize(
    'text',
    [
        *('', '[]', '{"stamp": 1}', '{"stamp": "x"}'),
        '{"stamp": 1, "places": [{"name": "pick"}]}',
        '{"stamp": 1, "places": [{"name": "\\ud800", "frame": "b", "pose": [0,0,0,0,0,0,1]}]}',
        '{"stamp": 1e999, "places": []}',
        '{"stamp": 1, "places": ' + 100_000 * '[' + 100_000 * ']' + '}',
        '{"stamp": 1, "places": [{"name": "a", "frame": "b", "pose": [1' + 400 * '0' + ']}]}',
        '{"stamp": 1, "places": [{"name": "pick", "frame": "a", "pose": [1.0]}]}',
    ],
)
def test_a_text_that_cannot_be_read_is_said_so(text):
    with pytest.raises(MessageError, match='places to look at cannot be read'):
        places_of_text(text)


def test_places_are_looked_at_in_order_and_nothing_is_led_to():
    checked = Checked()
    there = JointState(name=[FIRST, SECOND], position=[0.1, 0.2])
    assert checked.answer(('pick', JOINTS), ('lift', JOINTS), ('place', there)) == ''
    assert checked.stood == [[0.4, 0.9], [0.1, 0.2]]


@pytest.mark.parametrize(
    ('place', 'weak', 'why'),
    [
        (('place', JOINTS), [[0.4, 0.9]], 'place: too heavy'),
        (
            ('pick', JointState(name=[FIRST], position=[1.0])),
            [],
            f"pick: the goal has no ['{SECOND}",
        ),
        (('lift', JointState(name=[FIRST, SECOND], position=[0.0, 99.0])), [], 'is at 99 rad'),
        (('place', pose('nowhere')), [], 'nowhere'),
        (('place', pose(x=9.0)), [], 'm; the nearest of'),
    ],
)
def test_a_place_that_is_refused_is_named_with_the_reason(place, weak, why):
    checked = Checked(weak)
    stamp, _, reason = checked.answer(place).partition(' ')
    assert (stamp, reason.split(': ')[0]) == (str(STAMP), place[0])
    assert why in reason
    assert len(checked.warnings) == 1


def test_an_obstacle_at_a_place_is_named_and_how_far_the_arm_would_be_in_it():
    checked = Checked()
    q = np.array([0.4, 0.9])
    checked.scene.boxes['shelf'] = box_about(MODEL, [LINK], q)
    assert checked.answer(('place', JOINTS)).endswith('mm inside shelf')


def test_without_a_joint_state_nothing_is_known():
    checked = Checked()
    checked.goals.note_position(None)
    assert 'no joint state was heard yet' in checked.answer(('place', JOINTS))
    checked.goals.note_position(HERE)


PICKS = PickedAgain('placed: object/41', np.array([[0.5, 0.9], [0.4, 0.9]]))


def test_what_is_picked_again_is_told_with_the_way_in(monkeypatch):
    checked = Checked()
    reached = SimpleNamespace(again=PICKS)
    monkeypatch.setattr(f'{HandlingChecks.__module__}.reached_places', lambda *_: reached)
    assert checked.answer(('pick', JOINTS)) == ''
    stamp, _, told = checked.checks.figures()[CHECK_PICKS].partition(' ')
    assert stamp == str(STAMP)
    picks = pick_of_text(told)
    assert picks.name == PICKS.name
    np.testing.assert_array_equal(picks.way, PICKS.way)


def test_once_it_is_shown_again_the_hand_may_leave_it(monkeypatch):
    """When it comes back, not while it is there, nor when it goes."""
    checked, box = Checked(), {PICKS.name: None}
    checked.checks.note_scene(box)
    reached = SimpleNamespace(again=PICKS)
    monkeypatch.setattr(f'{HandlingChecks.__module__}.reached_places', lambda *_: reached)
    checked.answer(('pick', JOINTS))
    for boxes in (box, {}, {'other': None}):
        checked.checks.note_scene(boxes)
    assert checked.noted == []
    checked.checks.note_scene(box)
    checked.checks.note_scene(box)
    assert checked.noted == [[0.4, 0.9]]
