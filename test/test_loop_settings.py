"""What a loop promises of an arm: what nobody states is wide, and simulators use all of it."""

from dataclasses import replace
import json
import re

import numpy as np
import pytest
from ros.reference_loop import settings_of
from tiers import slow_after

from safe_sysid.api.arms import load_arm
from safe_sysid.api.loop_file import Load, read_loop, read_simulated_loop
from safe_sysid.api.simulation import simulate
from safe_sysid.audit.bag_settings import arm_with
from safe_sysid.bench.experiments.planning import at_rest
from safe_sysid.bringup.processes import BACKENDS, SIMULATORS, Choices, processes_of
from safe_sysid.config import from_mapping, read_yaml, yaml_text
from safe_sysid.errors import ConfigError
from safe_sysid.identify.from_recording import prior_settings
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.loop_settings import LoopPriorSettings, LoopSettings
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.grasp import GraspError
from safe_sysid.model.held_body import placed
from safe_sysid.model.inertia import is_consistent
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.uncertainty import Uncertainty, Width
from safe_sysid.plan.search.best_plan import Budget, SearchSettings, stand_still
from safe_sysid.ros.bridges.builtin_sim_bridge import BuiltinSimSettings
from safe_sysid.ros.bridges.franka_bridge import FrankaSettings
from safe_sysid.ros.bridges.lbr_fri_bridge import LbrFriSettings
from safe_sysid.ros.bridges.ros2_control_bridge import Ros2ControlSettings
from safe_sysid.ros.process.held_after_change import held_after_change
from safe_sysid.ros.process.parameters import leaves
from safe_sysid.share import share_directory
from safe_sysid.simulate.rigid_body import RigidBody

ASSUMED = ('xarm7', 'lbr_med7', 'iiwa14', 'ur5e', 'ur10e')  # whose files have no armature
ROBOTS = ('kinova_gen3', 'two_link', 'fr3')
BODY = {'lower': (-9.0,) * 10, 'nominal': (0.0,) * 10, 'upper': (9.0,) * 10}


def shipped(robot, node, cls):
    return settings_of(share_directory() / 'config' / 'loop' / f'{robot}.yaml', node, cls)


def simulated(robot, node, cls):
    return replace(shipped(robot, node, cls), simulated=True)


@pytest.mark.parametrize('robot', slow_after(4, [*ROBOTS, *ASSUMED]))
@pytest.mark.parametrize('settings', [shipped, simulated])
def test_no_shipped_loop_promises_that_a_parameter_is_exactly_its_figure(robot, settings):
    arm = settings(robot, 'everybody', LoopSettings).arm()
    rest = arm.prior.layout.rest
    assert (arm.prior.bounds.radius[rest] > 1e-6).all()
    assert arm.prior.bounds.contains(arm.prior.theta)


def test_what_a_loop_does_not_state_is_wide():
    model = RobotModel.named('kinova_gen3')
    bounds = LoopPriorSettings(**BODY).estimate(model).bounds
    coulomb, offset = model.layout.joint_entries('Fc'), model.layout.joint_entries('beta')
    np.testing.assert_allclose(bounds.upper[coulomb], 0.3 * model.limits.torque)
    np.testing.assert_allclose(bounds.upper[offset], 0.1 * model.limits.torque)


def test_widths_of_the_loop_count_more_than_those_of_the_arm():
    model = RobotModel.named('two_link')
    offset = model.layout.joint_entries('beta')
    assert LoopPriorSettings(**BODY).estimate(model).bounds.upper[offset] == pytest.approx(0.05)
    stated = shipped('kinova_gen3', 'everybody', LoopSettings).prior.uncertainty
    bounds = LoopPriorSettings(**BODY, uncertainty=stated).estimate(model).bounds
    assert bounds.upper[offset] == pytest.approx(stated.offset.absolute[0])


