"""Campaigns of `bench falsify`: their dynamics are right, and a broken promise is reported."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.bench.experiments.falsification import contacts, motion, takeovers, verdicts
from safe_sysid.bench.experiments.falsification.dynamics import (
    drive_torque,
    mass_matrix,
    posed,
)
from safe_sysid.bench.experiments.falsification.mechanisms import (
    Description,
    model_of,
    random_mechanism,
)
from safe_sysid.bench.experiments.falsification.recordings import (
    Recipe,
    _drive,
    random_recipe,
    record,
)
from safe_sysid.bench.experiments.falsification.shown_obstacles import (
    ADD,
    CUBE,
    compared,
)
from safe_sysid.bench.experiments.falsification.verdicts import judged, row_shares, rows_of
from safe_sysid.model.facts import facts_path, read_facts, urdf_path
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.track.takeover import TrackedArm

pytestmark = pytest.mark.slow  # dynamics of its own, which take long to compile

CORNER = Recipe(
    1, 2, 3, joints=2, signal='sampled', drive='prescribed', noise='gain', period=0.002
)  # every torque is wrong by all that is promised


def test_torques_are_those_of_pinocchio(rng):
    for n in (1, 2, 5, 9):
        mechanism = random_mechanism(rng, n, 0.3, 2.0)
        model = model_of(mechanism, n - 1, {})
        assert np.allclose(model.theta, mechanism.theta, atol=1e-12)
        q, qd, qdd = rng.normal(size=(3, n))
        arm = model.pinocchio()
        rigid = pin.rnea(arm, arm.createData(), q, qd, qdd)
        Fc, Fv, _, beta = model.layout.friction(model.theta)
        assert np.allclose(
            drive_torque(mechanism, q, qd, qdd), rigid + Fc * np.sign(qd) + Fv * qd + beta
        )


@pytest.mark.parametrize('robot', ['kinova_gen3', 'lbr_med7', 'two_link'])
def test_a_urdf_is_read_as_the_package_reads_it(robot):
    model, facts = RobotModel.named(robot), read_facts(facts_path(robot))
    told = Description(urdf_path(facts_path(robot), facts), model.layout.joint_names)
    friction = model.layout.friction(model.theta)
    mechanism = told.mechanism(np.array(facts.gravity), friction)
    assert np.allclose(mechanism.theta, model.theta, atol=1e-12)
    assert np.allclose(mechanism.place, model.tree.p_parent_joint)


@pytest.mark.nightly
def test_halving_the_step_does_not_change_a_motion(rng):
    for kind in ('track', 'dead_beat', 'smooth'):
        recipe = Recipe(1, 2, 3, joints=3, period=0.005, drive=kind, dry=0.3, speed=0.3)
        mechanism = random_mechanism(rng, 3, recipe.dry, recipe.viscous)
        start, times = rng.uniform(-1.0, 1.0, size=3), np.arange(60) * 0.005
        drive = _drive(rng, recipe, mechanism, start, len(times))
        H = mass_matrix(mechanism, posed(mechanism, start))
        step = (
            0.2
            / np.abs(
                np.linalg.eigvals(np.linalg.solve(H, np.diag(mechanism.viscous + drive.damping)))
            ).max()
        )
        runs = [
            motion.simulate(mechanism, drive, start, np.zeros(3), times, h)
            for h in (step, 0.5 * step)
        ]
        for one, two, size in zip(*runs, (1e-10, 1e-8, 1e-8, 0.5), strict=True):
            assert np.abs(one - two).max() <= size * (1.0 + np.abs(one).max())


def test_a_trial_follows_from_its_number_alone():
    recipe = random_recipe(np.random.default_rng([1, 0, 7]))
    assert recipe == random_recipe(np.random.default_rng([1, 0, 7]))
    one, two = judged(CORNER, 0), judged(CORNER, 0)
    assert one == two
    assert one.rows > 0


def test_errors_at_their_corner_fill_the_bounds_of_rows():
    recording = record(CORNER)
    share = row_shares(rows_of(recording), recording).max()
    assert 0.5 < share <= 1.0


def test_rows_with_too_small_bounds_are_reported(monkeypatch):
    honest = verdicts.observe

    def broken(*arguments):
        rows = honest(*arguments)
        return replace(rows, delta=0.4 * rows.delta)

    monkeypatch.setattr(verdicts, 'observe', broken)
    verdict = judged(CORNER, 0)
    assert verdict.row_violations > 0
    assert verdict.broken[0][0] == CORNER


def test_bounds_beside_the_truth_are_reported(monkeypatch):
    honest = verdicts.FORMS['linear']
    monkeypatch.setitem(verdicts.FORMS, 'linear', lambda *arguments: honest(*arguments) + 10.0)
    assert judged(CORNER, 2).misses['linear'] == 1


def test_a_contradiction_of_true_rows_is_reported(monkeypatch):
    honest = verdicts.rows_of

    def broken(recording):
        rows = honest(recording)
        return replace(rows, b=rows.b + 50.0 * rows.delta * (-1.0) ** np.arange(len(rows)))

    monkeypatch.setattr(verdicts, 'rows_of', broken)
    assert judged(CORNER, 0).false_contradictions > 0


def test_a_certificate_of_a_pose_that_touches_is_reported(monkeypatch):
    monkeypatch.setattr(contacts, 'is_certified', lambda *_: True)
    total = contacts.ContactVerdict()
    for number in range(1, 12):
        total.add(contacts.stood_still(1, ('lbr_med7', 'rod_tool'), number))
    assert total.certified == total.poses == 11
    assert 0 < total.contacts == len(total.broken)


def test_a_plan_taken_from_anywhere_is_reported(monkeypatch):
    assert takeovers.taken_over(1, 0).violations == 0
    monkeypatch.setattr(TrackedArm, 'refusal_to_begin', lambda *_: '')
    assert takeovers.taken_over(1, 0).violations > 0


def test_an_obstacle_that_is_not_avoided_is_reported():
    cube = {
        'ns': 'a', 'id': 1, 'type': CUBE, 'action': ADD, 'frame': 'base', 'lifetime': 0,
        'scale': [0.2, 0.2, 0.2], 'frame_locked': False, 'position': [1.0, 0.0, 0.0],
        'quaternion': [1.0, 0.0, 0.0, 0.0],
    }  # fmt: skip
    events = [{'at': 1, 'markers': [cube]}]
    box = [1.0, 0.0, 0.0, 0.1, 0.1, 0.1, *np.eye(3).ravel(), 0.0]
    small = [*box[:3], 0.1, 0.1, 0.09, *box[6:]]
    for boxes, violations in (([box], 0), ([small], 1), ([], 1)):
        scenes = [{'is_settled': True, 'boxes': boxes}]
        assert compared(0, events, scenes).violations == violations
    stopped = compared(0, events, [{'is_settled': False, 'boxes': []}])
    assert (stopped.violations, stopped.needless) == (0, 1)
