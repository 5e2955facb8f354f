"""A user's own cost steers searches for plans; certificates are what they were."""

import casadi as cs
import numpy as np
import pytest

import safe_sysid as ss
from safe_sysid.bench.experiments.planning import violations
from safe_sysid.errors import BoundError, ConfigError, ModelError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.symbolic.casadi_model import CasadiModel
from safe_sysid.plan.aims import Approach, Steered
from safe_sysid.plan.cost.own import SAMPLES, WithOwnCost
from safe_sysid.plan.cost.terms import GoalDistance
from safe_sysid.plan.search.best_plan import Budget, SearchSettings, search
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.share import share_directory
from safe_sysid.trajectory.bezier import Bezier

TWO_LINK = RobotModel.named('two_link')
LINK = list(TWO_LINK.frames)[-1]
Q, QD, TAU = cs.SX.sym('q', 2), cs.SX.sym('qd', 2), cs.SX.sym('tau', 2)


def function(result, *more, **arguments):
    return cs.Function('own', list(arguments.values()), [result, *more], list(arguments), [
        'cost', *(f'limit_{i}' for i in range(len(more)))
    ])  # fmt: skip


def horizon(rng):
    curve = Bezier(*(rng.uniform(-1, 1, (3, 2)) * [[1.0], [0.3], [0.3]]), 2.0)
    return Horizon(curve, rng.uniform(-0.5, 0.5, 2), np.full(2, 0.4))


def with_own(where, own):
    ours = GoalDistance(TWO_LINK, where, np.array([0.2, 0.4]), 2.0)
    return WithOwnCost(ours, own, where, TWO_LINK.theta)


def everything():
    """A function of every argument there is."""
    R, p, qdd = cs.SX.sym('R', 3, 3), cs.SX.sym('p', 3), cs.SX.sym('qdd', 2)
    theta, t = cs.SX.sym('theta', 28), cs.SX.sym('t')
    result = (
        cs.sumsqr(TAU) + cs.sin(t) * cs.dot(Q, QD) + R[0, 1] * p[0] + cs.sumsqr(qdd) * theta[0]
    )
    limit = cs.vertcat(QD[0] - 0.05, cs.cos(Q[1]) - 0.9)
    return function(result, limit, q=Q, qd=QD, tau=TAU, R=R, p=p, qdd=qdd, theta=theta, t=t)


@pytest.mark.parametrize('over', ['integral', 'max'])
def test_gradients_are_those_of_differences(rng, over):
    own = ss.own_cost('two_link', everything(), 0.3, over, LINK)
    cost, x, h = with_own(horizon(rng), own), rng.uniform(-0.5, 0.5, 2), 1e-5
    differences = [
        (cost.evaluate(x + step).value - cost.evaluate(x - step).value) / (2 * h)
        for step in h * np.eye(2)
    ]
    np.testing.assert_allclose(cost.evaluate(x).gradient, differences, rtol=1e-6, atol=1e-7)


def test_the_integral_is_that_of_the_torque_of_the_motion(rng):
    own = ss.own_cost('two_link', function(cs.sumsqr(TAU), tau=TAU), weight=2.0)
    where, x = horizon(rng), np.zeros(2)
    t = np.linspace(0.0, 2.0, SAMPLES)
    states = [where.curve.derivative(order, t, where.k_center) for order in range(3)]
    model = CasadiModel(TWO_LINK)
    torques = [
        model.smooth_inverse_dynamics(*row, TWO_LINK.theta, 0.05).full()
        for row in zip(*states, strict=True)
    ]
    expected = 2.0 * np.trapezoid([float((tau**2).sum()) for tau in torques], t)
    cost = with_own(where, own)
    assert cost.value(x) - cost.ours.value(x) == pytest.approx(expected, rel=1e-9)


def test_a_cost_that_is_not_a_number_costs_a_candidate_and_no_more(rng):
    bad = ss.own_cost('two_link', function(cs.log(-1.0 - Q[0] ** 2), q=Q))
    cost = with_own(horizon(rng), bad)
    assert cost.value(np.zeros(2)) == np.inf
    with pytest.raises(BoundError, match='can not be evaluated'):
        cost.evaluate(np.zeros(2))