@pytest.mark.parametrize('robot', slow_after(4, [*ROBOTS, *ASSUMED]))
def test_a_simulated_arm_is_anywhere_in_what_the_loop_promises(robot):
    settings = simulated(robot, 'builtin_sim_bridge', BuiltinSimSettings)
    bounds = settings.arm().prior.bounds
    truth = settings.simulated_arm(RigidBody).model
    rest = truth.layout.rest
    assert ((bounds.lower <= truth.theta) & (truth.theta <= bounds.upper))[rest].all()
    friction = slice(10 * truth.n, None)
    share = np.abs(truth.theta - bounds.center)[friction] / bounds.radius[friction]
    assert share.mean() > 0.3 and share.max() > 0.7
    assert all(is_consistent(truth.theta[truth.layout.inertial(j)]) for j in range(truth.n))


def standing(arm, q):
    problem = at_rest(arm.model, arm.prior, np.array(q), NO_OBSTACLES)
    found = stand_still(replace(problem, gains=arm.gains), Budget(np.inf), SearchSettings())
    return found.certificate is not None and found.certificate.holds, str(found)


@pytest.mark.parametrize('robot', slow_after(2, ASSUMED))
def test_what_nobody_states_is_assumed_of_simulated_arms_alone(robot):
    """In front of a driver the same settings have the figures of the file, and no plan."""
    start = shipped(robot, 'builtin_sim_bridge', BuiltinSimSettings).start
    described, real = RobotModel.named(robot), shipped(robot, 'everybody', LoopSettings).arm()
    armature = described.layout.joint_entries('Ia')
    assert np.all(real.prior.bounds.lower[armature] <= 0.0)
    assert np.all(
        real.prior.theta[real.prior.layout.rest] == described.theta[described.layout.rest]
    )
    assert np.array_equal(real.gains.torque_error, described.actuation.absolute)
    assert not [text for text in real.sentences if 'simulated' in text]
    holds, why = standing(real, start)
    assert not holds and 'the armature of' in why, why

    arm = simulated(robot, 'everybody', LoopSettings).arm()
    assert np.all(arm.prior.bounds.lower[armature] >= 0.05 * (1.0 - 1e-9))
    (said,) = [text for text in arm.sentences if 'simulated' in text]
    assert 'the armature of every joint is 0.05 to 0.15 kg m^2' in said
    holds, why = standing(arm, start)
    assert holds, why


@pytest.mark.parametrize('robot', ASSUMED)
def test_a_recorded_run_is_proven_with_what_was_assumed(robot):
    settings = simulated(robot, 'everybody', LoopSettings)
    said = {leaf.name: leaf.value for leaf in leaves(settings)}
    model, again = settings.described(), arm_with(said)
    assert np.array_equal(model.theta, again.theta)
    assert np.array_equal(model.actuation.absolute, again.actuation.absolute)
    assert model.uncertainty == again.uncertainty


def test_the_api_assumes_only_of_what_it_simulates():
    arm = load_arm('ur5e')
    simulated_file, real = read_simulated_loop(arm), read_loop(arm)
    armature = arm.model.layout.joint_entries('Ia')
    assert np.all(simulated_file.prior.bounds.lower[armature] > 0.04)
    assert 'the simulated ur5e' in simulated_file.assumed.sentences[0]
    assert not real.prior.bounds.lower[armature].any() and real.assumed.sentences == ()
    assert simulated_file.simulator.period == 0.002
    assert any('what acts on a joint is within' in text for text in real.sentences)
    assert not [text for text in simulated_file.sentences if 'ratio, absolute' in text]


def light(share):
    """Payload file of a dumbbell that is cut down, as the prior of the two-link arm is narrow."""
    path = share_directory() / 'config' / 'payloads' / 'dumbbell_4lb.yaml'
    values = dict(read_yaml(path))
    values['mass'] *= share
    values['inertia_about_com'] = {k: share * v for k, v in values['inertia_about_com'].items()}
    return json.dumps(values)


