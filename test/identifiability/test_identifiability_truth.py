"""Structure against the rank and nullspace of sampled regressors, and against closed forms."""

from identifiability import reference_mechanisms as reference
from identifiability.reference_mechanisms import LEG, PUMA, SCARA
import numpy as np
import pytest

from safe_sysid.bench.experiments import identifiability as identifiability_trials
from safe_sysid.bench.experiments.identifiability import mechanism, trial
from safe_sysid.identifiability.base_parameters import base_parameters
from safe_sysid.identifiability.joint_conditions import Torques
from safe_sysid.identifiability.mechanism_regressor import stacked_regressor
from safe_sysid.identifiability.parameter_classes import ParameterClass, classes_of
from safe_sysid.identifiability.parameter_nullspace import exact_nullspace
from safe_sysid.identifiability.undetectable_changes import (
    base_parameters_of,
    identifiable_combinations,
    labels,
    transfers,
)

FEW, MANY = 30, 1000
RATIO = 5.0


@pytest.mark.parametrize('seed', range(FEW))
def test_random_mechanisms_agree_with_their_regressor(seed):
    assert trial(seed) == []


@pytest.mark.nightly
def test_a_thousand_random_mechanisms_agree_with_their_regressor():
    assert {seed: said for seed in range(MANY) if (said := trial(seed))} == {}


def test_random_mechanisms_are_of_every_kind():
    """Else the agreement would mean little."""
    trees = [mechanism(np.random.default_rng(seed))[0] for seed in range(FEW)]
    joints = [joint for tree in trees for joint in tree.joints]
    assert {len(joint.screws) for joint in joints} == {1, 3, 6}
    rotors = {type(joint.rotor).__name__ for joint in joints}
    assert rotors == {'NoneType', 'Armature', 'SymmetricRotor', 'GeneralRotor'}
    branched = [t for t in trees if any(len(children) > 1 for children in t.children)]
    assert len(branched) > FEW / 5
    nullspaces = [exact_nullspace(tree) for tree in trees]
    assert sum(found.base_count < 0.7 * found.size for found in nullspaces) > FEW / 4


@pytest.mark.parametrize(
    ('name', 'broken'),
    [
        ('mapping is forgotten', 'mapping'),
        ('momentum is forgotten', 'momentum'),
        ('a transfer goes to the wrong place', 'image'),
    ],
)
def test_a_wrong_recursion_is_noticed(monkeypatch, name, broken):
    from safe_sysid.identifiability import parameter_nullspace

    right = parameter_nullspace._with_rotor

    def wrong(crossing, link):
        conditions = right(crossing, link)
        part = getattr(conditions, broken)
        return conditions._replace(**{broken: 0 * part if broken != 'image' else part + part})

    monkeypatch.setattr(parameter_nullspace, '_with_rotor', wrong)
    assert any(identifiability_trials.trial(seed) for seed in range(10)), name


@pytest.mark.parametrize('torques', list(Torques))
@pytest.mark.parametrize(
    'tree',
    [
        PUMA,
        reference.rotors_at(PUMA, 5),
        reference.rotors_at(SCARA, 5),
        reference.leg_rotors(LEG.on_floating_base('torso')),
        PUMA.with_armature(),
    ],
    ids=['puma', 'puma rotors', 'scara rotors', 'floating leg rotors', 'puma armature'],
)
def test_reference_mechanisms_agree_with_their_regressor(rng, tree, torques):
    nullspace = exact_nullspace(tree, torques)
    base = base_parameters_of(nullspace)
    Y = stacked_regressor(tree, torques, 40, rng)
    assert base_parameters(Y, 1e-9).count == base.count
    assert np.abs(Y @ transfers(nullspace)).max(initial=0) < 1e-9 * np.abs(Y).max()
    theta = rng.normal(size=nullspace.size)
    np.testing.assert_allclose(
        Y[:, base.columns] @ base.values(theta), Y @ theta, atol=1e-9 * np.abs(Y).max()
    )
    combinations = identifiable_combinations(nullspace)
    np.testing.assert_allclose(combinations @ combinations.T, np.eye(base.count), atol=1e-12)
    assert np.linalg.matrix_rank(np.vstack([combinations, Y]), tol=1e-9) == base.count


