"""Known objects are recognised, unknown ones are none of these, and nothing seen says nothing."""

from dataclasses import replace
import time

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.bench.experiments.changing_payload import begun, prior, random_motion, windows_of
from safe_sysid.errors import ConfigError
from safe_sysid.identify.change.change_test import ChangeSettings
from safe_sysid.identify.change.change_watch import LooksAtOnce
from safe_sysid.identify.change.known_objects import (
    NONE,
    _log_evidence,
    known_object,
    recognised,
)
from safe_sysid.identify.change.looks_in_background import LooksInBackground
from safe_sysid.identify.change.shared_posterior import SharedPosterior
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.model.grasp import GraspError
from safe_sysid.model.held_body import placed
from safe_sysid.model.inertia import moved
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.rotation import rotation_from_rpy
from safe_sysid.ros.messages.recognised_objects import object_sentence, told_objects
from safe_sysid.sets.interval import Interval

NAMES = ('dumbbell_4lb', 'dumbbell_6lb', 'dumbbell_8lb')
ERROR = GraspError()


@pytest.fixture(scope='module')
def model():
    return RobotModel.named('kinova_gen3')


@pytest.fixture(scope='module')
def library(model):
    empty = model.theta[model.layout.end_effector]
    own = Interval.from_center_radius(empty, 0.05 * np.abs(empty))
    return [known_object(model, read_payload(name), ERROR, own) for name in NAMES]


def belief_in(load, seed):
    """What is believed after 2 s of holding something."""
    rng = np.random.default_rng(seed)
    motion = random_motion(rng, 'kinova_gen3', 2.0, 0.3, load)
    test = begun(motion, ChangeSettings())
    for rows, position in windows_of(motion, motion.log(0)):
        assert test.add(rows, position) is None
    return test.belief, motion.prior.end_effector_bounds


def test_a_known_object_is_recognised_where_it_lies_askew(model, library):
    load = placed(model, read_payload('dumbbell_6lb'))
    askew = moved(load, rotation_from_rpy(np.array([0.03, -0.02, 0.03])), np.array([5e-3, 0, 0]))
    found = recognised(*belief_in(askew, 3), library)
    assert sum(found.values()) == pytest.approx(1.0)
    assert next(iter(found)) == 'dumbbell_6lb'
    assert found['dumbbell_6lb'] > 0.9


def test_an_unknown_object_is_none_of_these(model, library):
    load = 0.5 * placed(model, read_payload('dumbbell_4lb'))
    found = recognised(*belief_in(load, 3), library)
    assert found[NONE] > 0.9


def test_before_anything_is_measured_nothing_is_known(model, library):
    whole = prior(model)
    box = whole.end_effector_bounds
    belief = SharedPosterior.before(box, whole.bounds[whole.layout.rest], np.zeros(7))
    found = recognised(belief, box, library, none=0.4)
    assert found[NONE] == pytest.approx(0.4)
    for name in NAMES:
        assert found[name] == pytest.approx(0.2)
    with pytest.raises(ConfigError, match='none is 1'):
        recognised(belief, box, library, none=1)


def test_the_evidence_is_the_integral(rng):
    """One dimension, by a sum over a fine grid."""
    L, h, mean, variance = 3.0, 1.4, -0.2, 0.6
    x = np.linspace(-15.0, 15.0, 300_001)
    normal = np.exp(-0.5 * (x - mean) ** 2 / variance) / np.sqrt(2 * np.pi * variance)
    exact = np.log(np.sum(np.exp(h * x - 0.5 * L * x**2) * normal) * (x[1] - x[0]))
    one = np.ones((1, 1))
    found = _log_evidence(L * one, h * one[0], mean * one[0], variance * one)
    assert found == pytest.approx(exact)
    A = rng.normal(size=(3, 3))
    L3, G, h3, b = A @ A.T, np.diag([0.5, 1.0, 0.2]), rng.normal(size=3), rng.normal(size=3)
    drawn = rng.multivariate_normal(b, G, 400_000)
    exponent = drawn @ h3 - 0.5 * np.einsum('ki,ij,kj->k', drawn, L3, drawn)
    assert _log_evidence(L3, h3, b, G) == pytest.approx(np.log(np.exp(exponent).mean()), abs=0.02)