def test_what_a_loop_file_names_is_beside_it_wherever_it_is_read_from(tmp_path, monkeypatch):
    own, cwd, arm = tmp_path / 'own', tmp_path / 'cwd', load_arm('two_link')
    path = share_directory() / 'config' / 'loop' / 'two_link.yaml'
    for folder, share in ((own, 0.1), (cwd, 0.05)):
        folder.mkdir()
        (folder / 'held.yaml').write_text(light(share), encoding='utf-8')
    loop, text = own / 'loop.yaml', path.read_text(encoding='utf-8')
    named = text.replace('robot: two_link', 'robot: two_link\n    payload: held.yaml')
    loop.write_text(named, encoding='utf-8')
    monkeypatch.chdir(cwd)
    each = [arm.model.with_payload(read_payload(f'{x}/held.yaml')).theta for x in (own, cwd)]
    np.testing.assert_array_equal(read_loop(arm, loop).model.theta, each[0])
    (own / 'held.yaml').unlink()  # then that of the same name where we stand counts, as before
    np.testing.assert_array_equal(read_loop(arm, loop).model.theta, each[1])
    (cwd / 'held.yaml').unlink()
    with pytest.raises(ConfigError, match=f'loop.yaml: payload: held.yaml: .* {cwd}.*beside it'):
        read_loop(arm, loop)


def fr3(**changes):
    return replace(shipped('fr3', 'everybody', LoopSettings), **changes)


@pytest.mark.parametrize(
    ('changes', 'name'),
    [
        ({'payload': 'dumbbell_8lb'}, 'payload dumbbell_8lb'),
        ({'library': ('dumbbell_4lb', 'dumbbell_8lb')}, 'dumbbell_8lb of library'),
    ],
)
def test_what_may_be_held_and_the_prior_excludes_is_refused(changes, name):
    """It would void every bound: the hand weighs 0.64 kg, 8 lb are 3.63 kg."""
    with pytest.raises(ConfigError, match=rf'^{name} is beyond the prior') as refused:
        fr3(**changes).arm()
    said = str(refused.value)
    assert re.search(r'm is 4\.2\d* to 4\.2\d* kg, the prior says 0\.55 to 2\.6;', said), said
    assert 'Allowed: a prior' in said


def test_an_empty_hand_that_the_prior_excludes_is_refused_with_a_library():
    heavy = replace(fr3().prior, lower=(1.0, *fr3().prior.lower[1:]))
    assert fr3(prior=heavy).arm().prior.bounds  # it holds its payload for ever
    with pytest.raises(ConfigError, match=r'nothing, as after a change .* m is 0\.5\d* to'):
        fr3(prior=heavy, library=('dumbbell_4lb',)).arm()


def test_the_lightest_that_may_be_held_is_of_the_library_and_of_its_errors():
    lighter, heavier = 'dumbbell_4lb', 'dumbbell_8lb'
    settings = fr3(library=(heavier, lighter), grasp=GraspError(weight=0.1))
    assert settings.lightest == pytest.approx(0.9 * read_payload(lighter).mass)
    assert fr3().lightest == 0.0


def test_bounds_after_a_change_contain_all_of_the_library_and_nothing(rng):
    settings = fr3(library=('dumbbell_4lb',))
    held = held_after_change(settings, settings.arm()).bounds
    empty, hand = settings.with_empty_hand()
    own = rng.uniform(hand.lower, hand.upper, (50, 10))
    for body in (np.zeros(10), placed(empty, read_payload('dumbbell_4lb'))):
        assert np.all(held.lower <= own + body) and np.all(own + body <= held.upper)


def test_only_a_simulated_arm_may_be_told_a_wrong_prior():
    settings = fr3(payload='dumbbell_8lb', prior=replace(fr3().prior, is_wrong=True))
    assert replace(settings, simulated=True).arm().gains
    with pytest.raises(ConfigError, match=r'prior\.is_wrong is true'):
        settings.arm()


