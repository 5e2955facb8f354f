"""What a user is warned of: poor excitation, and meshes that come too near."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.excite import contact_model
from safe_sysid.excite.certificate import MotionCertificate
from safe_sysid.excite.contact_model import ContactModel
from safe_sysid.excite.design import design_problem, random_start
from safe_sysid.excite.excitation_trajectory import design_trajectory, warnings_of
from safe_sysid.excite.multi_start import Design
from safe_sysid.excite.settings import Effort, ExcitationAim, read_settings
from safe_sysid.model.arm import arm_of
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.trajectory.bspline import SplineBasis
from safe_sysid.trajectory.motion_basis import Motion


def test_poor_excitation_is_said():
    arm = arm_of('two_link', None).model
    settings = replace(read_settings(), floor=None)
    problem = design_problem(arm, arm, settings)
    x = random_start(problem, np.random.default_rng(0))
    proof = MotionCertificate(1.0, '', 0.0, 0.0, 0.0, 0.0, ())
    good = Design(problem.motion(x), 20.0, 1.0, proof, 0, ())
    assert warnings_of(problem, good, settings) == []
    (poor,) = warnings_of(problem, replace(good, condition=200.0), settings)
    assert poor.startswith('poor excitation: the condition number is 200, above 100')
    x[1, 1:] *= 1e-3
    (still,) = warnings_of(problem, replace(good, motion=problem.motion(x)), settings)
    assert still.startswith('poor excitation: joint joint_2 moves by 0.0')


@pytest.mark.parametrize('name', ['four_bar', 'digit_left_leg'])
def test_no_motion_is_designed_that_tears_loops_open(name):
    with pytest.raises(ConfigError, match='has a closed chain'):
        design_trajectory(arm_of(name, None), None, ExcitationAim(), Effort(), read_settings(), id)


def test_meshes_that_come_too_near_are_named(monkeypatch):
    """The shapes of the two-link arm stand for meshes; its second link folds into the mount."""
    monkeypatch.setattr(contact_model, 'has_meshes', lambda _: True)
    arm = arm_of('two_link', None)
    basis = SplineBasis(1.0, 3)
    there = np.zeros((2, basis.count))
    there[:, 0] = -0.5583, -2.998
    settings = replace(read_settings(), floor=None, duration=1.0)
    contact = ContactModel.of(arm, design_problem(arm.model, arm.model, settings), None)
    assert contact.missing == contact.notes == ()
    for x, words in ((there, 'come within -2'), (np.zeros((2, basis.count)), None)):
        sentences = contact.too_near(Motion(basis, x), settings.clearance)
        assert len(sentences) == (words is not None)
        assert words is None or words in sentences[0]


def with_capsules_on(arm, joints):
    """The arm of which only some joints (-1: the base) have capsules."""
    capsules = arm.model.capsules
    kept = np.isin(capsules.joint, joints)
    fewer = Capsules(
        tuple(np.array(capsules.names)[kept]),
        capsules.joint[kept],
        capsules.a[kept],
        capsules.b[kept],
        capsules.radius[kept],
        np.zeros((0, 2), dtype=np.int64),
    )
    return replace(arm, model=replace(arm.model, capsules=fewer))


@pytest.mark.parametrize(
    ('joints', 'words'),
    [
        ([], 'two_link has no collision capsules'),
        ([-1], 'two_link has no collision capsules'),
        ([-1, 0], 'no capsule contains what joint_2 of two_link moves'),
        ([-1, 0, 1], None),
    ],
)
def test_bodies_without_capsules_are_named(joints, words):
    arm = with_capsules_on(arm_of('two_link', None), joints)
    settings = replace(read_settings(), floor=None)
    contact = ContactModel.of(arm, design_problem(arm.model, arm.model, settings), None)
    assert len(contact.missing) == (words is not None)
    assert words is None or contact.missing[0].startswith(words)


def test_capsules_that_always_overlap_are_named():
    """The base swallows the whole arm; nothing can be proven then."""
    arm = arm_of('two_link', None)
    capsules = arm.model.capsules
    wide = replace(capsules, radius=np.where(capsules.joint < 0, 5.0, capsules.radius))
    arm = replace(arm, model=replace(arm.model, capsules=wide))
    settings = replace(read_settings(), floor=None)
    (words,) = ContactModel.of(arm, design_problem(arm.model, arm.model, settings), None).missing
    assert 'overlap in every pose, so nothing is said about them' in words


def test_meshes_that_are_not_found_end_nothing(tmp_path):
    """The proof rests on capsules; a search goes on without its second opinion, and says so."""
    arm = arm_of('two_link', None)
    text = arm.urdf.read_text(encoding='utf-8')
    mesh = '<collision><geometry><mesh filename="package://gone/a.stl"/></geometry></collision>'
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(text.replace('</link>', f'{mesh}</link>', 1), encoding='utf-8')
    arm = replace(arm, urdf=urdf)
    settings = replace(read_settings(), floor=None)
    contact = ContactModel.of(arm, design_problem(arm.model, arm.model, settings), None)
    assert contact.meshes is None and contact.missing == ()
    (note,) = contact.notes
    assert note.startswith('meshes are not looked at') and "'package://gone/a.stl'" in note
    assert 'name the folder of its package with --package-path' in note
