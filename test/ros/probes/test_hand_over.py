"""Payloads reach drivers as these take them, old and new; what they refuse is said."""

from contextlib import contextmanager
import json
from pathlib import Path
import subprocess
import sys

from export.test_hand_over import COM, MOMENTS, found
import numpy as np
import pytest

pytest.importorskip('rclpy')
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Inertia, InertiaStamped, Vector3
from ros.generated_messages import DATA, importable

from safe_sysid.cli.main import main
from safe_sysid.export.hand_over import Asked, body_of, handed_over
from safe_sysid.ros.probes.hand_over import _filled

DRIVER = Path(__file__).with_name('fake_payload_drivers.py')
INERTIA_IN_PLACE_OF_NUMBERS = (
    'franka_msgs/srv/SetLoad of this driver has the fields load_inertia '
    '(geometry_msgs/InertiaStamped); expected are mass (a number), center_of_mass (3 numbers), '
    'load_inertia (9 numbers)'
)


@contextmanager
def driver(*words):
    """A process that takes payloads, which is ready."""
    process = subprocess.Popen([sys.executable, DRIVER, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == 'ready\n'
        yield process
    finally:
        process.kill()
        process.wait()


def asked(tmp_path, capsys, *words, **given):
    path = tmp_path / 'found.json'
    path.write_text(json.dumps(found(**given)))
    status = main(['hand-over', str(path), *words, '--json', '--wait', '60'])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_a_new_ur_driver_takes_inertia_and_time(tmp_path, capsys):
    with importable('ur_msgs'), driver('ur') as process:
        status, said = asked(tmp_path, capsys, '--to', 'ur', '--transition', '0.5')
        taken = json.loads(process.stdout.readline())
    assert status == 0
    assert said['answer'] == {'success': True, 'lacking': []}
    assert taken['mass'] == pytest.approx(3.6)
    assert [taken['center_of_gravity'][x] for x in 'xyz'] == pytest.approx(COM.tolist())
    assert taken['iyz'] == pytest.approx(MOMENTS[1, 2], rel=1e-6)
    assert taken['transition_time'] == {'sec': 0, 'nanosec': 500_000_000}


@pytest.mark.slow
def test_a_ur_driver_since_3_takes_an_inertia_message(tmp_path, capsys):
    with importable('ur_msgs', DATA / 'newer'), driver('ur') as process:
        status, said = asked(tmp_path, capsys, '--to', 'ur', '--transition', '0.5')
        taken = json.loads(process.stdout.readline())
    assert status == 0
    assert said['answer'] == {'success': True, 'lacking': []}
    assert taken['payload']['m'] == pytest.approx(3.6)
    assert [taken['payload']['com'][x] for x in 'xyz'] == pytest.approx(COM.tolist())
    assert taken['payload']['iyz'] == pytest.approx(MOMENTS[1, 2], rel=1e-6)
    assert taken['transition_time'] == 0.5


class Request:
    """What a generated message has: fields that begin with something of their type."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def get_fields_and_field_types(self):
        return {name: type(value).__name__ for name, value in vars(self).items()}


@pytest.mark.parametrize('is_nested', [False, True])
@pytest.mark.parametrize('is_number', [False, True])
def test_a_ur_driver_takes_a_transition_time_of_either_type(is_nested, is_number):
    def request():
        moments = dict.fromkeys(('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz'), 0.0)
        own = {'mass': 0.0, 'center_of_gravity': Vector3(), **moments}
        own = {'payload': Inertia()} if is_nested else own
        return Request(**own, transition_time=0.0 if is_number else Duration())

    made = handed_over('ur', body_of(found(), 'ur'), Asked(transition=0.5))
    given = {'type': made.type, 'fields': made.fields, 'newer': made.newer, 'others': made.others}
    message, lacking, refusal = _filled(request, given)
    assert (lacking, refusal) == ([], '')
    taken = message.payload if is_nested else message
    assert taken.iyz == pytest.approx(MOMENTS[1, 2], rel=1e-6)
    wanted = 0.5 if is_number else Duration(sec=0, nanosec=500_000_000)
    assert message.transition_time == wanted


@pytest.mark.slow
def test_an_older_ur_driver_takes_mass_and_centre_and_that_is_said(tmp_path, capsys):
    with importable('ur_msgs', DATA / 'older'), driver('ur') as process:
        status, said = asked(tmp_path, capsys, '--to', 'ur')
        taken = json.loads(process.stdout.readline())
    assert status == 0
    assert set(taken) == {'mass', 'center_of_gravity'}
    assert 'ixx' in said['answer']['lacking']
    assert 'knows no inertia' in said['sentences'][-1]


@pytest.mark.slow
def test_a_franka_takes_columns_and_says_why_not_while_it_moves(tmp_path, capsys):
    with importable('franka_msgs'):
        with driver('franka') as process:
            status, _ = asked(tmp_path, capsys, '--to', 'franka', frame='fr3_link8')
            taken = json.loads(process.stdout.readline())
        with driver('franka', 'busy'):
            refused, said = asked(tmp_path, capsys, '--to', 'franka', frame='fr3_link8')
    assert status == 0
    assert np.allclose(np.reshape(taken['load_inertia'], (3, 3)).T, MOMENTS, rtol=1e-6)
    assert refused == 1
    assert 'current mode' in said['answer']['error']


@pytest.mark.slow
def test_a_franka_driver_of_other_fields_is_not_asked(tmp_path, capsys):
    with importable('franka_msgs', DATA / 'older'), driver('franka'):
        status, said = asked(tmp_path, capsys, '--to', 'franka', frame='fr3_link8')
    assert status == 1
    assert said['answer'] == {'error': INERTIA_IN_PLACE_OF_NUMBERS}


class Fields:
    """A message that takes anything for its fields, as those of newer distributions do."""

    def __init__(self, **values):
        vars(self).update(values)

    def get_fields_and_field_types(self):
        return {
            name: 'geometry_msgs/InertiaStamped' if isinstance(x, InertiaStamped) else 'double'
            for name, x in vars(self).items()
        }


def franka(make):
    """What is made of a request to a Franka by its fields, and why it is none."""
    made = handed_over('franka', body_of(found('fr3_link8'), 'franka'), Asked())
    given = {'type': made.type, 'fields': made.fields, 'newer': made.newer, 'others': made.others}
    return _filled(make, given)


def test_a_driver_that_takes_something_else_is_told_what_is_expected():
    _, lacking, refusal = franka(lambda: Fields(load_inertia=InertiaStamped()))
    assert (lacking, refusal) == ([], INERTIA_IN_PLACE_OF_NUMBERS)


def test_a_list_of_another_length_is_not_what_is_expected():
    make = lambda: Fields(mass=0.0, center_of_mass=np.zeros(3), load_inertia=np.zeros(6))  # noqa: E731
    assert 'expected are mass' in franka(make)[2]


def test_fields_as_expected_are_filled():
    make = lambda: Fields(mass=0.0, center_of_mass=np.zeros(3), load_inertia=np.zeros(9))  # noqa: E731
    request, lacking, refusal = franka(make)
    assert (lacking, refusal) == ([], '')
    assert request.mass == pytest.approx(3.6)
    assert request.center_of_mass == pytest.approx(COM.tolist())


@pytest.mark.slow
def test_a_robot_that_does_not_take_it_is_no_success(tmp_path, capsys):
    with importable('ur_msgs'), driver('ur', 'busy'):
        status, said = asked(tmp_path, capsys, '--to', 'ur')
    assert status == 1
    assert 'refused' in said['answer']['error']


@pytest.mark.slow
def test_an_inertia_is_published_to_who_listens(tmp_path, capsys):
    with driver('inertia') as process:
        status, _ = asked(tmp_path, capsys, '--to', 'inertia')
        heard = json.loads(process.stdout.readline())
    assert status == 0
    assert heard['header']['frame_id'] == 'tool0'
    assert heard['inertia']['ixz'] == pytest.approx(MOMENTS[0, 2], rel=1e-6)


@pytest.mark.slow
def test_nobody_there_is_said(tmp_path, capsys):
    path = tmp_path / 'found.json'
    path.write_text(json.dumps(found()))
    status = main(
        ['hand-over', str(path), '--to', 'inertia', '--name', '/nobody', '--wait', '0.5']
    )
    assert status == 1
    assert 'nobody listens to /nobody' in capsys.readouterr().out