def test_the_api_refuses_what_the_prior_excludes(tmp_path):
    with pytest.raises(ConfigError, match='payload dumbbell_8lb is beyond the prior'):
        simulate('fr3', payload='dumbbell_8lb')
    loop = tmp_path / 'fr3.yaml'
    text = (share_directory() / 'config/loop/fr3.yaml').read_text()
    loop.write_text(text.replace('payload: dumbbell_4lb', 'library: [dumbbell_8lb]'))
    for reads in (read_loop, read_simulated_loop):
        with pytest.raises(ConfigError, match='dumbbell_8lb of library is beyond the prior'):
            reads(load_arm('fr3'), loop)


def test_python_certifies_with_the_shapes_of_all_that_may_be_held(tmp_path):
    loop, arm = tmp_path / 'fr3.yaml', load_arm('fr3')
    text = (share_directory() / 'config/loop/fr3.yaml').read_text()
    more = '    library: [dumbbell_4lb]\n    grasp: {displaced: 0.03}\n'
    for payload in ('    payload: dumbbell_4lb', "    payload: ''"):
        loop.write_text(text.replace('    payload: dumbbell_4lb', f'{more}{payload}'))
        nodes = settings_of(loop, 'everybody', LoopSettings).arm().model.capsules
        for reads in (read_loop, read_simulated_loop):
            python = reads(arm, loop).model.capsules
            assert python.names == nodes.names and 'dumbbell_4lb.dumbbell' in python.names
            assert np.array_equal(python.radius, nodes.radius)
            assert np.array_equal(python.pairs, nodes.pairs)
    known = read_loop(arm, loop, Load.NOTHING).model
    assert known.capsules.names == arm.model.capsules.names


def two_link_with(folder, block):
    """Loop file of the two-link arm in which the block of the planner has another name."""
    path, text = (
        folder / 'loop.yaml',
        (share_directory() / 'config/loop/two_link.yaml').read_text(),
    )
    path.write_text(text.replace('/**/planner:', f'{block}:'))
    return path


@pytest.mark.parametrize('block', ['planner', '/planner'])
def test_the_api_reads_what_a_node_would_read(tmp_path, block):
    """Whatever name of the node a block has: with another duration it would plan otherwise."""
    path = two_link_with(tmp_path, f"'{block}'")
    assert read_loop(load_arm('two_link'), path).planner.duration == 2.0


def test_the_api_refuses_nodes_that_would_not_agree(tmp_path):
    path = two_link_with(tmp_path, '/**/planner')
    head = '/**/controller:\n  ros__parameters:\n'
    path.write_text(path.read_text().replace(head, f'{head}    gains: {{V_M: 0.0001}}\n'))
    with pytest.raises(ConfigError, match='gains.V_M is 0.0001 for the controller and 0.002'):
        read_loop(load_arm('two_link'), path)


@pytest.mark.parametrize('cls', [LbrFriSettings, Ros2ControlSettings, FrankaSettings])
def test_a_bridge_to_a_driver_lets_nothing_be_assumed(cls):
    everybody = read_yaml(share_directory() / 'config/loop/lbr_med7.yaml')['/**']
    values = everybody['ros__parameters'] | ({'address': 'robot'} if cls is FrankaSettings else {})
    assert not from_mapping(cls, values, 'test').simulated
    with pytest.raises(ConfigError, match='nothing may be assumed of its arm'):
        from_mapping(cls, values | {'simulated': True}, 'test')


@pytest.mark.parametrize('cls', [LbrFriSettings, Ros2ControlSettings, FrankaSettings])
def test_a_bridge_to_a_driver_waits_for_nobody(cls):
    everybody = read_yaml(share_directory() / 'config/loop/lbr_med7.yaml')['/**']
    values = everybody['ros__parameters'] | ({'address': 'robot'} if cls is FrankaSettings else {})
    assert not from_mapping(cls, values, 'test').is_lockstep
    with pytest.raises(ConfigError, match='timing is lockstep, and this bridge commands a driver'):
        from_mapping(cls, values | {'timing': 'lockstep'}, 'test')
    simulated = everybody['ros__parameters'] | {'timing': 'lockstep'}
    assert from_mapping(BuiltinSimSettings, simulated, 'test').is_lockstep


