"""Transforms come from /tf and /tf_static where their message is installed; else that is said."""

import sys
from types import SimpleNamespace

from geometry_msgs.msg import TransformStamped
import numpy as np
import pytest

from safe_sysid.model.frame_tree import FrameError, FrameTree
from safe_sysid.ros.messages.transforms import MISSING, Transforms


class Topics:
    """A node that remembers who listens to what."""

    def __init__(self):
        self.heard = {}

    def create_subscription(self, message, topic, hear, qos):
        del message, qos
        self.heard[topic] = hear


def transform(parent, child, x, sec=0):
    told = TransformStamped(child_frame_id=child)
    told.header.frame_id, told.header.stamp.sec = parent, sec
    told.transform.translation.x, told.transform.rotation.w = x, 1.0
    return told


def test_without_the_message_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, 'tf2_msgs.msg', None)
    topics = Topics()
    transforms = Transforms(topics, FrameTree('base', {}, 0.5), lambda: None)
    assert transforms.trouble == MISSING
    assert topics.heard == {}


def test_moving_and_static_transforms_place_frames(monkeypatch):
    monkeypatch.setitem(sys.modules, 'tf2_msgs', SimpleNamespace())
    monkeypatch.setitem(sys.modules, 'tf2_msgs.msg', SimpleNamespace(TFMessage=object))
    topics, frames, told = Topics(), FrameTree('base', {}, 0.5), []
    transforms = Transforms(topics, frames, lambda: told.append(1))
    static, moving = topics.heard['/tf_static'], topics.heard['/tf']
    static(SimpleNamespace(transforms=[transform('base', 'mast', 1.0)]))
    moving(SimpleNamespace(transforms=[transform('mast', 'camera', 0.5, sec=3)]))
    assert len(told) == 2
    place = frames.placement('camera', 3_000_000_000, 3_000_000_000)
    np.testing.assert_allclose(place.p, [1.5, 0.0, 0.0])
    with pytest.raises(FrameError, match='after the newest'):
        frames.placement('camera', 4_000_000_000, 4_000_000_000)
    broken = transform('base', 'cart', float('nan'))
    moving(SimpleNamespace(transforms=[broken]))
    assert "transform of 'cart'" in transforms.trouble
