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
from ros.generated_messages import DATA, importable

from safe_sysid.cli.main import main

DRIVER = Path(__file__).with_name('fake_payload_drivers.py')
pytestmark = pytest.mark.slow


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


def test_an_older_ur_driver_takes_mass_and_centre_and_that_is_said(tmp_path, capsys):
    with importable('ur_msgs', DATA / 'older'), driver('ur') as process:
        status, said = asked(tmp_path, capsys, '--to', 'ur')
        taken = json.loads(process.stdout.readline())
    assert status == 0
    assert set(taken) == {'mass', 'center_of_gravity'}
    assert 'ixx' in said['answer']['lacking']
    assert 'knows no inertia' in said['sentences'][-1]


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


def test_a_robot_that_does_not_take_it_is_no_success(tmp_path, capsys):
    with importable('ur_msgs'), driver('ur', 'busy'):
        status, said = asked(tmp_path, capsys, '--to', 'ur')
    assert status == 1
    assert 'refused' in said['answer']['error']


def test_an_inertia_is_published_to_who_listens(tmp_path, capsys):
    with driver('inertia') as process:
        status, _ = asked(tmp_path, capsys, '--to', 'inertia')
        heard = json.loads(process.stdout.readline())
    assert status == 0
    assert heard['header']['frame_id'] == 'tool0'
    assert heard['inertia']['ixz'] == pytest.approx(MOMENTS[0, 2], rel=1e-6)


def test_nobody_there_is_said(tmp_path, capsys):
    path = tmp_path / 'found.json'
    path.write_text(json.dumps(found()))
    status = main(
        ['hand-over', str(path), '--to', 'inertia', '--name', '/nobody', '--wait', '0.5']
    )
    assert status == 1
    assert 'nobody listens to /nobody' in capsys.readouterr().out
