"""Geometry that is kept belongs to the numbers of a tree, not to the arrays that hold them."""

import numpy as np

from safe_sysid.reach.joint_geometry import joint_geometry
from safe_sysid.simulate.random_arm import random_tree


def test_arrays_that_are_changed_in_place_have_another_geometry():
    tree = random_tree(np.random.default_rng(3), 4, serial=True).tree
    tree = tree._replace(p_parent_joint=tree.p_parent_joint.copy())
    before = joint_geometry(tree).copy()
    assert joint_geometry(tree) is joint_geometry(tree._replace(gravity=np.zeros(3)))
    tree.p_parent_joint[2] += 0.5
    after = joint_geometry(tree)
    assert np.abs(after - before).max() > 0.1
    tree.p_parent_joint[2] -= 0.5
    np.testing.assert_allclose(joint_geometry(tree), before, atol=1e-12)
