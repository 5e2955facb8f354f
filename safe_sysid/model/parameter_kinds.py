"""Kinds of parameters that a width can be stated of, with their units."""

LINK_KINDS = {'mass': 'kg', 'first_moment': 'kg m', 'inertia': 'kg m^2'}
JOINT_KINDS = {'coulomb': 'N m', 'viscous': 'N m s/rad', 'armature': 'kg m^2', 'offset': 'N m'}
KINDS = LINK_KINDS | JOINT_KINDS