class Raises(cs.Callback):
    """A function of a user's that fails when it is called."""

    def __init__(self):
        cs.Callback.__init__(self)
        self.construct('raises', {'enable_fd': True})

    def get_n_in(self):
        return 1

    def get_n_out(self):
        return 1

    def get_name_in(self, _):
        return 'q'

    def get_sparsity_in(self, _):
        return cs.Sparsity.dense(2, 1)

    def eval(self, _):
        raise ValueError('a mistake of the user')


@pytest.fixture(scope='module')
def problem():
    motion = ss.plan('two_link', goal=[-1.2, 0.4], seconds=0.5)
    return motion.certificates[0].problem


def searched(problem, own, goal):
    aim = Approach(TWO_LINK, np.array(goal))
    settings = SearchSettings(candidates=24, nearby=1, rounds=1, intervals=32)
    steered = aim if own is None else Steered(aim, own, problem.bounds.theta)
    return search(problem, steered, Budget.of(60.0), settings, seed=1)


@pytest.mark.slow
def test_plans_of_functions_that_fail_are_certified_all_the_same(problem):
    for failing in (Raises(), function(cs.log(-1.0 - Q[0] ** 2), q=Q)):
        own = ss.own_cost('two_link', failing)
        found = searched(problem, own, [-1.0, 0.5])
        assert found.certificate is not None
        assert found.certificate.holds  # the gentlest plan


def test_a_cost_changes_the_plan_and_no_sample_falsifies_its_certificate(rng, problem):
    goal = [-1.0, 0.5]
    free = searched(problem, None, goal)
    held = function(cs.sumsqr(Q[1] - problem.horizon.curve.q0[1]), q=Q)
    steered = searched(problem, ss.own_cost('two_link', held, weight=1e3), goal)
    assert free.certificate.holds and steered.certificate.holds
    assert abs(steered.certificate.k[1]) < 0.3 * abs(free.certificate.k[1])
    assert violations(rng, steered.certificate, 4_000) == 0


def test_a_limit_of_the_user_s_is_kept_by_the_plan_that_is_chosen(problem):
    q0 = problem.horizon.curve.q0
    own = ss.own_cost('two_link', function(0 * Q[0], Q[0] - (q0[0] + 0.05), q=Q))
    found = searched(problem, own, [-1.0, 0.5])
    assert found.certificate.holds
    assert found.certificate.k[0] <= 0.05 + 1e-6
    assert found.certificate.k[1] > 0.01


def test_arguments_that_are_not_known_are_refused():
    with pytest.raises(ConfigError, match="argument 'position'"):
        ss.own_cost('two_link', function(Q[0], position=Q))
    with pytest.raises(ConfigError, match='has shape'):
        ss.own_cost('two_link', function(Q[0], qd=cs.SX.sym('x', 7), q=Q))
    with pytest.raises(ConfigError, match='not a number'):
        ss.own_cost('two_link', function(Q, q=Q))
    with pytest.raises(ModelError, match='no link'):
        ss.own_cost('two_link', function(cs.sumsqr(Q), q=Q, p=cs.SX.sym('p', 3)), link='hand')


@pytest.mark.slow
def test_a_file_named_in_the_loop_s_settings_steers_plans(tmp_path):
    file, loop = tmp_path / 'effort.casadi', tmp_path / 'loop.yaml'
    effort = cs.Function('effort', [TAU], [cs.sumsqr(TAU)], ['tau'], ['cost'])
    effort.save(str(file))
    text = (share_directory() / 'config' / 'loop' / 'two_link.yaml').read_text()
    own = f'own_cost: {{file: {file}, weight: 0.001, unit: N^2 m^2}}\n      search:'
    loop.write_text(text.replace('search:', own, 1))
    motion = ss.plan('two_link', goal=[-1.3, 0.35], loop=loop, seconds=10.0)
    assert all(certificate.holds for certificate in motion.certificates)
    assert 'effort: ' in str(motion) and 'N^2 m^2 s' in str(motion)
