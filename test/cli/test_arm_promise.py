"""`calibrate` leaves the empty recordings beside the arm, and `identify` compares with them."""

import hashlib
import json
import re

from identify.difference.two_recordings import PAYLOAD, TwoLinks
import numpy as np
import pytest
import yaml

from safe_sysid.api.loop_file import read_loop
from safe_sysid.cli.main import main
from safe_sysid.errors import ConfigError
from safe_sysid.identify.difference.arm_promise import read_promise
from safe_sysid.loop_settings import LoopPriorSettings, LoopSettings
from safe_sysid.model import inertia
from safe_sysid.model.arm import arm_of
from safe_sysid.model.promise_file import promise_path
from safe_sysid.model.promised_friction import promised_friction


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """A calibrated arm that is not as described, and what it recorded."""
    folder = tmp_path_factory.mktemp('promise')
    arm = TwoLinks(np.random.default_rng(1))
    header = ','.join(['time', 'q_0', 'q_1', 'tau_0', 'tau_1'])
    for name, payload in (('loaded', PAYLOAD), ('empty', 0.0 * PAYLOAD), ('again', 0.0 * PAYLOAD)):
        log = arm.log(payload, 40.0)
        table = np.column_stack([np.arange(len(log.q)) / log.rate, log.q, log.tau])
        np.savetxt(folder / f'{name}.csv', table, '%.9g', ',', header=header, comments='')
    recordings = [str(folder / f'{name}.csv') for name in ('empty', 'again')]
    out = ['--robot', 'two_link', '--out', str(folder / 'out'), '--cutoff', '5']
    assert main(['calibrate', *recordings, *out]) == 0
    return folder


def answer(capsys, *arguments):
    assert main(['identify', *arguments, '--json']) == 0
    return json.loads(capsys.readouterr().out)


def test_identify_reads_what_calibrate_leaves(folder, capsys):
    """The payload is that of the empty recordings themselves."""
    loaded = str(folder / 'loaded.csv')
    promised = answer(capsys, loaded, '--robot', str(folder / 'out' / 'two_link.yaml'))
    empty = [str(folder / f'{name}.csv') for name in ('empty', 'again')]
    given = answer(capsys, loaded, '--robot', 'two_link', '--empty', *empty)
    assert promised['payload']['nominal'][0] == pytest.approx(given['payload']['nominal'][0], 1e-3)
    for kind in ('statistical', 'guaranteed'):
        lower, upper = promised['payload'][kind]
        assert lower[0] <= PAYLOAD[0] <= upper[0]
    assert any('empty.csv, again.csv' in sentence for sentence in promised['recording'])
    assert promised['statistical']['kappa'][0] >= 1.5  # two recordings
    report = (folder / 'out' / 'report.md').read_text('utf-8')
    assert 'with one term more: load-dependent' in report


@pytest.mark.slow
def test_gains_that_a_known_mass_has_told_go_on_into_payloads_with_their_deviations(
    tmp_path, capsys
):
    """As if they had been stated with the empty recording; not for a unit that was changed."""
    arm, unit = TwoLinks(np.random.default_rng(1)), np.array([4.0, -7.0])  # [N m/A]
    known = inertia.from_mass_com_inertia(
        np.array(1.0), np.array([0.1, 0.02, 0.0]), 0.002 * np.eye(3)
    )
    header = 'time,q_0,q_1,tau_0,tau_1'
    for name, payload in (('loaded', PAYLOAD), ('empty', 0.0 * PAYLOAD), ('known', known)):
        log = arm.log(payload, 40.0)
        table = np.column_stack([np.arange(len(log.q)) / log.rate, log.q, log.tau / unit])
        np.savetxt(tmp_path / f'{name}.csv', table, '%.9g', ',', header=header, comments='')
    loaded, empty, held = (str(tmp_path / f'{x}.csv') for x in ('loaded', 'empty', 'known'))
    gains, robot = str(tmp_path / 'gains.yaml'), tmp_path / 'out' / 'two_link.yaml'
    told = ['calibrate-gains', empty, held, '--mass', '1.0', '--robot', 'two_link']
    assert main([*told, '--out', gains]) == 0
    written = ['--robot', 'two_link', '--gains', gains, '--out', str(tmp_path / 'out')]
    assert main(['calibrate', empty, *written, '--cutoff', '5']) == 0
    capsys.readouterr()

    promised = answer(capsys, loaded, '--robot', str(robot))
    given = answer(capsys, loaded, '--robot', 'two_link', '--empty', empty, '--gains', gains)
    for kind in ('statistical', 'guaranteed'):
        assert np.array(promised['payload'][kind])[:, 0] == pytest.approx(
            np.array(given['payload'][kind])[:, 0], abs=1e-3
        )
    lower, upper = promised['payload']['statistical']
    assert lower[0] <= PAYLOAD[0] <= upper[0]
    by_gains = promised['statistical']['half_width_by_gains'][0]
    assert by_gains == pytest.approx(given['statistical']['half_width_by_gains'][0], rel=1e-2)
    assert by_gains > 0.0
    assert 'that of the calibration' in promised['assumptions'][0]

    friction = promised_friction(arm_of(str(robot), None), 'guaranteed')
    assert friction is not None
    assert 'known with a deviation' in friction.sentence

    text = robot.read_text('utf-8')
    scaled = re.sub(r'(effort_scale: )([\d.]+)', lambda x: f'{x[1]}{1.02 * float(x[2])}', text)
    assert scaled != text
    robot.write_text(scaled, 'utf-8')
    changed = answer(capsys, loaded, '--robot', str(robot))
    assert 'as the settings of the arm state' in changed['assumptions'][0]


