"""No box is lost because another one has its name, whatever the names are."""

from itertools import product

import numpy as np

from safe_sysid.model.collision.named_boxes import together
from safe_sysid.model.collision.shown_scene import Change, Shown, ShownScene
from safe_sysid.model.frame_tree import FrameTree
from safe_sysid.sets.box import Box


def box(at=0.0):
    return Box(np.full(3, at), np.ones(3), np.eye(3))


def test_every_box_of_every_source_is_there():
    names = ('a', "a'", "a''", 'b')
    sources = [{name: box() for name in names[i:]} for i in (0, 1, 0)]
    found = together(*sources)
    given = [id(each) for source in sources for each in source.values()]
    assert sorted(map(id, found.values())) == sorted(given)
    assert found['a'] is sources[0]['a']  # whoever comes first keeps its name


def test_objects_whose_parts_have_the_names_of_others_are_all_avoided():
    """MoveIt names objects as people like: one of them as the first part of another."""
    for order in product((False, True), repeat=2):
        scene = ShownScene(FrameTree('base', {}, 1.0), 0.2)
        objects = [
            ('a', (box(0.0), box(1.0))),
            ('a#0', (box(2.0),)),
            ('a#1', (box(3.0), box(4.0))),
        ]
        if order[0]:
            objects.reverse()
        if order[1]:
            objects = objects[1:] + objects[:1]
        changes = [Change(key, Shown(boxes, 'base')) for key, boxes in objects]
        scene.apply(changes, 0)
        at = sorted(float(each.center[0]) for each in scene.boxes.values())
        assert at == [0.0, 1.0, 2.0, 3.0, 4.0]
