"""Torques that hold an arm still, from its description alone."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from safe_sysid.arrays import Array
from safe_sysid.model.description.chain import ChosenChain, described_joints
from safe_sysid.model.urdf_tree import build

POSES = 1000  # at which they are looked at


def described_static_torques(root: ElementTree.Element, urdf: Path, chain: ChosenChain) -> Array:
    """Largest torques at rest (n,) [N m], at poses within the limits."""
    model = build(urdf, chain.joints, chain.held)
    joints, data = described_joints(root, urdf), model.createData()
    ends = np.array([(joints[name].lower, joints[name].upper) for name in model.names[1:]])
    lower, upper = np.clip(ends, -np.pi, np.pi).T
    poses = np.random.default_rng(0).uniform(lower, upper, (POSES, model.nv))
    torques = [pin.computeGeneralizedGravity(model, data, pose) for pose in poses]
    return np.asarray(np.abs(torques).max(axis=0))