def test_a_quadruped_with_rotors_agrees_with_its_regressor(rng):
    tree = reference.quadruped_rotors(reference.quadruped())
    Y = stacked_regressor(tree, Torques.OF_MOTION, 30, rng)
    assert base_parameters(Y, 1e-9).count == exact_nullspace(tree).base_count == 106
    wrench_only = np.concatenate([np.arange(18 * k, 18 * k + 6) for k in range(30)])
    assert base_parameters(Y[wrench_only], 1e-9).count == 94


@pytest.mark.parametrize('seed', range(12))
def test_no_effect_and_alone_are_meant_literally(seed):
    """× : the column of Y is zero. ★ : no undetectable change touches the parameter."""
    rng = np.random.default_rng(seed)
    tree, _ = mechanism(rng)
    nullspace = exact_nullspace(tree)
    rows = sum(len(joint.screws) for joint in tree.joints)
    Y = stacked_regressor(tree, Torques.OF_MOTION, 3 + 2 * nullspace.size // rows, rng)
    norms = np.linalg.norm(Y, axis=0)
    silent = norms < 1e-9 * norms.max()
    _, sizes, V = np.linalg.svd(np.linalg.qr(Y / np.where(silent, 1, norms))[1])
    free = V[np.sum(sizes > 1e-9 * sizes[0]) :]
    touched = np.abs(free).max(axis=0, initial=0) > 1e-7
    classes = np.array([kind for joint in nullspace.joints for kind in joint.classes])
    np.testing.assert_array_equal(classes == ParameterClass.NONE, silent)
    np.testing.assert_array_equal(classes == ParameterClass.ALONE, ~touched)


def named(nullspace):
    """Names such as `Izz1`, from `joint_1.Izz`."""
    parts = [label.removeprefix('joint_').split('.') for label in labels(nullspace)]
    return [f'{label}{number}' for number, label in parts]


def closed_form_of_the_puma(t):
    """Base parameters with rotors, as published; t gives a parameter by name."""
    a2, d3, a3, d4 = (reference.PUMA_LENGTHS[k] for k in ('a2', 'd3', 'a3', 'd4'))
    M = {7: 0.0}
    for j in (6, 5, 4, 3):
        M[j] = t(f'm{j}') + t(f'm_r{j}') + M[j + 1]
    eta = {j: t(f'mcz{j}') + t(f'mcz_r{j}') for j in range(3, 7)}
    iota = {j: t(f'Iyy{j}') + t(f'Ixx_r{j}') for j in range(2, 7)}
    iota[3] += a3**2 * M[4]
    iota[2] += iota[3] + (a2**2 + d3**2) * M[3] + 2 * d3 * eta[3]
    yield 'Izz1', t('Izz1') + iota[2] + RATIO**2 * t('Im1')
    yield 'mcx2', t('mcx2') + a2 * M[3]
    yield 'mcy2', t('mcy2')
    yield 'Ixx2', t('Ixx2') - t('Iyy2') - a2**2 * M[3]
    yield 'Izz2', t('Izz2') + a2**2 * M[3] + RATIO**2 * t('Im2')
    yield 'Ixz2', t('Ixz2') - a2 * (d3 * M[3] + eta[3])
    yield 'mcx3', t('mcx3') + a3 * M[4]
    yield 'mcy3', t('mcy3') + d4 * M[4] + eta[4]
    lever = iota[4] + 2 * d4 * eta[4]
    yield 'Ixx3', t('Ixx3') - t('Iyy3') + lever + (d4**2 - a3**2) * M[4]
    yield 'Izz3', t('Izz3') + lever + (a3**2 + d4**2) * M[4]
    yield 'Ixy3', t('Ixy3') - a3 * d4 * M[4] - a3 * eta[4]
    yield 'mcy4', t('mcy4') - eta[5]
    yield 'mcy5', t('mcy5') + eta[6]
    for j, beyond in ((4, iota[5]), (5, iota[6]), (6, 0.0)):
        yield f'Ixx{j}', t(f'Ixx{j}') - t(f'Iyy{j}') + beyond
        yield f'Izz{j}', t(f'Izz{j}') + beyond
    for name in ('mcx4', 'Ixy5', 'Ixz6', 'Iyz2', 'Ixz3', 'mcy6', 'Im3', 'Im6'):
        yield name, t(name)


def closed_form_of_the_scara(t):
    """As above."""
    a1, a2 = 0.1, 0.2
    turned = a1**2 * (t('m2') + t('m_r2') + t('m_r3'))
    yield 'Izz1', t('Izz1') + turned + RATIO**2 * t('Im1')
    yield 'mcx2', t('mcx2') + t('mcx3') + a2 * t('m_r3')
    yield 'mcy2', t('mcy2') + t('mcy3')
    yield 'Izz2', t('Izz2') + t('Izz3') + 2 * a2 * t('mcx3') + a2**2 * t('m_r3')
    yield 'm3', t('m3') + t('m4') + t('m_r4')
    for name in ('mcx4', 'mcy4', 'Izz4', 'Im2', 'Im3', 'Im4'):
        yield name, t(name)


def closed_form_of_the_leg(t):
    """As above; the rotor of the knee is on the axis of the hip."""
    long, short, ratio = 0.342, 0.044, 10.0
    mu = t('m2') + t('m3') + t('m_r2') + t('m_r3')
    eta = t('mcz2') + t('mcz3') + t('mcz_r2') + t('mcz_r3')
    iota = t('Iyy2') + t('Iyy3') + t('Ixx_r2') + t('Ixx_r3') + long**2 * t('m3')
    yield 'mcx1', t('mcx1')
    yield 'mcy1', t('mcy1') - eta - short * mu
    yield 'Izz1', t('Izz1') + iota + short**2 * mu + 2 * short * eta + ratio**2 * t('Im1')
    yield 'mcx2', t('mcx2') + long * t('m3')
    yield 'Ixx2', t('Ixx2') - t('Iyy2') - long**2 * t('m3')
    yield 'Izz2', t('Izz2') + long**2 * t('m3') + ratio**2 * t('Im2')
    yield 'Ixz2', t('Ixz2') - long * t('mcz3')
    yield 'Ixx3', t('Ixx3') - t('Iyy3')
    yield 'Im3', t('Im3')


@pytest.mark.parametrize(
    ('tree', 'closed_form'),
    [
        (reference.rotors_at(PUMA, 5), closed_form_of_the_puma),
        (reference.rotors_at(SCARA, 5), closed_form_of_the_scara),
        (reference.leg_rotors(LEG), closed_form_of_the_leg),
    ],
    ids=['puma', 'scara', 'leg'],
)
def test_published_base_parameters(rng, tree, closed_form):
    nullspace = exact_nullspace(tree)
    base, names = base_parameters_of(nullspace), named(nullspace)
    theta = rng.normal(size=nullspace.size)
    beta = base.values(theta)
    found = {names[column]: beta[row] for row, column in enumerate(base.columns)}
    for name, expected in closed_form(lambda name: theta[names.index(name)]):
        assert found[name] == pytest.approx(expected, abs=1e-12), name


def test_classes_follow_from_the_regrouping_matrix_too():
    for tree in (PUMA, SCARA, reference.leg_rotors(LEG)):
        nullspace = exact_nullspace(tree)
        classes = tuple(kind for joint in nullspace.joints for kind in joint.classes)
        assert classes_of(base_parameters_of(nullspace)) == classes