def test_the_ways_of_holding_an_object_spread_as_samples_do(model, rng):
    payload = replace(read_payload('dumbbell_8lb'), com=np.array([0.1, 0.0, 0.0]))
    link, R_link, p_link = payload.placed_on('kinova_gen3')
    frame = model.frames[link]
    R, p = frame.R @ R_link, frame.R @ p_link + frame.p
    body = moved(placed(model, payload), R.T, -R.T @ p)  # in its own frame
    drawn = []
    for _ in range(4000):
        turn, way = (rng.uniform(-s, s, 3) for s in (ERROR.turned, ERROR.displaced))
        weight = 1.0 + rng.uniform(-ERROR.weight, ERROR.weight)
        drawn.append(weight * moved(body, rotation_from_rpy(turn) @ R, p + way))
    sure = Interval(np.zeros(10), np.zeros(10))
    deviation = np.sqrt(np.diag(known_object(model, payload, ERROR, sure).covariance))
    np.testing.assert_allclose(np.std(drawn, axis=0)[:4], deviation[:4], rtol=0.1, atol=1e-5)
    np.testing.assert_allclose(np.std(drawn, axis=0), deviation, rtol=0.3, atol=3e-4)


@pytest.mark.parametrize('share', slow_after(2, [0.85, 1.15, 0.8, 1.2]))
def test_what_only_looks_like_one_of_these_is_not_called_by_its_name(model, library, share):
    """Between the weights of two: by several deviations neither."""
    load = share * placed(model, read_payload('dumbbell_6lb'))
    found = recognised(*belief_in(load, 3), library)
    assert found[NONE] > 0.9


@pytest.mark.parametrize('axis', slow_after(1, range(3)))
def test_an_object_far_off_its_place_is_none_of_these(model, library, axis):
    load = placed(model, read_payload('dumbbell_6lb'))
    away = moved(load, np.eye(3), 0.06 * np.eye(3)[axis])
    found = recognised(*belief_in(away, 3), library)
    assert found[NONE] > 0.9


@pytest.fixture(scope='module')
def held():
    """2 s of a motion with a dumbbell."""
    load = placed(RobotModel.named('kinova_gen3'), read_payload('dumbbell_6lb'))
    return random_motion(np.random.default_rng(3), 'kinova_gen3', 2.0, 0.3, load)


def looked_at(looks, motion, model, library):
    """Who looks, once it has got all samples."""
    observation = ObservationSettings(
        window=50, position_error=(0.0,), velocity_error=(0.003,), torque_ratio=(0.025,)
    )
    settings = ChangeSettings(velocity_noise=0.001)
    looking = looks(model, motion.prior, observation, settings, library)
    log = motion.log(0)
    for k in range(0, len(log) - 50, 50):
        part = slice(k, k + 50)
        samples = np.stack([log.position[part], log.velocity[part], log.torque[part]], axis=1)
        looking.add((log.stamp[part], samples))
    return looking


def test_a_watch_recognises_what_is_held_and_forgets_it_with_the_next_payload(
    held, model, library
):
    looking = looked_at(LooksAtOnce, held, model, library)
    assert looking.found() is None
    name, share = next(iter(looking.recognised().items()))
    assert name == 'dumbbell_6lb'
    assert share > 0.9
    looking.new_payload(held.prior.end_effector_bounds, int(held.log(0).stamp[-1]))
    assert max(looking.recognised().values()) < 0.9
    assert looked_at(LooksAtOnce, held, model, []).recognised() == {}


def test_a_watch_in_the_background_recognises_the_same(held, model, library):
    expected = looked_at(LooksAtOnce, held, model, library).recognised()
    looking = looked_at(LooksInBackground, held, model, library)
    until = time.monotonic() + 60.0
    try:
        while next(iter(looking.recognised()), '') != next(iter(expected)):
            assert time.monotonic() < until
            time.sleep(0.05)
        assert sum(looking.recognised().values()) == pytest.approx(1.0)
        looking.new_payload(held.prior.end_effector_bounds, int(held.log(0).stamp[-1]))
        assert looking.recognised() == {}
    finally:
        looking.close()


def test_what_is_told_of_probabilities_is_a_sentence():
    assert object_sentence(told_objects({})) == ''
    told = told_objects({'my cup': 0.97, NONE: 0.03})
    assert told == 'my cup: 0.970, none of these: 0.030'
    assert object_sentence(told) == 'it is my cup (97 %)'
    assert object_sentence(told_objects({NONE: 1.0})) == 'it is none of these (100 %)'
    assert 'is open (a: 0.600, b: 0.400)' in object_sentence(told_objects({'a': 0.6, 'b': 0.4}))