def turned_round(tmp_path, uncertainty):
    """Two links whose file names joint_2 first, and a loop of it that states widths."""
    settings, loop = tmp_path / 'turned.yaml', tmp_path / 'loop.yaml'
    facts = read_yaml(share_directory() / 'config' / 'robots' / 'two_link.yaml')
    facts['joints'] = dict(reversed(facts['joints'].items()))
    facts['actuation'] = dict(reversed(facts['actuation'].items()))
    facts['uncertainty']['coulomb'] = {'absolute': [1.0, 2.0]}  # of joint_2, and of joint_1
    settings.write_text(yaml_text(facts))
    blocks = read_yaml(share_directory() / 'config' / 'loop' / 'two_link.yaml')
    common = blocks['/**']['ros__parameters']
    common['robot'] = str(settings)
    common['prior']['uncertainty'] = uncertainty
    loop.write_text(yaml_text(blocks))
    return settings, loop


def test_widths_of_the_file_of_an_arm_are_those_of_its_joints(tmp_path):
    settings, loop = turned_round(tmp_path, {'viscous': {'absolute': [0.5]}})
    arm = settings_of(loop, 'everybody', LoopSettings).arm()
    coulomb = arm.model.layout.joint_entries('Fc')
    assert arm.model.layout.joint_names == ('joint_1', 'joint_2')
    for bounds in (arm.prior.bounds, read_loop(load_arm(settings), loop).prior.bounds):
        np.testing.assert_allclose(
            bounds.upper[coulomb] - arm.model.theta[coulomb], [2.0, 1.0], rtol=1e-9
        )


def test_an_entry_for_each_joint_is_refused_where_its_joint_is_open(tmp_path):
    settings, loop = turned_round(tmp_path, {'coulomb': {'absolute': [1.0, 2.0]}})
    said = (
        r'coulomb.absolute is \[1.0, 2.0\].* names them joint_2, joint_1, along the arm they are'
    )
    with pytest.raises(ConfigError, match=rf'^prior.uncertainty.{said} joint_1, joint_2'):
        settings_of(loop, 'everybody', LoopSettings).arm()
    with pytest.raises(ConfigError, match=said):
        read_loop(load_arm(settings), loop)
    known = RecordingSettings(known=Uncertainty(coulomb=Width(absolute=(1.0, 2.0))))
    with pytest.raises(ConfigError, match=f'known {said}'):
        prior_settings(known, load_arm(settings))
    assert prior_settings(known, load_arm('two_link'))


def test_only_ways_with_a_simulator_have_a_simulated_arm():
    for name, way in BACKENDS.items():
        chosen = Choices(record='bag', bag='bag' if name == 'replay' else '')
        told = {'simulated' in p.parameters for p in processes_of(name, chosen)}
        assert told == {bool(set(way.nodes) & set(SIMULATORS))}, name


def test_a_prior_that_no_body_fits_is_refused_where_it_is_given():
    """Every entry is in order, and the centre of mass is farther away than the moments allow."""
    theta = [2.0, 0.5, 0.0, 0.0, *(0.01, 0.0, 0.01, 0.0, 0.0, 0.01)]
    shares = {'lower': 0.9, 'nominal': 1.0, 'upper': 1.1}
    given = {key: [share * x for x in theta] for key, share in shares.items()}
    why = (
        r'prior: no body has theta_e from lower to upper: Iyy is at most 0.011 kg m\^2; what '
        'weighs at most 2.2 kg, with mcx so far from 0'
    )
    with pytest.raises(ConfigError, match=why):
        from_mapping(LoopSettings, {'robot': 'two_link', 'prior': given}, 'loop.yaml')
