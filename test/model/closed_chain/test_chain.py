"""Closed chains: loops closed exactly and in one way, and torques that agree with other tools."""

from dataclasses import replace

from model.closed_chain import digit_vectors
import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.errors import ConfigError, ModelError
from safe_sysid.model.closed_chain.assembly_modes import check_unique, other_closures
from safe_sysid.model.closed_chain.chain import ClosedChain, ClosureError
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.facts import LoopFacts, facts_path, read_facts
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.share import share_directory


@pytest.fixture(scope='module')
def digit():
    return ClosedChain.named('digit_left_leg')


@pytest.fixture(scope='module')
def four_bar():
    return ClosedChain.named('four_bar')


def random_closures(chain, count, seed):
    """Closures of random actuated positions, those that are usable, and how many were tried."""
    limits, rng = chain.model.limits, np.random.default_rng(seed)
    lower, upper = (x[chain.actuated] for x in (limits.position_lower, limits.position_upper))
    tried = chain.attempt(rng.uniform(lower, upper, (count, len(lower))))
    return tried.q[tried.usable], tried.steps[tried.usable]


def changed_chain(robot, model=None, **changes):
    facts = read_facts(facts_path(robot)).closed_chain
    return ClosedChain(model or RobotModel.named(robot), replace(facts, **changes))


@pytest.mark.parametrize('state', digit_vectors.STATES)
def test_digit_closes_and_moves_as_computed_elsewhere(digit, state):
    names = digit.model.layout.joint_names
    q_a, v_a, a_a, q_u, v_u, a_u, u = (np.array(x) for x in state)
    assert tuple(names[i] for i in digit.actuated) == digit_vectors.ACTUATED
    passive = [names.index(name) for name in digit_vectors.PASSIVE]
    motion = digit.expand(digit.close(q_a), v_a, a_a)
    np.testing.assert_allclose(motion.q[0, passive], q_u, atol=1e-8)
    np.testing.assert_allclose(motion.qd[0, passive], v_u, atol=1e-8)
    np.testing.assert_allclose(motion.qdd[0, passive], a_u, atol=1e-8)
    np.testing.assert_allclose(digit.regressor(motion)[0] @ digit.model.theta, u, atol=1e-8)


def test_four_bar_closes_as_the_law_of_cosines_says(four_bar):
    crank, coupler, rocker, ground = 0.15, 0.35, 0.30, 0.40
    for angle in np.linspace(-5.0, 6.0, 25):
        tip = crank * np.array([np.cos(angle), np.sin(angle)])
        diagonal = np.array([ground, 0.0]) - tip
        length = np.linalg.norm(diagonal)
        inner = np.arccos((coupler**2 + length**2 - rocker**2) / (2 * coupler * length))
        direction = np.arctan2(diagonal[1], diagonal[0]) + inner
        joint = tip + coupler * np.array([np.cos(direction), np.sin(direction)])
        q = four_bar.close(np.array([[angle]]))[0]
        assert np.cos(q[1] - (direction - angle)) == pytest.approx(1.0, abs=1e-13)
        assert q[2] == pytest.approx(np.arctan2(joint[1], joint[0] - ground), abs=1e-10)


def test_random_configurations_close_in_few_steps_and_in_one_way_only(digit):
    q, steps = random_closures(digit, 300, 5)
    assert 70 <= len(q) <= 120  # about 30 % of the box of the actuated joints closes
    assert steps.mean() <= 4.0
    assert max(np.abs(digit.gap(row)[0]).max() for row in q) < 1e-12
    for seed, row in enumerate(q[:25]):
        assert other_closures(digit, row, seed, starts=25) == []


@pytest.mark.nightly
def test_a_thousand_configurations_close_in_one_way_only(digit):
    q, steps = random_closures(digit, 3600, 6)
    assert len(q) >= 1000 and steps.mean() <= 4.0
    check_unique(digit, q[:1000])


def test_derivatives_of_the_closure_are_those_of_finite_differences(digit):
    q, _ = random_closures(digit, 40, 7)
    G, h = digit.transmission(q), 1e-5
    for sample in range(6):
        q_a = q[sample, digit.actuated]
        for k in range(6):
            ahead, behind = q_a.copy(), q_a.copy()
            ahead[k] += h
            behind[k] -= h
            slope = (digit.close(ahead) - digit.close(behind))[0] / (2 * h)
            np.testing.assert_allclose(G[sample, :, k], slope, atol=1e-7)


