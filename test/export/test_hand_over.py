"""What is handed to drivers: their units, frames and orders, and nothing that is a guess."""

from dataclasses import replace
import json

import numpy as np
import pytest

from safe_sysid.cli.main import main
from safe_sysid.errors import ConfigError
from safe_sysid.export import hand_over
from safe_sysid.export.hand_over import Asked, body_of, handed_over
from safe_sysid.model.inertia import from_mass_com_inertia

COM = np.array([0.02, -0.03, 0.14])
MOMENTS = np.array([[0.030, 0.002, -0.001], [0.002, 0.034, 0.003], [-0.001, 0.003, 0.012]])


def found(frame='tool0', widths=(0.02, 0.02, 0.02), **more):
    """What `identify --json` prints; widths of mass, first moments and inertias as shares."""
    nominal = from_mass_com_inertia(np.array(3.6), COM, MOMENTS)
    size = np.array([nominal[0], *(np.abs(nominal[1:4])), *(np.full(6, 0.012))])
    radius = np.repeat(widths, (1, 3, 6)) * size
    payload = {
        'frame': frame,
        'nominal': nominal.tolist(),
        'lower': (nominal - radius).tolist(),
        'upper': (nominal + radius).tolist(),
    }
    return {'payload': payload, 'refused': None, 'unstated': [], **more}


def handed(to, asked=None, **given):
    return handed_over(to, body_of(found(**given), to), asked or Asked())


