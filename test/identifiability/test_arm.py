"""What can be known of an arm's theta: by any motion, by one recording, and when some is known."""

from identifiability import reference_mechanisms as reference
import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.errors import ModelError
from safe_sysid.identifiability.arm import (
    excitation,
    structural_base_parameters,
    with_known,
)
from safe_sysid.identifiability.base_parameters import base_parameters
from safe_sysid.identifiability.exact_geometry import HERE, Y_AXIS
from safe_sysid.identifiability.kinematic_tree import (
    Joint,
    KinematicTree,
    cylindrical,
    prismatic,
    revolute,
)
from safe_sysid.identifiability.parameter_classes import ParameterClass, classes_of
from safe_sysid.identifiability.parameter_nullspace import exact_nullspace
from safe_sysid.identifiability.undetectable_changes import base_parameters_of, preference
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.random_arm import random_tree


def rows(model, q, qd, qdd):
    return standard_regressor(model, q, qd, qdd).reshape(-1, model.layout.size)


def random_rows(model, rng, samples=100):
    return rows(model, *rng.normal(size=(3, samples, model.n)))


@pytest.mark.parametrize('robot', ['kinova_gen3', 'lbr_med7', 'two_link'])
def test_structure_of_theta_with_friction_and_armature(robot, rng):
    model = RobotModel.named(robot)
    structure, Y = structural_base_parameters(model), random_rows(model, rng)
    assert structure.count == base_parameters(Y).count
    np.testing.assert_allclose(Y @ structure.undetectable, 0, atol=1e-12)
    theta = rng.normal(size=model.layout.size)
    np.testing.assert_allclose(
        Y[:, structure.columns] @ structure.values(theta), Y @ theta, atol=1e-11
    )


@pytest.mark.parametrize('seed', slow_after(10, range(24)))
def test_structure_of_random_arms(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 4, seed % 2 == 0, armature=0.3)
    structure, Y = structural_base_parameters(model), random_rows(model, rng)
    assert structure.count == base_parameters(Y).count
    assert np.abs(Y @ structure.undetectable).max() < 1e-9 * np.abs(Y).max()


def test_a_recording_that_shows_everything(rng):
    model = RobotModel.named('kinova_gen3')
    structure = structural_base_parameters(model)
    found = excitation(structure, random_rows(model, rng))
    assert found.missing == 0
    assert found.told.all()


def test_what_one_recording_leaves_open_is_told_apart_from_what_all_do(rng):
    """A joint that stands still: its friction and armature, and what only it would show."""
    model = RobotModel.named('two_link')
    structure = structural_base_parameters(model)
    q, qd, qdd = rng.normal(size=(3, 60, 2))
    q[:, 1], qd[:, 1], qdd[:, 1] = 0.3, 0.0, 0.0
    found = excitation(structure, rows(model, q, qd, qdd))
    assert found.missing > 0
    names = np.array(model.layout.labels)[structure.columns]
    told = dict(zip(names, found.told, strict=True))
    assert told['joint_1.Fv'] and told['joint_1.Fc']
    assert not told['joint_2.Fv'] and not told['joint_2.Ia']
    base = found.excited
    assert structure.count == base.count + found.missing


def test_a_regressor_of_another_arm_is_refused(rng):
    structure = structural_base_parameters(RobotModel.named('two_link'))
    with pytest.raises(ModelError, match='28 columns'):
        excitation(structure, rng.normal(size=(10, 27)))


def test_two_joints_with_a_massless_link_between_them_are_a_cylinder():
    """Known to be zero is another use of known parameters."""
    cylinder = KinematicTree((Joint('c', 'C', -1, HERE, cylindrical()), arm(0)), Y_AXIS)
    split = KinematicTree(
        (
            Joint('slide', 'nothing', -1, HERE, prismatic()),
            Joint('turn', 'C', 0, HERE, revolute()),
            arm(1),
        ),
        Y_AXIS,
    )
    whole = base_parameters_of(exact_nullspace(cylinder))
    nullspace = exact_nullspace(split)
    found = with_known(base_parameters_of(nullspace), np.arange(10), preference(nullspace))
    assert found.count == whole.count
    np.testing.assert_array_equal(found.columns, whole.columns)
    np.testing.assert_allclose(found.regrouping, whole.regrouping, atol=1e-12)


def arm(parent):
    place = reference.PERPENDICULAR.joints[1].placement
    return Joint('arm', 'A', parent, place, revolute())


def test_what_is_known_makes_its_partners_known(rng):
    """With link 6 of the PUMA known, no transfer across joint 6 is left."""
    nullspace = exact_nullspace(reference.PUMA)
    base = base_parameters_of(nullspace)
    found = with_known(base, np.arange(50, 60), preference(nullspace))
    assert found.count == 36 - 7
    R = found.undetectable
    Y = rng.normal(size=(80, base.count)) @ base.regrouping
    np.testing.assert_allclose(Y[:, :50] @ R, 0, atol=1e-12)
    assert np.linalg.matrix_rank(Y[:, :50]) == found.count
    assert found.decision.gap > 1e6


def test_knowing_the_last_link_reveals_all_between_spherical_wrists():
    """All masses of the chain are then known up to what earlier joints let pass."""
    nullspace = exact_nullspace(reference.PUMA)
    base, order = base_parameters_of(nullspace), preference(nullspace)
    free = [base.regrouping.shape[1] - base.count]
    for known in (50, 40, 30):
        found = with_known(base, np.arange(known, 60), order)
        free.append(found.regrouping.shape[1] - found.count)
    assert free == [24, 21, 18, 15]
    assert ParameterClass.NONE in classes_of(found)