def test_velocities_and_accelerations_keep_the_loops_closed(digit, rng):
    q, _ = random_closures(digit, 60, 8)
    v, a = rng.normal(size=(2, len(q), 6))
    motion = digit.expand(q, v, a)
    h = 1e-4
    for sample in range(5):
        _, J = digit.gap(q[sample])
        assert np.abs(J @ motion.G[sample]).max() < 1e-12
        assert np.abs(J @ motion.qd[sample]).max() < 1e-12
        times = np.array([-h, 0.0, h])[:, None]
        around = q[sample, digit.actuated] + times * v[sample] + 0.5 * times**2 * a[sample]
        behind, now, ahead = digit.close(around)
        np.testing.assert_allclose((ahead - behind) / (2 * h), motion.qd[sample], atol=1e-6)
        second = (ahead - 2 * now + behind) / h**2
        np.testing.assert_allclose(second, motion.qdd[sample], atol=2e-5)


def test_a_singular_configuration_between_two_samples_is_noticed(tmp_path):
    """A parallelogram that lies flat may come out of that as it went in, or crossed."""
    text = (share_directory() / 'urdf' / 'four_bar.urdf').read_text(encoding='utf-8')
    (tmp_path / 'flat.urdf').write_text(
        text.replace('0.4 0 0', '0.35 0 0').replace('lower="0"', 'lower="-3.1416"'),
        encoding='utf-8',
    )
    facts = read_facts(facts_path('four_bar'))
    loop = replace(facts.closed_chain.loops['closure'], point_b=(0.15, 0.0, 0.0))
    home = {'crank': 1.0, 'coupler': -1.0, 'rocker': 1.0}
    closed = replace(facts.closed_chain, loops={'closure': loop}, home=home)
    chain = ClosedChain(RobotModel.from_files(tmp_path / 'flat.urdf', facts, 'flat'), closed)
    way = np.linspace(1.0, -1.0, 100)[:, None]
    np.testing.assert_allclose(chain.follow(way[:50])[:, 2], way[:50, 0], atol=1e-11)
    with pytest.raises(ClosureError, match=r'closure is singular between samples 49 and 50, near'):
        chain.follow(way)


def test_following_a_motion_finds_what_single_configurations_give(digit):
    q, _ = random_closures(digit, 10, 9)
    way = np.linspace(0.0, 1.0, 200)[:, None]
    path = digit.home[digit.actuated] * (1 - way) + 0.5 * q[0, digit.actuated] * way
    np.testing.assert_allclose(digit.follow(path), digit.close(path), atol=1e-11)


def test_gap_and_jacobian_are_those_of_pinocchio(digit):
    model = digit.model.pinocchio()
    model.armature = np.zeros(model.nv)
    for name, body, point in _ends(digit):
        model.addFrame(
            pin.Frame(name, body + 1, pin.SE3(np.eye(3), point), pin.FrameType.OP_FRAME)
        )
    data = model.createData()
    rng = np.random.default_rng(3)
    for _ in range(5):
        q = rng.normal(size=15)
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        c, J = digit.gap(q)
        for loop in range(3):
            first, second = (model.getFrameId(f'{loop}{end}') for end in 'ab')
            gap = data.oMf[first].translation - data.oMf[second].translation
            rows = slice(3 * loop, 3 * loop + 3)
            np.testing.assert_allclose(c[rows], gap, atol=1e-13)
            a, b = (
                pin.getFrameJacobian(model, data, f, pin.LOCAL_WORLD_ALIGNED)[:3]
                for f in (first, second)
            )
            np.testing.assert_allclose(J[rows], a - b, atol=1e-13)


def _ends(chain):
    for loop, (bodies, points) in enumerate(zip(chain.loops.body, chain.loops.point, strict=True)):
        for end, body, point in zip('ab', bodies, points, strict=True):
            yield f'{loop}{end}', int(body), point


def test_forces_in_the_loops_do_no_work_and_make_up_for_the_rest(digit, rng):
    q, _ = random_closures(digit, 60, 11)
    v, a = rng.normal(size=(2, len(q), 6))
    motion = digit.expand(q, v, a)
    W = standard_regressor(digit.model, motion.q, motion.qd, motion.qdd)
    torques = (W @ digit.model.theta).reshape(len(q), -1)
    for sample, motors in enumerate(digit.regressor(motion) @ digit.model.theta):
        _, J = digit.gap(q[sample])
        unknowns = np.column_stack([np.eye(15)[:, digit.actuated], J.T])
        solution = np.linalg.solve(unknowns, torques[sample])
        np.testing.assert_allclose(solution[:6], motors, atol=1e-9)
        assert abs(motion.qd[sample] @ J.T @ solution[6:]) < 1e-9
        assert motors @ v[sample] == pytest.approx(torques[sample] @ motion.qd[sample], abs=1e-9)


