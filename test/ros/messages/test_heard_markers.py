"""Markers read from bytes are what rclpy reads, whatever they hold."""

from contextlib import suppress

from geometry_msgs.msg import Point
import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import ColorRGBA
from tiers import slow_after
from visualization_msgs.msg import Marker, MarkerArray, UVCoordinate

from safe_sysid.ros.messages import heard_markers
from safe_sysid.ros.messages.heard_markers import HeardMarker
from safe_sysid.ros.messages.marker_changes import changes_in, changes_of

FIELDS = [name for name in HeardMarker.__slots__ if name != 'whole']


@pytest.fixture(autouse=True)
def afresh():
    """What is known of the installed definition is found out again."""
    heard_markers._is_usual.cache_clear()
    yield
    heard_markers._is_usual.cache_clear()


def text(rng):
    letters = rng.choice(list('abc/é漢🤖'), size=rng.integers(0, 9))
    return ''.join(letters)


def marker(rng, is_plain):
    """One with figures everywhere; a plain one has nothing but a place, a size and a name."""
    made = Marker(ns=text(rng), id=int(rng.integers(-9, 9)), action=int(rng.integers(0, 4)))
    made.type = int(rng.choice([0, 1, 2, 3, 5, 6, 8, 9, 99]))
    made.header.frame_id = text(rng)
    made.header.stamp.sec, made.header.stamp.nanosec = rng.integers(0, 2**31, 2).tolist()
    made.lifetime.sec, made.lifetime.nanosec = (
        int(rng.integers(*x)) for x in ((-5, 5), (0, 10**9))
    )
    made.frame_locked = bool(rng.integers(2))
    for part in (made.pose.position, made.pose.orientation, made.scale):
        for name in part.get_fields_and_field_types():
            setattr(part, name, float(rng.normal()))
    made.color.a = 1.0
    if not is_plain:
        made.points = [Point(x=float(x), y=1.0) for x in rng.normal(size=rng.integers(0, 4))]
        made.colors = [ColorRGBA(r=0.5)] * int(rng.integers(0, 3))
        made.uv_coordinates = [UVCoordinate(u=0.5)] * int(rng.integers(0, 3))
        made.texture_resource, made.text, made.mesh_resource = (text(rng) for _ in range(3))
        made.texture.header.frame_id, made.texture.format = text(rng), text(rng)
        made.texture.data = rng.integers(0, 256, rng.integers(0, 9)).tolist()
        made.mesh_file.filename = text(rng)
        made.mesh_file.data = rng.integers(0, 256, rng.integers(0, 9)).tolist()
    return made


def seen(each):
    return [getattr(each, name) for name in FIELDS]


def shown(change):
    """All that a change shows, as plain numbers."""
    if change.shown is None:
        return None
    boxes = [(b.center, b.half_sizes, b.rotation) for b in change.shown.boxes]
    told = [[figure.tolist() for figure in box] for box in boxes]
    rest = (change.shown.frame, change.shown.stamp, change.shown.moves_with_frame)
    return told, rest, change.shown.lifetime


@pytest.mark.parametrize('share', slow_after(1, [0.5, 0.0, 1.0]))
def test_what_is_read_from_bytes_is_what_rclpy_reads(rng, share, monkeypatch):
    def never(*_):
        raise AssertionError('read by rclpy')

    for _ in range(200):
        markers = [marker(rng, rng.random() < share) for _ in range(rng.integers(0, 6))]
        told = MarkerArray(markers=markers)
        data = serialize_message(told)
        with monkeypatch.context() as patch:
            heard_markers._is_usual()
            patch.setattr(heard_markers, 'deserialize_message', never)
            found = heard_markers.heard_markers(data)
        assert [seen(each) for each in found] == [seen(HeardMarker.of(m)) for m in markers]
        again = deserialize_message(data, MarkerArray).markers
        assert [each.whole() for each in found] == again
        mine, theirs = changes_in(found), changes_of(told)
        assert [(c.key, c.unclear) for c in mine] == [(c.key, c.unclear) for c in theirs]
        for one, other in zip(mine, theirs, strict=True):
            assert shown(one) == shown(other)


def test_numbers_that_are_none_are_read_as_they_are(rng):
    made = marker(rng, is_plain=True)
    made.pose.position.x, made.scale.y = float('nan'), float('inf')
    (found,) = heard_markers.heard_markers(serialize_message(MarkerArray(markers=[made])))
    assert np.isnan(found.position[0])
    assert found.scale[1] == np.inf


def test_another_definition_is_read_by_rclpy(rng, monkeypatch):
    """One that has a color of another size is not guessed at."""
    monkeypatch.setattr(heard_markers, 'COLOR', 20)
    markers = [marker(rng, is_plain=True) for _ in range(3)]
    found = heard_markers.heard_markers(serialize_message(MarkerArray(markers=markers)))
    assert not heard_markers._is_usual()
    assert [seen(each) for each in found] == [seen(HeardMarker.of(m)) for m in markers]


def test_bytes_that_are_cut_or_flipped_are_never_read_otherwise(rng):
    """What rclpy reads of it is read here, too, and the same."""
    data = serialize_message(MarkerArray(markers=[marker(rng, False) for _ in range(3)]))
    refused = 0
    for _ in range(2000):
        broken = bytearray(data[: rng.integers(0, len(data) + 1)])
        for place in rng.integers(0, max(len(broken), 1), rng.integers(0, 3)):
            if place < len(broken):
                broken[place] = int(rng.integers(256))
        try:
            theirs = deserialize_message(bytes(broken), MarkerArray).markers
        except Exception:  # noqa: BLE001 - whatever rclpy raises
            refused += 1
            with suppress(Exception):
                heard_markers.heard_markers(bytes(broken))
        else:
            found = heard_markers.heard_markers(bytes(broken))
            np.testing.assert_equal(
                [seen(f) for f in found], [seen(HeardMarker.of(t)) for t in theirs]
            )
    assert 0 < refused < 2000
