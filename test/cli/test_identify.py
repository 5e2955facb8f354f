"""safe-sysid identify: bounds that contain the truth, or the assumption that fails."""

import contextlib
import io
import json
from xml.etree import ElementTree

from cli.recorded_arm import PAYLOAD, Trial, as_bag, as_table, scaled, trial
import numpy as np
import pinocchio as pin
import pytest
import yaml

from safe_sysid.cli.main import main
from safe_sysid.cli.values import known_kind
from safe_sysid.export.arm_settings import write_settings
from safe_sysid.export.arm_urdf import write_dynamics
from safe_sysid.identify.payload_in_frame import payload_of
from safe_sysid.model import inertia
from safe_sysid.model.arm import arm_of
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.excited_motion import fourier_motion, recorded, true_torque

EXACT = ('--velocity-error', '0')  # as the recordings here are made
BENCH_KEYS = {'nominal', 'lower', 'upper', 'assumptions', 'refused', 'validation'}


def identify(path, *arguments):
    """Exit status and the JSON object."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        status = main(['identify', str(path), '--robot', 'two_link', '--json', *EXACT, *arguments])
    return status, json.loads(text.getvalue())


@pytest.fixture(scope='module')
def arm():
    return trial()


@pytest.fixture(scope='module')
def bag(arm, tmp_path_factory):
    return as_bag(arm, tmp_path_factory.mktemp('bags') / 'run')


@pytest.fixture(scope='module')
def answer(bag):
    return identify(bag)


def assert_contains(found, truth):
    assert (np.array(found['lower']) <= truth).all() and (truth <= np.array(found['upper'])).all()


def test_bounds_contain_the_truth_and_nothing_is_missing(arm, answer):
    status, found = answer
    assert status == 0
    assert found.keys() >= BENCH_KEYS
    assert found['refused'] is None
    assert_contains(found, arm.truth)
    assert found['upper'][0] - found['lower'][0] < 1.0
    assert found['validation']['of'] == 'identified'
    assert found['validation']['relative_error_filtered'] < 0.05
    assert found['validation']['filter_hz'] == 10.0


@pytest.mark.slow
def test_held_out_torque_is_predicted_from_what_came_before(arm, answer, tmp_path):
    """Torques of the held-out part, 2 % larger, change the error by about as much."""
    late = arm.log.stamp > 1_900_000_000
    changed = scaled(arm, np.where(late, 1.02, 1.0)[:, None])
    after = identify(as_bag(changed, tmp_path / 'late'))[1]['validation']
    before = answer[1]['validation']
    assert before['fitted_until_s'] == pytest.approx(1.8)
    for name in ('identified', 'best_fit'):
        small, large = (v['predictions'][name]['relative_error_filtered'] for v in (before, after))
        assert small < 0.015
        assert 0.005 < large - small < 0.03


def test_the_payload_is_what_was_added_to_the_last_link(answer):
    payload = answer[1]['payload']
    assert payload['frame'] == 'link_2'
    assert_contains(payload, PAYLOAD)
    com = PAYLOAD[1:4] / PAYLOAD[0]
    assert (np.array(payload['com_lower_m']) <= com).all()
    assert (com <= np.array(payload['com_upper_m'])).all()
    about_com = inertia.symmetric_entries(inertia.mass_com_inertia(PAYLOAD)[2])
    assert (np.array(payload['inertia_about_com_lower']) <= about_com).all()
    assert (about_com <= np.array(payload['inertia_about_com_upper'])).all()


@pytest.mark.slow
def test_the_same_numbers_come_from_a_table(arm, answer, tmp_path):
    _, found = identify(as_table(arm, tmp_path / 'run.csv'))
    np.testing.assert_allclose(found['lower'], answer[1]['lower'], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found['nominal'], answer[1]['nominal'], rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_an_inverted_sign_is_noticed_and_the_cure_works(arm, answer, tmp_path):
    path = as_bag(scaled(arm, -1.0), tmp_path / 'inverted')
    status, found = identify(path)
    assert status == 1
    assert 'A3 does not hold' in found['refused']
    assert 'joint_1 -' in found['refused'] and '--torque-sign -1' in found['refused']
    assert found['payload'] is None
    status, found = identify(path, '--torque-sign', '-1')
    assert status == 0
    assert found['lower'] == answer[1]['lower'] and found['upper'] == answer[1]['upper']
    assert 'counted against the joint axes' in ' '.join(found['recording'])


def test_one_inverted_joint_is_named(arm, tmp_path):
    signs = np.array([-1.0, 1.0])
    path = as_bag(scaled(arm, signs), tmp_path / 'inverted')
    assert 'joint_1 -' in identify(path)[1]['refused']
    assert identify(path, '--torque-sign=-1,1')[0] == 0


def test_a_current_is_noticed(arm, tmp_path):
    status, found = identify(as_bag(scaled(arm, 0.05), tmp_path / 'current'))
    assert status == 1
    assert 'is a current, another unit' in found['refused']


@pytest.mark.slow
def test_a_payload_behind_the_last_joint_is_not_taken_for_another_unit(tmp_path):
    """Its torque is twice as large as without it, and not at all like that."""
    payload = inertia.from_mass_com_inertia(
        np.array(1.5), np.array([-0.3, 0.0, 0.0]), np.diag([0.004, 0.006, 0.005])
    )
    status, found = identify(as_bag(trial(payload=payload), tmp_path / 'behind'))
    assert status == 0
    assert_contains(found['payload'], payload)


def test_a_broken_promise_is_a_refusal_without_numbers(arm, tmp_path):
    log = arm.log
    torque = log.torque.copy()
    torque[400:600, 0] += 12.0  # somebody leans on the arm
    touched = as_bag(scaled(arm, torque / log.torque), tmp_path / 'touched')
    status, found = identify(touched)
    assert status == 1
    assert 'A1, A2 or A3 does not hold: measurements of' in found['refused']
    assert 'joint_1' in found['refused']
    for name in ('nominal', 'lower', 'upper', 'determined', 'payload'):
        assert found[name] is None
    assert found['validation']['of'] == 'best_fit'


@pytest.mark.slow
def test_an_arm_with_the_same_torques_gives_bounds_for_the_payload_alone(tmp_path):
    """0.3 kg at the axis of joint 2 are of the last link here, and of the one before in truth.

    Values are up to 44 % off, shares are 1 %: as the last assumption says, bounds on the payload
    hold, and those on the whole of what joint 2 moves are those of the other arm.
    """
    given = arm_of('two_link', None)
    layout, theta = given.model.layout, given.model.theta.copy()
    at_joint = given.model.tree.p_parent_joint[1]
    mass, point = np.array(0.3), np.zeros((3, 3))
    theta[layout.inertial(0)] -= inertia.from_mass_com_inertia(mass, at_joint, point)
    theta[layout.inertial(1)] += inertia.from_mass_com_inertia(mass, 0.0 * at_joint, point)
    other = given.model.with_parameters(theta)
    write_dynamics(other, {}, given.urdf, tmp_path / 'two_link.urdf')
    write_settings(other, given.facts, 'two_link.urdf', tmp_path / 'two_link.yaml', ())
    loaded = given.model.theta.copy()
    loaded[layout.end_effector] += PAYLOAD
    motion = fourier_motion(np.random.default_rng(3), 2, seconds=3.0, period=0.002, base=0.4)
    log = recorded(motion, true_torque(given.model.with_parameters(loaded), motion))
    truth = loaded[layout.end_effector]
    path = as_bag(Trial(given.model, log, truth), tmp_path / 'run')
    promised = ['--known-links', '1%', '--torque-ratio', '0.5%', '--velocity-error', '0']
    status, found = identify(path, '--robot', str(tmp_path / 'two_link.yaml'), *promised)
    assert (status, found['refused']) == (0, None)
    assert_contains(found['payload'], PAYLOAD)
    assert found['payload']['upper'][0] - found['payload']['lower'][0] < 0.25
    assert truth[0] + 0.2 < found['lower'][0] < truth[0] + 0.3 < found['upper'][0]
    said = found['assumptions'][-1]
    assert 'needs the same torques' in said and 'bounds on the payload hold then' in said
    assert 'everything that the last joint moves' in said and '`safe-sysid calibrate`' in said


@pytest.mark.slow
def test_a_part_of_the_recording_can_be_chosen(bag, arm):
    _, found = identify(bag, '--payload-from', '0.5', '--to', '1.7')
    assert (found['from_s'], found['to_s']) == (0.5, pytest.approx(1.7))
    assert found['recording'][0].startswith('601 samples in 1.200 s')
    assert_contains(found, arm.truth)


@pytest.mark.slow
def test_unknown_friction_gives_wider_bounds_that_contain_the_truth(bag, arm, answer):
    _, found = identify(bag, '--known-friction', 'unknown')
    assert_contains(found, arm.truth)
    assert found['upper'][0] - found['lower'][0] > answer[1]['upper'][0] - answer[1]['lower'][0]


@pytest.mark.slow
def test_links_that_are_known_less_than_said_raise_a_caution(arm, tmp_path):
    """Friction many times larger than described, swallowed by what is promised of torques."""
    torque = arm.log.torque + 3.0 * arm.log.velocity
    path = as_bag(scaled(arm, torque / arm.log.torque), tmp_path / 'sticky')
    status, found = identify(path, '--torque-noise', '20')
    assert status == 0
    assert 'within what was said of links' in found['caution']


@pytest.mark.slow
def test_yaml_and_table_say_what_json_says(bag, answer, capsys):
    main(['identify', str(bag), '--robot', 'two_link', '--yaml', *EXACT])
    found = yaml.safe_load(capsys.readouterr().out)
    assert found.keys() == answer[1].keys()
    assert found['upper'] == answer[1]['upper']
    main(['identify', str(bag), '--robot', 'two_link', *EXACT])
    printed = capsys.readouterr().out
    for sentence in found['assumptions']:
        assert sentence in printed
    assert f'{found["upper"][0]:10.4f}' in printed
    assert 'low-pass 10 Hz' in printed


def test_the_own_link_is_taken_off_exactly():
    """Pinocchio moves the same bodies."""
    arm = arm_of('kinova_gen3', None)
    whole = arm.model.theta[arm.model.layout.end_effector]
    flange = 'gen3_robotiq_85_base_link'
    body = payload_of(arm, whole, Interval.of(whole), flange, ArmKnowledge(links=0.0))
    model = pin.buildModelFromUrdf(str(arm.urdf))
    frame = model.frames[model.getFrameId(flange)]
    tip = model.frames[model.getFrameId(arm.facts.tip)]
    (link,) = (x for x in ElementTree.parse(arm.urdf).iter('link') if x.get('name') == tip.name)
    mass, origin, i = (link.find(f'inertial/{name}') for name in ('mass', 'origin', 'inertia'))
    R = pin.rpy.rpyToMatrix(np.array(origin.get('rpy', '0 0 0').split(), dtype=float))
    xx, xy, xz, yy, yz, zz = (
        float(i.get(f'i{name}')) for name in ('xx', 'xy', 'xz', 'yy', 'yz', 'zz')
    )
    moments = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    lever = np.array(origin.get('xyz').split(), dtype=float)
    own = pin.Inertia(float(mass.get('value')), lever, R @ moments @ R.T)
    expected = frame.placement.actInv(model.inertias[-1] - tip.placement.act(own))
    np.testing.assert_allclose(body.nominal, expected.toDynamicParameters(), atol=1e-12)
    assert body.bounds.contains(expected.toDynamicParameters())
    np.testing.assert_allclose(body.com, expected.lever, atol=1e-10)
    np.testing.assert_allclose(body.inertia, expected.inertia, atol=1e-10)


def test_misuse_says_what_is_allowed(bag, tmp_path, capsys):
    for arguments, sentence in (
        ([str(tmp_path), '--robot', 'two_link'], 'metadata.yaml'),
        ([str(bag), '--robot', 'two_link', '--flange', 'nose'], "'nose' is not fixed to"),
        ([str(bag), '--robot', 'two_link', '--joint-names', 'j{n}'], "without ['j1'"),
        ([str(bag), '--robot', 'two_link', '--torque-sign', '1,1,1'], '1 or 2 are needed'),
        ([str(bag), '--robot', 'two_link', '--filter', '900'], 'below 250 Hz'),
    ):
        assert main(['identify', *arguments]) == 2
        assert sentence in capsys.readouterr().err


def test_exports_are_written_and_after_a_refusal_they_are_not(bag, arm, tmp_path, capsys):
    forms = ('urdf', 'ur', 'kuka')
    asked = [f'--export={form}={tmp_path}/out/{form}' for form in forms]
    status, found = identify(bag, *asked, '--export-undetermined')
    assert status == 0
    for form in forms:
        assert (tmp_path / 'out' / form).read_text()
    (mass,) = ElementTree.parse(tmp_path / 'out' / 'urdf').iterfind(
        "link[@name='link_2']/inertial/mass"
    )
    assert float(mass.get('value')) == found['nominal'][0]
    inverted = as_bag(scaled(arm, -1.0), tmp_path / 'inverted')
    assert identify(inverted, f'--export=abb={tmp_path}/never')[0] == 1
    assert 'nothing is exported' in capsys.readouterr().err
    assert not (tmp_path / 'never').exists()


@pytest.mark.slow
def test_widths_of_one_kind_can_be_stated(bag, answer):
    said = ' '.join(answer[1]['assumptions'])
    assert 'the offset of the joints is from -0.05 to 0.05 N m' in said
    _, found = identify(bag, '--known', 'offset=0.2,0.3', '--known', 'coulomb=10%+1')
    said = ' '.join(found['assumptions'])
    assert 'the offset of the joints is from -0.2, -0.3 to 0.2, 0.3 N m' in said
    assert 'Coulomb friction of the joints is from 0 to 1.55, 1.33 N m' in said
    assert found['upper'][0] - found['lower'][0] > answer[1]['upper'][0] - answer[1]['lower'][0]


@pytest.mark.parametrize(
    'text',
    [
        'rust=5%',
        'offset',
        'offset=',
        'offset=5%1',
        'offset=-1',
        'offset=x',
        'coulomb=-5%',
        'coulomb=5%,1',
    ],
)
def test_a_width_that_is_none_is_refused(bag, text, capsys):
    with pytest.raises(SystemExit):
        main(['identify', str(bag), '--robot', 'two_link', '--known', text, *EXACT])
    assert 'argument --known' in capsys.readouterr().err


def test_a_share_alone_states_no_absolute_width():
    assert known_kind('coulomb=5%') == ('coulomb', (0.05,), None)
    assert known_kind('coulomb=5%+0,0.5') == ('coulomb', (0.05, 0.0), (0.0, 0.5))


def test_a_refusal_prints_no_parameters(arm, tmp_path, capsys):
    path = as_bag(scaled(arm, -1.0), tmp_path / 'inverted')
    assert main(['identify', str(path), '--robot', 'two_link', *EXACT]) == 1
    printed = capsys.readouterr().out
    assert 'REFUSED' in printed and 'Nothing was learned' in printed
    assert 'mcx' not in printed and 'nominal' not in printed


@pytest.mark.slow
def test_what_the_motion_does_not_show_is_marked_and_needs_a_flag(bag, tmp_path, capsys):
    """A planar arm: nothing turns about x or z of the last link."""
    path = tmp_path / 'payload.script'
    status, found = identify(bag, f'--export=ur={path}')
    assert status == 1 and not path.exists()
    said = capsys.readouterr().err
    assert 'Ixx' in said and '--export-undetermined' in said
    known = dict(zip(found['parameters'], found['determined'], strict=True))
    assert known['m'] and known['Iyy'] and not known['Ixx']
    assert identify(bag, f'--export=ur={path}', '--export-undetermined')[0] == 0
    lines = path.read_text().splitlines()
    assert any('inertia xx' in line and 'NOT DETERMINED' in line for line in lines)
    assert not any('mass [kg]' in line and 'NOT DETERMINED' in line for line in lines)
    main(['identify', str(bag), '--robot', 'two_link', *EXACT])
    rows = capsys.readouterr().out.splitlines()
    assert any(row.startswith('  Ixx') and 'not determined by the motion' in row for row in rows)
    assert not any(row.startswith('  m ') and 'not determined' in row for row in rows)


STATED = (
    '--known-links=5%', '--known-friction=5%', '--payload-mass=10', '--payload-reach=0.5',
    '--torque-ratio=2.5%', '--torque-noise=0', '--velocity-error=0', '--torque-signal=sampled',
)  # fmt: skip


@pytest.mark.slow
def test_certainly_is_said_only_where_all_assumptions_were_stated(bag, tmp_path):
    path = tmp_path / 'payload.script'
    for stated, is_certain in (((), False), (STATED[1:], False), (STATED, True)):
        _, found = identify(bag, f'--export=ur={path}', '--export-undetermined', *stated)
        assert (found['unstated'] == []) == is_certain
        assert ('certainly' in path.read_text()) == is_certain
    assert 'nobody stated' not in path.read_text()


@pytest.mark.slow
def test_placeholders_of_a_urdf_are_said_and_correct_torques_are_not_refused(tmp_path):
    """<dynamics damping="100" friction="10"/> on every joint predicts a multiple of the torque."""
    given = arm_of('two_link', None)
    tree = ElementTree.parse(given.urdf)
    for joint in tree.iter('joint'):
        for dynamics in joint.findall('dynamics'):
            joint.remove(dynamics)
        if joint.get('type') != 'fixed':
            ElementTree.SubElement(joint, 'dynamics', damping='100', friction='10')
    urdf = tmp_path / 'placeholder.urdf'
    tree.write(urdf)
    theta = given.model.theta.copy()
    for kind in ('Fc', 'Fv'):
        theta[given.model.layout.joint_entries(kind)] *= 0.1
    theta[given.model.layout.end_effector] += PAYLOAD
    motion = fourier_motion(np.random.default_rng(4), 2, seconds=3.0, period=0.002, base=1.2)
    log = recorded(motion, true_torque(given.model.with_parameters(theta), motion))
    truth = theta[given.model.layout.end_effector]
    path = as_bag(Trial(given.model, log, truth), tmp_path / 'run')
    status, found = identify(path, '--robot', str(urdf))
    assert (status, found['refused']) == (0, None)
    assert_contains(found, truth)
    said = ' '.join(found['assumptions'])
    assert 'viscous friction that placeholder is described with looks like a placeholder' in said
    assert 'Coulomb friction that placeholder is described with looks like' in said