def test_what_does_not_close_is_refused_with_loop_and_configuration(digit):
    same_sign = np.zeros((2, 6))
    same_sign[1, 4:] = 0.7  # both toes: the foot would roll by 2.3 rad
    with pytest.raises(ClosureError, match=r'loop toe_A.* in sample 1 at .*left_toe_A 0\.7000'):
        digit.close(same_sign)
    bent = np.zeros((1, 6))
    bent[0, 3] = -1.38
    with pytest.raises(ClosureError, match=r'left_tarsus would be at .*, allowed is \[-0\.8779'):
        digit.close(bent)


def test_a_singular_configuration_is_refused():
    long = replace(
        read_facts(facts_path('four_bar')).closed_chain.loops['closure'], point_b=(0.2, 0.0, 0.0)
    )  # coupler and rocker in line where 0.15 + 0.40 = 0.35 + 0.20
    chain = changed_chain('four_bar', loops={'closure': long})
    assert chain.close(np.array([[2.8]])).shape == (1, 3)
    with pytest.raises(
        ClosureError, match=r'loop closure is singular in sample 0 at crank 3\.141'
    ):
        chain.close(np.array([[np.pi - 1e-5]]))


def test_an_ambiguous_configuration_is_refused(four_bar):
    limits = replace(four_bar.model.limits, position_lower=np.array([-6.3, -6.3, -3.2]))
    chain = changed_chain('four_bar', replace(four_bar.model, limits=limits))
    q = chain.close(np.array([[1.0]]))
    check_unique(four_bar, q)
    with pytest.raises(ClosureError, match=r'loop closure can be closed in two ways .*crank 1\.0'):
        check_unique(chain, q)


def test_a_body_with_a_mass_is_not_massless():
    with pytest.raises(ModelError, match=r"'coupler' is listed as massless, .* has 0\.8 kg on it"):
        changed_chain('four_bar', massless=('coupler',))


def test_a_wrong_loop_description_is_refused():
    closed = read_facts(facts_path('four_bar')).closed_chain
    loop = closed.loops['closure']
    for changed, sentence in (
        (replace(loop, link_a='couple'), "loop closure names link 'couple'"),
        (replace(loop, link_b='coupler'), 'both ends of loop closure are on the body'),
        (replace(loop, kind='point', normal=None), r'2 passive joints .* 3 equations of loops'),
    ):
        with pytest.raises(ModelError, match=sentence):
            changed_chain('four_bar', loops={'closure': changed})
    with pytest.raises(ClosureError, match=r'loop closure stays open by .* m at home'):
        changed_chain('four_bar', loops={'closure': replace(loop, point_a=(2.0, 0.0, 0.0))})
    with pytest.raises(ModelError, match='3 passive joints .* 2 equations'):
        changed_chain('four_bar', passive=('crank', 'coupler', 'rocker'))
    with pytest.raises(ConfigError, match="kind is 'ball', it has to be one of point, planar"):
        replace(loop, kind='ball')
    with pytest.raises(ConfigError, match='a planar loop needs `normal`'):
        LoopFacts('planar', 'a', (0.0, 0.0, 0.0), 'b', (0.0, 0.0, 0.0))
    with pytest.raises(ModelError, match='two_link is an open chain'):
        ClosedChain.named('two_link')


def test_a_passive_joint_has_no_motor(tmp_path):
    text = facts_path('four_bar').read_text(encoding='utf-8')
    for old, new, sentence in (
        ('passive: [coupler, rocker]', 'passive: [rocker]', 'torque_limit of coupler is 0'),
        ('passive: [coupler, rocker]', 'passive: [rod]', "closed_chain: no joint 'rod'"),
        (
            'passive: [coupler, rocker]',
            'passive: [coupler, rocker, rocker]',
            "closed_chain: passive names 'rocker' more than once",
        ),
    ):
        (tmp_path / 'four_bar.yaml').write_text(text.replace(old, new), encoding='utf-8')
        with pytest.raises(ConfigError, match=sentence):
            read_facts(tmp_path / 'four_bar.yaml')
