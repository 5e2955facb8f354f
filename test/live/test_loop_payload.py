"""The payload of a loop is what the loop's bounds say, and nothing that it does not know."""

from live.known_loop import BODY, COM, SECOND, arm, estimate_of_load, heard, prior, rows_with
import numpy as np
import pytest
import yaml

from safe_sysid.cli.main import main
from safe_sysid.config import from_mapping, nested
from safe_sysid.errors import ConfigError, ModelError
from safe_sysid.export.hand_over import COMPENSATES, Asked, body_of, handed_over
from safe_sysid.identify.change.held_next import from_library, within
from safe_sysid.live.loop_payload import loop_payload
from safe_sysid.loop_settings import LoopSettings
from safe_sysid.model.inertia import moved
from safe_sysid.model.payload import read_payload

BAR = ('dumbbell_4lb',)  # that may be held after a change


def handed(to, **changed):
    """What a driver is told of what was heard."""
    asked = Asked(object='box', link='tool0')
    payload = loop_payload(heard(**changed), 'tool0')
    return handed_over(to, body_of(payload.found, to), asked)


def test_a_driver_is_told_what_the_loop_knows_in_the_axes_of_its_flange():
    fields = handed('ur').fields
    assert fields['mass'] == pytest.approx(BODY[0])
    assert [fields['center_of_gravity'][x] for x in 'xyz'] == pytest.approx(COM.tolist())
    moments = [fields[name] for name in ('ixx', 'iyy', 'izz', 'ixy')]
    assert moments == pytest.approx([0.004, 0.005, 0.003, 0.0], abs=1e-6)
    assert loop_payload(heard(), '', 'tool0').found['payload']['frame'] == 'tool0'
    assert loop_payload(heard(), '').found['payload']['frame'] == 'wrist_3_link'


def test_bounds_contain_the_load_however_the_last_link_of_the_arm_differs(rng):
    """A link within what the settings state, and a load: theta_e is their sum."""
    model = arm()
    flange = model.frames['tool0']
    told = loop_payload(heard(), 'tool0').found['payload']
    lower, upper = np.array(told['lower']), np.array(told['upper'])
    rows = np.array(estimate_of_load())[:, model.layout.end_effector]
    share = 0.01  # of the mass of links, in the settings of this simulated loop
    for _ in range(50):
        scale = 1.0 + share * rng.uniform(-1.0, 1.0)
        load = rng.uniform(rows[0], rows[2]) - scale * model.own_end_effector
        there = moved(load, flange.R.T, -flange.R.T @ flange.p)
        assert np.all(lower <= there + 1e-12) and np.all(there <= upper + 1e-12)


def test_what_was_known_before_anything_was_measured_is_refused():
    with pytest.raises(ConfigError, match='the estimate is the prior'):
        loop_payload(heard(rows_with(*prior())), 'tool0')
    lower, upper = (np.array(each) for each in prior())
    wider = rows_with(lower - 0.1, upper + 0.1)
    with pytest.raises(ConfigError, match='the estimate is the prior'):
        loop_payload(heard(wider), 'tool0')


def test_any_of_a_library_is_nothing_that_was_learned():
    parameters = {'library': list(BAR), 'payload': ''}
    payload = loop_payload(heard(parameters=parameters), 'tool0')  # of something learned: taken
    assert payload.found['payload']
    settings = loop_settings(parameters)
    empty, own = settings.with_empty_hand()
    held = from_library(empty, [read_payload(each) for each in BAR], settings.grasp, own)
    bounds = within(held, settings.arm().prior).bounds
    with pytest.raises(ConfigError, match='since it changed; it is any of the library'):
        loop_payload(heard(rows_with(bounds.lower, bounds.upper), parameters), 'tool0')


def loop_settings(parameters):
    told = yaml.safe_load(heard(parameters=parameters)['parameters'])
    return from_mapping(LoopSettings, nested(told['/identifier']['ros__parameters']), 'test')


@pytest.mark.parametrize(
    ('said', 'why'),
    [
        ({'change': 'it weighs 2 kg more'}, 'it weighs 2 kg more; the loop has not answered'),
        ({'announced': True}, 'about to change'),
        ({'replays': True}, 'a bag is replayed'),
        ({'event': 8 * SECOND}, r'what is held changed 1\.00 s after the newest sample'),
        ({'faults': ['measurements contradict the model']}, 'contradict the model'),
        ({'labels': ['lower, nominal, upper', 'm of another arm']}, 'not about ur5e'),
    ],
)
def test_an_estimate_that_may_be_of_something_else_is_refused(said, why):
    with pytest.raises(ConfigError, match=why):
        loop_payload(heard(**said), 'tool0')


def test_what_may_weigh_nothing_is_refused():
    own = arm().own_end_effector
    thin = rows_with(own - 1e-3, own + 1e-2)
    payload = loop_payload(heard(thin), 'tool0')
    with pytest.raises(ConfigError, match='weighs 0 to .* kg, so it may be nothing'):
        payload.check_held(body_of(payload.found, 'franka'))


def test_what_the_motion_has_not_determined_is_refused():
    rows = np.array(estimate_of_load())
    place = arm().layout.end_effector.start
    rows[0, place], rows[2, place] = 0.6, 2.2  # [kg]
    with pytest.raises(ConfigError, match='not determined mass'):
        handed('ur', rows=rows)


@pytest.mark.parametrize('mode', ['', 'probing', 'exciting', 'holding', 'fault', 'releasing'])
def test_a_robot_that_adds_the_load_is_told_by_an_idle_loop_alone(mode):
    payload = loop_payload(heard(mode=mode, torque=mode == 'exciting'), 'tool0')
    with pytest.raises(ConfigError, match='supervisor/stop first'):
        payload.check_no_torque('ur')
    loop_payload(heard(), 'tool0').check_no_torque('ur')


def test_robots_that_add_the_load_are_those_with_a_controller_of_torques():
    assert set(COMPENSATES) == {'ur', 'ur-script', 'franka'}


def test_age_learning_and_changes_are_said():
    def words(**said):
        return '\n'.join(loop_payload(heard(**said), 'tool0').sentences)

    assert 'samples up to 3.00 s before the newest joint state' in words()
    assert 'learns nothing now (mode idle)' in words()
    assert 'no change of what is held was told' in words()
    assert 'still learns (mode exciting)' in words(mode='exciting', torque=True)
    assert 'nobody knows how old' in words(newest=None)
    assert 'still learns' not in words(newest=None, torque=True)
    assert 'came 2.00 s before that, and was answered' in words(event=5 * SECOND)
    assert 'assumed: ' in words()
    assert 'is simulated' in words(parameters={'simulated': True})
    assert 'is simulated' not in words()


def test_a_link_that_is_no_flange_is_refused():
    with pytest.raises(ModelError, match="'base_link' is not fixed to the last joint"):
        loop_payload(heard(), 'base_link')


@pytest.mark.parametrize(
    'words',
    [
        ['--to', 'ur'],
        ['FOUND', '--from-loop', '--to', 'ur'],
        ['FOUND', '--to', 'ur', '--namespace', 'left'],
    ],
)
def test_a_hand_over_is_of_a_file_or_of_a_loop(words, tmp_path, capsys):
    found = tmp_path / 'found.json'
    found.write_text('{}')
    assert main(['hand-over', *(str(found) if word == 'FOUND' else word for word in words)]) == 2
    assert '--from-loop' in capsys.readouterr().err
