"""What a user is warned of: poor excitation, and meshes that come too near."""

from dataclasses import replace

import numpy as np

from safe_sysid.excite import motion_to_record
from safe_sysid.excite.certificate import Certificate
from safe_sysid.excite.design import design_problem, random_start
from safe_sysid.excite.motion_to_record import mesh_warnings, warnings_of
from safe_sysid.excite.multi_start import Design
from safe_sysid.excite.settings import read_settings
from safe_sysid.model.arm import arm_of
from safe_sysid.trajectory.bspline import SplineBasis
from safe_sysid.trajectory.motion_basis import Motion


def test_poor_excitation_is_said():
    arm = arm_of('two_link', None).model
    settings = replace(read_settings(), floor=None)
    problem = design_problem(arm, arm, settings)
    x = random_start(problem, np.random.default_rng(0))
    proof = Certificate(1.0, '', 0.0, 0.0, 0.0, 0.0, ())
    good = Design(problem.motion(x), 20.0, 1.0, proof, 0, ())
    assert warnings_of(problem, good, settings) == []
    (poor,) = warnings_of(problem, replace(good, condition=200.0), settings)
    assert poor.startswith('poor excitation: the condition number is 200, above 100')
    x[1, 1:] *= 1e-3
    (still,) = warnings_of(problem, replace(good, motion=problem.motion(x)), settings)
    assert still.startswith('poor excitation: joint joint_2 moves by 0.0')


def test_meshes_that_come_too_near_are_named(monkeypatch):
    """The shapes of the two-link arm stand for meshes; its second link folds into the mount."""
    monkeypatch.setattr(motion_to_record, 'has_meshes', lambda _: True)
    arm = arm_of('two_link', None)
    basis = SplineBasis(1.0, 3)
    there = np.zeros((2, basis.count))
    there[:, 0] = -0.5583, -2.998
    proof = Certificate(1.0, '', 0.0, 0.0, 0.0, 0.0, ())
    settings = replace(read_settings(), floor=None, duration=1.0)
    for x, words in ((there, 'come within -2'), (np.zeros((2, basis.count)), None)):
        found = Design(Motion(basis, x), 10.0, 1.0, proof, 0, ())
        sentences = mesh_warnings(arm, arm.model, found, settings)
        assert len(sentences) == (words is not None)
        assert words is None or words in sentences[0]
