"""What is looked at: every pair that is not proven apart, joined, or left out by name."""

from dataclasses import replace
import itertools
import json

from model.collision.test_capsules import HULLS_APART
from model.collision.test_pair_separation import in_coal, moving_pairs
import numpy as np
import pinocchio as pin
import pytest
from tiers import slow_after

from safe_sysid.model.collision import verdict_cache
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.collision.pair_separation import Verdict
from safe_sysid.model.collision.verdict_cache import cache_folder, verdicts
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.share import payload_names
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.bezier import Bezier

HELD = [
    (robot, payload)
    for payload in payload_names()
    for robot in ('kinova_gen3', 'lbr_med7', 'two_link')
    if robot in read_payload(payload).placements
]
LEFT_OUT = {
    'kinova_gen3': {('forearm', 'wrist_2'), ('wrist_1', 'gripper'), *HULLS_APART['kinova_gen3']},
    'lbr_med7': {('link_5', 'link_7'), ('link_6', 'rod_tool.fixture')},
    'two_link': set(),
}
SHAPES = [  # the dumbbells have one shape
    ('kinova_gen3', 'dumbbell_8lb'),
    ('lbr_med7', 'dumbbell_8lb'),
    ('lbr_med7', 'rod_tool'),
    ('two_link', 'dumbbell_8lb'),
]
POSES = 1500


def loaded(robot, payload):
    return RobotModel.named(robot).with_payload(read_payload(payload))


@pytest.mark.parametrize(('robot', 'payload'), HELD)
def test_every_pair_has_its_place(robot, payload):
    bare, model = RobotModel.named(robot), loaded(robot, payload)
    capsules = model.capsules
    kinds = [
        set(map(tuple, x.tolist())) for x in (capsules.pairs, capsules.apart, capsules.left_out)
    ]
    for one, other in itertools.combinations(kinds, 2):
        assert not one & other
    every = set.union(*kinds)
    for pair, chain in moving_pairs(model):
        is_held = len(bare.capsules.names) <= pair[1]
        assert (pair in every) == (is_held or len(chain.joints) > 1)
    assert set(capsules.named(capsules.left_out)) <= LEFT_OUT[robot]


def touching(model, rng):
    """Random poses in which coal finds a contact that nothing excuses: pose, pair."""
    coal = pytest.importorskip('coal')
    capsules, arm = model.capsules, model.pinocchio()
    out = set(map(tuple, capsules.left_out.tolist()))
    held = ['.' in name for name in capsules.names]
    pairs = [
        pair
        for pair, chain in moving_pairs(model)
        if pair not in out and (len(chain.joints) > 1 or held[pair[1]])
    ]
    shapes = [
        coal.Capsule(r, float(np.linalg.norm(b - a)))
        for a, b, r in zip(capsules.a, capsules.b, capsules.radius, strict=True)
    ]
    lower = np.maximum(model.limits.position_lower, -np.pi) + 0.1
    upper = np.minimum(model.limits.position_upper, np.pi) - 0.1
    for q in rng.uniform(lower, upper, (POSES, model.n)):
        data = arm.createData()
        pin.forwardKinematics(arm, data, q)
        placed = [in_coal(coal, capsules, data, i) for i in range(len(shapes))]
        for i, j in pairs:
            request, result = coal.CollisionRequest(), coal.CollisionResult()
            if coal.collide(shapes[i], placed[i], shapes[j], placed[j], request, result):
                yield q, (capsules.names[i], capsules.names[j])
                break


def test_the_dumbbells_have_one_shape():
    every = [read_payload(name) for name in payload_names() if 'dumbbell' in name]
    assert all(payload.shapes == every[0].shapes for payload in every)
    assert {robot for robot, _ in HELD} == {robot for robot, _ in SHAPES}
    assert {payload for _, payload in HELD} == {*payload_names()}


@pytest.mark.parametrize(('robot', 'payload'), slow_after(1, SHAPES))
def test_standing_in_contact_is_never_certified(robot, payload, rng):
    """An arm that touches itself with what it holds, and could stand there otherwise."""
    model = loaded(robot, payload)
    theta = model.theta.copy()
    rotors = model.layout.joint_entries('Ia')
    theta[rotors] = np.maximum(theta[rotors], 0.5)
    strong = replace(model.limits, torque=1e3 * model.limits.torque)
    model = replace(model, limits=strong).with_parameters(theta)
    estimate = ParameterEstimate(model.layout, theta, ratio_bounds(theta, 0.01))
    gains, rest = Gains(np.full(model.n, 10.0), V_M=1e-4, alpha=25.0), np.zeros(model.n)
    found, apart = 0, set(model.capsules.named(model.capsules.apart))
    for q, pair in touching(model, rng):
        assert pair not in apart
        horizon = Horizon(Bezier(q, rest, rest, 1.0), rest, rest, intervals=1)
        certificate = ReachableSet.certify_center(
            Problem(model, estimate, horizon, gains, NO_OBSTACLES)
        )
        assert not certificate.holds, (pair, str(certificate))
        assert certificate.margins['self clearance'].margin <= 0.0
        assert set(certificate.apart) == apart
        found += 1
        if found == 12:
            break
    assert found > 0


def test_verdicts_are_kept_on_disk_and_damaged_ones_proven_again(tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    monkeypatch.setattr(verdict_cache, '_known', {})
    model = loaded('two_link', 'dumbbell_8lb')
    chains = [chain for _, chain in moving_pairs(model)]
    first = verdicts(chains)
    (kept,) = [
        path for path in cache_folder().glob('*.json')
        if len(json.loads(path.read_text())['verdicts']) == len(chains)
    ]  # fmt: skip
    asked = []
    proof = verdict_cache.separation
    monkeypatch.setattr(verdict_cache, 'separation', lambda c: (asked.append(c), proof(c))[1])
    monkeypatch.setattr(verdict_cache, '_known', {})
    assert verdicts(chains) == first
    assert not asked
    said = json.loads(kept.read_text())
    lie = {**said, 'verdicts': [Verdict.APART.value] * len(chains)}
    for damaged in (json.dumps(lie), '{', json.dumps({'verdicts': []}), '[1]'):
        kept.write_text(damaged)
        monkeypatch.setattr(verdict_cache, '_known', {})
        asked.clear()
        assert verdicts(chains) == first
        assert len(asked) == len(chains)
    longer = chains[0]._replace(radii=chains[0].radii + 1e-9)
    monkeypatch.setattr(verdict_cache, '_known', {})
    asked.clear()
    verdicts([longer, *chains[1:]])
    assert asked


def test_without_a_place_to_keep_them_verdicts_are_proven_anew(tmp_path, monkeypatch):
    blocked = tmp_path / 'file'
    blocked.write_text('')
    monkeypatch.setenv('XDG_CACHE_HOME', str(blocked))
    monkeypatch.setattr(verdict_cache, '_known', {})
    assert len(loaded('two_link', 'dumbbell_8lb').capsules.apart) == 2