def test_stated_links_are_bounds_on_one_recording_as_before(folder, capsys):
    robot = str(folder / 'out' / 'two_link.yaml')
    main(
        ['identify', str(folder / 'loaded.csv'), '--robot', robot, '--known-links', '5%', '--json']
    )
    assert 'lower' in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize('stated', ['--known-links=2%', '--torque-error=0'])
def test_stated_links_are_not_of_a_urdf_that_has_changed(folder, stated, capsys):
    """Whoever changed it, friction in the settings is of another one."""
    out = folder / 'out'
    urdf, loaded = out / 'two_link.urdf', str(folder / 'loaded.csv')
    before = urdf.read_bytes()
    urdf.write_bytes(before + b'\n')
    try:
        for options in ([], [stated]):
            assert main(['identify', loaded, '--robot', str(out / 'two_link.yaml'), *options]) == 2
            said = capsys.readouterr().err
            assert 'two_link.urdf has changed since' in said
            assert 'two_link.promise.npz was written: calibrate again, or give the' in said
    finally:
        urdf.write_bytes(before)


def test_the_file_says_what_the_recordings_are_worth(folder):
    content = yaml.safe_load((folder / 'out' / 'two_link.promise.yaml').read_text('utf-8'))
    assert [x['name'] for x in content['recordings']] == ['empty.csv', 'again.csv']
    residual = content['residual']
    assert all(a < b for a, b in zip(residual['rms_nm'], residual['largest_nm'], strict=True))
    assert residual['blocks']['number'] >= 4
    truth = TwoLinks(np.random.default_rng(1)).truth
    joints = truth.layout.joint_entries('Fv')
    intervals = content['friction']['intervals'].values()
    for (lower, upper), true in zip(
        (x['Fv'] for x in intervals), truth.theta[joints], strict=True
    ):
        assert lower <= true <= upper
        assert upper - lower < 0.5
    assert len(content['drift_nm']) == 2


def test_a_promise_of_another_arm_or_half_written_is_refused(folder, tmp_path):
    arm = arm_of(str(folder / 'out' / 'two_link.yaml'), None)
    path = promise_path(arm.urdf)
    assert len(read_promise(path, arm).recordings) == 2
    before = arm.urdf.read_bytes()
    arm.urdf.write_bytes(before + b'\n')
    with pytest.raises(ConfigError, match='has changed since'):
        read_promise(path, arm)
    arm.urdf.write_bytes(before)
    copied = tmp_path / path.name
    copied.write_bytes(path.read_bytes()[:-1])
    copied.with_suffix('.yaml').write_bytes(path.with_suffix('.yaml').read_bytes())
    with pytest.raises(ConfigError, match='calibrate again'):
        read_promise(copied, arm)


def loop_of(robot, promise='statistical'):
    body = {'lower': (-9.0,) * 10, 'nominal': (0.0,) * 10, 'upper': (9.0,) * 10}
    return LoopSettings(str(robot), LoopPriorSettings(**body), promise=promise)


@pytest.mark.parametrize('kind', ['guaranteed', 'statistical'])
def test_the_prior_of_the_loop_contains_every_interval_of_the_file(folder, kind):
    arm = loop_of(folder / 'out' / 'two_link.yaml', kind).arm()
    friction = yaml.safe_load((folder / 'out' / 'two_link.promise.yaml').read_text('utf-8'))[
        'friction'
    ]
    given = friction['guaranteed'] if kind == 'guaranteed' else friction
    bounds = arm.prior.bounds
    for label in ('Fc', 'Fv'):
        place = arm.model.layout.joint_entries(label)
        ends = np.array([given['intervals'][x][label] for x in arm.model.layout.joint_names])
        assert (bounds.lower[place] <= np.maximum(ends[:, 0], 0.0) + 1e-12).all()
        assert (ends[:, 1] <= bounds.upper[place] + 1e-12).all()


