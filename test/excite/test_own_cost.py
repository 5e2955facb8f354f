"""A user's own cost steers the design of a motion, also in other processes; proofs stay."""

from dataclasses import replace

import casadi as cs
from excite.excite_problem import differences, small_problem
import numpy as np
import pytest

import safe_sysid as ss
from safe_sysid.excite.criteria import smooth_condition
from safe_sysid.excite.excitation_trajectory import ExcitationAim
from safe_sysid.excite.multi_start import Effort, NoMotionError, design
from safe_sysid.excite.settings import read_settings
from safe_sysid.model.own_cost import OwnCostSettings

LONG = 600.0  # [s]
Q, QD, TAU = cs.SX.sym('q', 2), cs.SX.sym('qd', 2), cs.SX.sym('tau', 2)
RHO = smooth_condition(2.0)


def own(cost, *limits, weight=1.0):
    names = ['cost', *(f'limit_{i}' for i in range(len(limits)))]
    function = cs.Function('own', [Q, QD, TAU], [cost, *limits], ['q', 'qd', 'tau'], names)
    return ss.own_cost('two_link', function, weight, unit='N^2 m^2')


def test_gradient_of_the_sum_is_that_of_differences(rng):
    problem = replace(small_problem(), own=own(cs.sumsqr(TAU), QD[0] - 0.1, weight=1e-3))
    x = rng.uniform(-0.2, 0.2, problem.shape)
    _, gradient = problem.criterion(RHO, x)
    expected = differences(lambda at: problem.criterion(RHO, at)[0], x)
    np.testing.assert_allclose(gradient.ravel(), expected, rtol=1e-4, atol=1e-4)


def peak(found, joint=0):
    return np.abs(found.motion.states(np.linspace(0.0, 10.0, 500))[1][:, joint]).max()


@pytest.mark.slow
def test_the_motion_is_steered_and_proven():
    effort = Effort(LONG, 1, 1, seed=4)
    free = design(small_problem(), 'rho', effort, lambda _: None)
    slow = replace(small_problem(), own=own(QD[0] ** 2, weight=3.0))
    steered = design(slow, 'rho', effort, lambda _: None)
    assert free.certificate.holds and steered.certificate.holds
    assert peak(steered) < 0.7 * peak(free)


@pytest.mark.slow
def test_a_cost_that_fails_costs_motions_and_no_proof():
    broken = replace(small_problem(), own=own(cs.log(-1.0 - Q[0] ** 2)))
    with pytest.raises(NoMotionError):
        design(broken, 'rho', Effort(LONG, 1, 1, seed=4), lambda _: None)


@pytest.mark.slow
@pytest.mark.parametrize('from_file', [False, True])
def test_the_figure_of_the_cost_is_among_those_of_the_motion(tmp_path, from_file):
    cost, file = own(cs.sumsqr(TAU), weight=1e-4), str(tmp_path / 'effort.casadi')
    cs.Function('effort', [TAU], [cs.sumsqr(TAU)], ['tau'], ['cost']).save(file)
    named = OwnCostSettings(file, 1e-4, unit='N^2 m^2') if from_file else OwnCostSettings()
    few = {'floor': None, 'order': 3, 'sample_rate': 5.0, 'check_rate': 5.0}
    result = ss.design_excitation(
        'two_link',
        aim=ExcitationAim('rho', payload_only=False),
        settings=replace(read_settings(), own_cost=named, **few),
        effort=Effort(LONG, 1, 1, seed=4),
        cost=None if from_file else cost,
    )
    assert 'own_cost' in str(result) and 'N^2 m^2 s' in str(result)
    assert ('effort' in str(result)) == from_file
