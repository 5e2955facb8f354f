"""What the notes of an examination warn of."""

from fractions import Fraction

from identifiability import reference_mechanisms as reference
import pytest

from safe_sysid.errors import ModelError
from safe_sysid.identifiability.exact_geometry import ExactAngle, ExactPlacement, Turn
from safe_sysid.identifiability.examination import of_structure
from safe_sysid.identifiability.kinematic_tree import Joint, KinematicTree, revolute
from safe_sysid.identifiability.parameter_nullspace import exact_nullspace


def test_notes_warn_where_floats_would_have_counted_fewer():
    joints = list(reference.PARALLEL.joints)
    tilted = ExactPlacement(
        (Turn(0, ExactAngle(0, Fraction(1, 20_000))),), joints[1].placement.position
    )
    tilted = (joints[0], Joint('j', 'l', 0, tilted, revolute()))
    tree = KinematicTree(tilted, reference.DOWN)
    answer = of_structure(exact_nullspace(tree), 'tilted')
    assert any('floats alone would have counted fewer' in note for note in answer.notes)
    with pytest.raises(ModelError, match='so nearly special that floats lose it'):
        exact_nullspace(tree.without_gravity())
    plain = of_structure(exact_nullspace(reference.PARALLEL), 'parallel')
    assert not any('floats alone' in note for note in plain.notes)