def test_the_loop_takes_friction_from_the_promise_where_it_is_told_to(folder):
    """Its prior, on which certificates rest, then contains the true friction, and says of what."""
    robot = folder / 'out' / 'two_link.yaml'
    arm, truth = loop_of(robot).arm(), TwoLinks(np.random.default_rng(1)).truth.theta
    for kind, label in (('coulomb', 'Fc'), ('viscous', 'Fv')):
        place = arm.model.layout.joint_entries(label)
        lower, upper = arm.prior.bounds.lower[place], arm.prior.bounds.upper[place]
        assert (lower <= truth[place]).all() & (truth[place] <= upper).all(), kind
    assert any('99.9 % of repetitions' in sentence for sentence in arm.sentences)
    assert not any(
        'repetitions' in sentence for sentence in loop_of(robot, 'none').arm().sentences
    )


def test_the_loop_takes_guaranteed_intervals_of_friction_unless_told_otherwise(folder):
    """They hold the true friction, and the loop says what they rest on."""
    robot, body = folder / 'out' / 'two_link.yaml', loop_of('two_link', 'none').prior
    arm, truth = (
        LoopSettings(str(robot), body).arm(), TwoLinks(np.random.default_rng(1)).truth.theta,
    )  # fmt: skip
    shares = loop_of(robot, 'none').arm().prior.bounds
    for label in ('Fc', 'Fv'):
        place = arm.model.layout.joint_entries(label)
        bounds = arm.prior.bounds
        assert (bounds.lower[place] <= truth[place]).all()
        assert (truth[place] <= bounds.upper[place]).all()
        assert (bounds.radius[place] != shares.radius[place]).all()
        assert (bounds.radius[place] < 0.5).all()
    assert any('guaranteed intervals of two_link.promise' in x for x in arm.sentences)
    assert (
        LoopSettings('two_link', body)
        .arm()
        .prior.bounds.contains(  # none beside it: as before
            loop_of('two_link', 'none').arm().prior.theta
        )
    )


def test_what_the_loop_would_take_by_itself_is_refused_or_left_out_with_the_reason(folder):
    robot, body = folder / 'out' / 'two_link.yaml', loop_of('two_link', 'none').prior
    file = folder / 'out' / 'two_link.promise.yaml'
    before = file.read_text('utf-8')
    file.write_text(before.replace('urdf_sha256: ', 'urdf_sha256: 0'), 'utf-8')
    with pytest.raises(ConfigError, match='has changed since'):
        LoopSettings(str(robot), body).arm()
    wide = loop_of(robot, 'none').arm().prior.bounds
    for old, new, reason in (
        ('terms: []', 'terms: [quadratic]', 'ask for quadratic friction'),
        ('guaranteed:', 'other:', 'written before it had'),
    ):
        assert old in before
        file.write_text(before.replace(old, new), 'utf-8')
        arm = LoopSettings(str(robot), body).arm()
        assert any(reason in sentence for sentence in arm.sentences)
        np.testing.assert_array_equal(arm.prior.bounds.upper, wide.upper)
    file.write_text(before, 'utf-8')


def test_friction_that_a_sensor_behind_the_gears_does_not_feel_is_not_taken(folder):
    robot = folder / 'out' / 'two_link.yaml'
    before = robot.read_text('utf-8')
    settings = yaml.safe_load(before)
    settings.setdefault('sensing', {}).setdefault('torque', {})['sensor'] = 'link'
    robot.write_text(yaml.safe_dump(settings), 'utf-8')
    try:
        arm, bare = (loop_of(robot, kind).arm() for kind in ('guaranteed', 'none'))
        np.testing.assert_array_equal(arm.prior.bounds.upper, bare.prior.bounds.upper)
        assert any('behind the gears' in sentence for sentence in arm.sentences)
        with pytest.raises(ConfigError, match='behind the gears'):
            loop_of(robot, 'statistical').arm()
    finally:
        robot.write_text(before, 'utf-8')


def test_the_loop_takes_rows_that_bind_links_and_says_what_they_rest_on(folder):
    """They hold for the arm that was recorded, whose links are not those of any file."""
    robot, truth = folder / 'out' / 'two_link.yaml', TwoLinks(np.random.default_rng(1)).truth
    arm = loop_of(robot, 'guaranteed').arm()
    rows = arm.calibrated.rows
    rounding = rows.rounding @ np.array([np.abs(truth.theta).sum(), 1.0])
    assert len(rows) > 100
    assert np.all(np.abs(rows.Y @ truth.theta - rows.tau) <= rows.delta + rounding)
    assert not np.all(np.abs(rows.Y @ arm.model.theta * 1.05 - rows.tau) <= rows.delta)
    last = arm.prior.layout.end_effector
    assert arm.calibrated.hand.contains(arm_of(str(robot), None).model.theta[last])
    (sentence,) = (x for x in arm.sentences if 'what is known of links' in x)
    assert 'times the largest seen in' in sentence
    assert 'empty.csv, again.csv' in sentence
    for kind in ('statistical', 'none'):
        other = loop_of(robot, kind).arm()
        assert other.calibrated is None
        assert not any('links' in x for x in other.sentences)