def test_a_ur_gets_inertia_about_the_centre_and_a_transition_time():
    made = handed('ur', Asked(transition=0.25))
    fields = made.fields
    assert made.type == 'ur_msgs/srv/SetPayload'
    assert made.name == '/io_and_status_controller/set_payload'
    assert fields['mass'] == pytest.approx(3.6)
    assert [fields['center_of_gravity'][x] for x in 'xyz'] == pytest.approx(COM.tolist())
    got = [fields[name] for name in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')]
    assert got == pytest.approx([0.030, 0.002, -0.001, 0.034, 0.003, 0.012], rel=1e-6)
    assert fields['transition_time'] == {'sec': 0, 'nanosec': 250_000_000}
    assert any('mass [kg]: 3.6, certainly from 3.528' in each for each in made.sentences)
    assert 'ixx' in made.newer


@pytest.mark.parametrize('wrong', [9.0, -3.6, float('nan'), float('inf')])
@pytest.mark.parametrize('place', [0, 1, 9])
def test_a_payload_outside_of_its_interval_is_handed_to_nobody(wrong, place):
    given = found()
    given['payload']['nominal'][place] = wrong
    with pytest.raises(ConfigError, match='is not within its interval'):
        body_of(given, 'ur')


def compared(seen=True, **changes):
    """What `identify --empty --json` prints: a nominal value that the bounds do not contain."""
    given = found()['payload']
    lower, upper = (np.array(given.pop(name)) for name in ('lower', 'upper'))
    nominal = np.array(given['nominal'])
    prior, wide = nominal.copy(), (np.array(lower), np.array(upper))
    prior[9], wide[0][9], wide[1][9] = 0.0, -0.2, 0.2  # the moment that nothing determines
    given |= {'nominal': prior.tolist(), 'guaranteed': [lower.tolist(), upper.tolist()]}
    given['statistical'] = [wide[0].tolist(), wide[1].tolist()] if seen else None
    given |= {'confidence': 0.95 if seen else None, 'contains': 'what was not there'}
    return {'payload': given | changes, 'refused': None}


@pytest.mark.parametrize('statistical', [True, False])
def test_a_payload_against_an_empty_arm_is_handed_over_as_it_is_exported(statistical):
    given = compared(statistical)
    lower, upper = given['payload']['statistical' if statistical else 'guaranteed']
    body = body_of(given, 'ur')
    assert (np.array(lower) <= body.nominal).all() and (body.nominal <= np.array(upper)).all()
    kind = 'a statistical interval of 95 %' if statistical else 'guaranteed if'
    assert body.kind.startswith(kind) and body.contains.startswith('what was not there')
    sentences = handed_over('ur', body, Asked()).sentences
    assert any(kind in each for each in sentences)


@pytest.mark.parametrize('to', ['ur', 'ur-script', 'franka'])
def test_a_gripper_that_was_there_before_is_told_to_who_wants_all_behind_the_flange(to):
    gripper = from_mass_com_inertia(np.array(0.9), np.array([0.0, 0.0, 0.05]), 1e-3 * np.eye(3))
    without, both = body_of(compared(), to), body_of(compared(mounted=gripper.tolist()), to)
    added = gripper if to.startswith('ur') else np.zeros(10)
    np.testing.assert_allclose(both.nominal, without.nominal + added)
    np.testing.assert_allclose(both.bounds.lower, without.bounds.lower + added)
    if to.startswith('ur'):
        assert (
            both.contains
            == 'what was not there, with 0.9 kg that the URDF has there, taken as exact'
        )
        assert without.contains.endswith(
            'without what the flange carried in these as well, such as a gripper'
        )
    with pytest.raises(ConfigError, match='ten are needed'):
        body_of(compared(mounted=[1.0]), 'ur')


@pytest.mark.parametrize(
    ('damage', 'said'),
    [
        ({'nominal': [90.0, *([0.0] * 3), *([1.0, 0.0, 1.0, 0.0, 0.0, 1.0])]}, 'not within its'),
        ({'nominal': [float('nan')] * 10}, 'ten finite numbers'),
        ({'statistical': [1.0]}, 'has no interval'),
        ({'statistical': [[1.0], [2.0]]}, 'ten are needed'),
        ({'confidence': 'much'}, 'has to be a number'),
    ],
)
def test_a_damaged_comparison_is_a_sentence(damage, said):
    with pytest.raises(ConfigError, match=said):
        body_of(compared(**damage), 'ur')


def test_an_inertia_that_is_a_guess_is_left_out_for_a_ur_and_refused_by_the_others():
    wide = (0.02, 0.02, 5.0)
    made = handed('ur', widths=wide)
    assert {made.fields[name] for name in ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')} == {0.0}
    assert any('zero, that of a point mass' in each for each in made.sentences)
    for to in ('ur-script', 'franka', 'inertia'):
        with pytest.raises(ConfigError, match='not determined Ixx'):
            handed(to, widths=wide, frame='link8' if to == 'franka' else 'tool0')


@pytest.mark.parametrize('to', ['ur', 'ur-script', 'franka', 'moveit', 'inertia'])
def test_a_mass_that_is_a_guess_is_handed_to_nobody(to):
    asked = Asked(object='box', link='hand')
    frame = 'link8' if to == 'franka' else 'tool0'
    with pytest.raises(ConfigError, match='not determined mass'):
        handed(to, asked, widths=(0.9, 0.02, 0.02), frame=frame)


def test_a_franka_gets_columns():
    made = handed('franka', frame='fr3_link8')
    assert made.fields['load_inertia'] == pytest.approx(MOMENTS.T.ravel().tolist(), rel=1e-6)
    assert made.fields['center_of_mass'] == pytest.approx(COM.tolist())
    assert made.name == '/service_server/set_load'


def test_what_is_said_of_an_inertia_is_what_is_told(monkeypatch):
    """A thin body is handed on a little thicker."""
    thicker = from_mass_com_inertia(np.array(3.6), COM, 1.01 * MOMENTS)
    monkeypatch.setattr(hand_over, 'handed_on', lambda body: replace(body, nominal=thicker))
    made = handed('franka', frame='fr3_link8')
    (said,) = (each for each in made.sentences if each.startswith('inertia zz'))
    assert made.fields['load_inertia'][8] == pytest.approx(1.01 * 0.012)
    assert said.startswith('inertia zz about it [kg m^2]: 0.01212,')


def test_a_script_is_a_secondary_program_with_the_transition():
    lines = handed('ur-script', Asked(transition=0.5)).fields['data'].splitlines()
    assert lines[0] == 'sec hand_over():'
    assert lines[-1] == 'end'
    assert lines[1].startswith('  set_target_payload(3.6, [0.02, -0.03, 0.14], [0.03, 0.034, ')
    assert lines[1].endswith('], 0.500000)')


def test_another_frame_than_the_flange_is_refused():
    with pytest.raises(ConfigError, match="in the frame 'flange'.*'tool0'"):
        handed('ur', frame='flange')
    handed('ur', Asked(frame='flange'), frame='flange')


def test_moveit_gets_a_weight_and_is_said_to_take_no_more():
    made = handed('moveit', Asked(object='dumbbell', link='tool0'))
    assert made.fields['weight'] == pytest.approx(3.6)
    assert made.fields['object'] == {'id': 'dumbbell', 'operation': [0]}
    assert any('no field for a centre of mass' in each for each in made.sentences)
    with pytest.raises(ConfigError, match='--object'):
        handed('moveit')


def test_a_kuka_has_no_way_at_run_time_and_the_file_is_named():
    with pytest.raises(ConfigError, match='kuka=FILE'):
        handed('kuka')


def test_what_was_refused_is_not_handed_on():
    with pytest.raises(ConfigError, match='nothing to hand over: too noisy'):
        body_of(found(refused='too noisy'), 'ur')
    with pytest.raises(ConfigError, match='no interval'):
        body_of({'payload': {'frame': 'x', 'nominal': [1.0] * 10, 'guaranteed': None}}, 'ur')


@pytest.mark.parametrize('damage', [{'unstated': 5}, {'unstated': None}, {'unstated': 'mass'}])
def test_a_list_that_is_none_is_a_sentence(damage):
    with pytest.raises(ConfigError, match='unstated is .* has to be a list'):
        body_of(found(**damage), 'ur')


@pytest.mark.parametrize('to', ['franka', 'moveit', 'ur'])
@pytest.mark.parametrize('what', ['x', 3, [1], False])
def test_an_object_that_is_none_is_a_sentence(to, what):
    with pytest.raises(ConfigError, match='object is not what .* has to be a mapping'):
        body_of(found(object=what), to)


@pytest.mark.parametrize('frame', ['tool0', 'ur5e_tool0', 'left/tool0', 'arm.tool0'])
def test_the_flange_of_a_driver_may_have_a_prefix(frame):
    made = handed('ur', frame=frame)
    assert made.fields['mass'] == pytest.approx(3.6)
    told = f"by its name, '{frame}' is taken for the flange"
    assert any(told in each for each in made.sentences) == (frame != 'tool0')


@pytest.mark.parametrize(
    ('frame', 'said'),
    [
        ('nottool0', ''),
        ('left\n_tool0', ''),
        ('2tool0', ''),
        ('tool0_x', ''),
        ('tool0', 'ool0'),
        ('my_flange', 'flange'),
    ],
)
def test_a_frame_is_the_flange_or_it_is_not(frame, said):
    with pytest.raises(ConfigError, match=f"in the frame '{frame}', and ur takes it"):
        handed('ur', Asked(frame=said), frame=frame)


@pytest.mark.parametrize(
    ('seconds', 'sec', 'nanosec'),
    [(0.9999999999, 1, 0), (1.5, 1, 500_000_000), (0.0, 0, 0), (59.9999999996, 60, 0)],
)
def test_nanoseconds_are_less_than_a_second(seconds, sec, nanosec):
    made = handed('ur', Asked(transition=seconds))
    assert made.fields['transition_time'] == {'sec': sec, 'nanosec': nanosec}


@pytest.mark.parametrize('key', ['frame', 'nominal', 'upper'])
def test_a_payload_that_lacks_something_is_a_sentence(key):
    whole = found()
    del whole['payload'][key]
    with pytest.raises(ConfigError, match=f"prints: '{key}'|ten are needed"):
        body_of(whole, 'ur')


def test_the_command_prints_what_it_would_ask(tmp_path, capsys):
    path = tmp_path / 'found.json'
    path.write_text(json.dumps(found()))
    assert main(['hand-over', str(path), '--to', 'inertia', '--dry-run']) == 0
    said = capsys.readouterr().out
    assert '/payload (geometry_msgs/msg/InertiaStamped):' in said
    assert 'Nobody was asked.' in said
    assert main(['hand-over', str(path), '--to', 'kuka']) == 2
    assert 'kuka=FILE' in capsys.readouterr().err


def test_who_knows_the_gripper_is_told_of_the_object_alone():
    alone = dict(found()['payload'])
    for key in ('nominal', 'lower', 'upper'):
        alone[key] = (0.5 * np.array(alone[key])).tolist()
    both = found(object={'alone': alone})
    masses = {to: body_of(both, to).mass for to in ('ur', 'inertia', 'franka', 'moveit')}
    assert masses == pytest.approx({'ur': 3.6, 'inertia': 3.6, 'franka': 1.8, 'moveit': 1.8})