def test_rows_of_links_that_are_missing_are_said_and_strange_ones_refused(folder):
    robot = folder / 'out' / 'two_link.yaml'
    file, arrays = (folder / 'out' / f'two_link.promise.{x}' for x in ('yaml', 'npz'))
    before, kept = file.read_text('utf-8'), arrays.read_bytes()
    for old, new, reason in (
        ('terms: []', 'terms: [quadratic]', 'ask for quadratic friction'),
        ('links:', 'other:', 'has no rows of them'),
    ):
        assert old in before
        file.write_text(before.replace(old, new), 'utf-8')
        arm = loop_of(robot, 'guaranteed').arm()
        assert arm.calibrated is None
        assert any('no links' in x and reason in x for x in arm.sentences)
    file.write_text(before, 'utf-8')
    arrays.unlink()
    arm = loop_of(robot, 'guaranteed').arm()
    assert any('two_link.promise.npz is not beside it' in x for x in arm.sentences)
    arrays.write_bytes(kept + b'0')
    with pytest.raises(ConfigError, match='is not the file that'):
        loop_of(robot, 'guaranteed').arm()
    arrays.write_bytes(kept[:1000])
    digests = (hashlib.sha256(x).hexdigest() for x in (kept, kept[:1000]))
    file.write_text(before.replace(*digests), 'utf-8')
    with pytest.raises(ConfigError, match='is not what calibrate has written'):
        loop_of(robot, 'guaranteed').arm()
    arrays.write_bytes(kept)
    file.write_text(before.replace('block_s', 'seconds'), 'utf-8')
    with pytest.raises(ConfigError, match='is not what calibrate has written'):
        loop_of(robot, 'guaranteed').arm()
    file.write_text(before, 'utf-8')


def test_python_reads_a_loop_with_the_same_friction_and_rows(folder, tmp_path):
    robot, file = folder / 'out' / 'two_link.yaml', tmp_path / 'loop.yaml'
    told = loop_of(robot)
    body = {end: list(getattr(told.prior, end)) for end in ('lower', 'nominal', 'upper')}
    for promise in ('guaranteed', 'statistical', 'none'):
        common = {'robot': str(robot), 'promise': promise, 'prior': body}
        file.write_text(yaml.safe_dump({'/**': {'ros__parameters': common}}), 'utf-8')
        loop = read_loop(arm_of(str(robot), None), file)
        prior = loop.prior
        arm = loop_of(robot, promise).arm()
        np.testing.assert_array_equal(prior.bounds.lower, arm.prior.bounds.lower)
        np.testing.assert_array_equal(prior.bounds.upper, arm.prior.bounds.upper)
        assert (loop.calibrated is None) == (arm.calibrated is None) == (promise != 'guaranteed')
        if loop.calibrated is not None:
            np.testing.assert_array_equal(loop.calibrated.rows.Y, arm.calibrated.rows.Y)
            np.testing.assert_array_equal(loop.calibrated.hand.upper, arm.calibrated.hand.upper)
            assert set(loop.promised) <= set(arm.sentences)


def test_the_loop_refuses_promises_of_other_arms_and_of_friction_it_does_not_have(folder):
    robot = folder / 'out' / 'two_link.yaml'
    with pytest.raises(ConfigError, match='there is no .*two_link.promise.yaml'):
        loop_of('two_link').arm()
    for name, old, new, sentence in (
        ('two_link.promise.yaml', 'terms: []', 'terms: [quadratic]', 'quadratic friction'),
        ('two_link.promise.yaml', 'urdf_sha256: ', 'urdf_sha256: 0', 'has changed since'),
    ):
        file = folder / 'out' / name
        before = file.read_text('utf-8')
        assert old in before
        file.write_text(before.replace(old, new), 'utf-8')
        with pytest.raises(ConfigError, match=sentence):
            loop_of(robot).arm()
        file.write_text(before, 'utf-8')
    file.write_text(before.replace('urdf_sha256', 'sha'), 'utf-8')
    with pytest.raises(ConfigError, match='is not what calibrate has written'):
        loop_of(robot).arm()
    file.write_text(before, 'utf-8')
