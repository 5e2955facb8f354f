"""The demo over real middleware: what it prints and writes is true, a broken promise is told."""

from dataclasses import replace
import io
from itertools import pairwise
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from report.browser import Browser, chromium
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from safe_sysid.audit.ledger import ledger_of
from safe_sysid.audit.loop_of_bag import RecordedLoop, loop_of_bag
from safe_sysid.audit.true_load import TrueLoad
from safe_sysid.bringup.processes import Choices, processes_of
from safe_sysid.cli.demo import demonstration
from safe_sysid.cli.demo.narrator import LEAST, MOST, STEPS, WIDTH, Narrator, scale
from safe_sysid.cli.demo.runs import PERIOD, DemoChoices, believing_empty, errand, follow
from safe_sysid.cli.main import main
from safe_sysid.errors import MeasurementError
from safe_sysid.model.collision.contact import ContactGauge
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel

PROMISES = 11


def truth_of(payload):
    model = RobotModel.named('kinova_gen3').with_payload(read_payload(payload))
    return model.theta[model.layout.end_effector]


@pytest.fixture(scope='module')
def short(tmp_path_factory):
    """The task with a wrong belief: the shortest of the runs, over real middleware."""
    choices = DemoChoices('builtin_sim', 'dumbbell_8lb', tmp_path_factory.mktemp('demo'))
    heard = []
    status = follow(believing_empty(choices), choices.log, heard.append)
    said = [x for x in heard if x is not None]
    return status, said, loop_of_bag(choices.bag_of_belief), choices.bag_of_belief


@pytest.mark.slow
def test_a_wrong_belief_is_noticed_by_the_nodes_before_the_arm_moves(short):
    status, said, loop, _ = short
    assert status == 1
    assert [x['mode'] for x in said if 'mode' in x][:2] == ['idle', 'exciting']
    assert any('larger than the controller promises' in x.get('trouble', '') for x in said)
    assert 'larger than the controller promises' in loop.record.fault
    assert 0.0 < loop.record.fault_time < 3.0
    # time stood still until the supervisor knew, so no sample was answered from then on
    assert loop.record.fault_time == pytest.approx(loop.record.time[-1] + PERIOD, abs=1e-9)
    assert np.abs(loop.record.q - loop.record.q[0]).max() < 0.1


@pytest.mark.slow
def test_a_bag_becomes_the_run_that_was_recorded(short):
    _, _, loop, _ = short
    record, names = loop.record, loop.settings.model.layout.joint_names
    assert record.joint_names == names
    np.testing.assert_allclose(np.diff(record.time), PERIOD, atol=1e-9)
    assert np.abs(record.tau).max() > 1.0
    assert loop.settings.gains.V_M == 0.005  # in which a wrong belief shows soon
    assert set(loop.settings.boxes) == {
        'table', 'board_low', 'board_high', 'wall_left', 'wall_right',
    }  # fmt: skip
    assert [plan.certificate.holds for plan in loop.plans] == [True] * len(loop.plans)
    lower, upper = record.estimates.lower[0], record.estimates.upper[0]
    assert lower[0] == pytest.approx(1.285 * 0.95, rel=1e-3)
    assert upper[0] == pytest.approx(1.285 * 1.05, rel=1e-3)
    assert np.all(record.tau_lower < record.tau_upper)


@pytest.mark.slow
def test_what_is_held_is_drawn_when_it_is_told_and_not_with_every_sample(short):
    with Reader(short[3]) as reader:
        counts = {each.topic: each.msgcount for each in reader.connections}
    assert 1 <= counts['/payload_markers'] <= 3 < counts['/parameter_estimate']


OWN = ('/diagnostics', '/recorded/parameters')  # topics that no namespace moves


def beside_a_driver(bag, folder, *namespaces):
    """Copy of a bag: the loop in namespaces, and a driver with a /joint_states of its own."""
    types = get_typestore(Stores.LATEST)
    with (
        Reader(bag) as reader,
        Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer,
    ):
        to = {}
        for one in reader.connections:
            if one.topic.startswith('/recorded') and one.topic not in OWN:
                continue
            names = [one.topic] if one.topic in OWN else [n + one.topic for n in namespaces]
            names += ['/joint_states'] if one.topic == '/joint_states' else []
            to[one.topic] = [writer.add_connection(n, one.msgtype, typestore=types) for n in names]
        for one, stamp, data in reader.messages():
            for connection in to.get(one.topic, []):
                writer.write(connection, stamp, data)
    return folder


@pytest.mark.slow
def test_a_loop_in_a_namespace_beside_the_topics_of_its_driver_is_the_same_run(short, tmp_path):
    _, _, loop, bag = short
    there = loop_of_bag(beside_a_driver(bag, tmp_path / 'one', '/safe_sysid'))
    for name in ('time', 'q', 'tau', 'tau_lower'):
        np.testing.assert_array_equal(getattr(there.record, name), getattr(loop.record, name))
    assert there.record.fault == loop.record.fault
    two = beside_a_driver(bag, tmp_path / 'two', '/left', '/right')
    with pytest.raises(MeasurementError, match=r"loops in the namespaces \['/left', '/right'\]"):
        loop_of_bag(two)


@pytest.mark.slow
def test_the_ledger_tells_each_promise_that_was_broken(short):
    _, _, loop, _ = short
    kept = {
        e.promise: e.is_kept
        for e in ledger_of(loop, TrueLoad.always(truth_of('dumbbell_8lb'))).entries
    }
    assert len(kept) == PROMISES
    assert not kept['the true parameters are inside their bounds']  # they were believed wrongly
    assert not kept['the task ends at its goal']
    inside = loop.record.estimates.nominal[0]
    assert broken(loop, inside) == {'plans are found in time', 'the task ends at its goal'}
    record = loop.record
    wider = replace(
        record.estimates,
        time=np.array([0.0, 1.0]),
        nominal=np.tile(inside, (2, 1)),
        lower=record.estimates.lower[[0, 0]] - [[0.0], [1e-9]],
        upper=record.estimates.upper[[0, 0]],
    )
    for change, promise in (
        ({'tau': record.tau_upper + 1e-6}, 'torques stay within what was certified'),
        ({'tau': record.torque_limit + 0.0 * record.tau}, 'torques stay within their limits'),
        ({'error': 1.01 * record.error_bound}, 'tracking errors stay within their bounds'),
        ({'estimates': wider}, 'bounds only shrink'),
        ({'q': record.q * 0.0 + into_the_table(loop)}, 'nothing in the way is touched'),
    ):
        assert promise in broken(replace(loop, record=replace(record, **change)), inside)


def broken(loop: RecordedLoop, truth):
    return {e.promise for e in ledger_of(loop, TrueLoad.always(truth)).entries if not e.is_kept}


def into_the_table(loop):
    """Position in which the arm is inside the table."""
    gauge = ContactGauge(loop.settings.model, {'table': loop.settings.boxes['table']})
    first = len(loop.settings.model.capsules.pairs)
    moving = [i for i, (one, _) in enumerate(gauge.pairs) if i >= first and 'gripper' in one]
    for elbow in np.linspace(0.0, 3.0, 30):
        q = np.array([0.0, elbow, 0.0, 0.0, 0.0, 0.0, 0.0])
        if gauge.distances(q)[moving].min() < 0.0:
            return q
    raise AssertionError('the arm does not reach the table')


def test_every_setting_of_the_runs_is_one_of_their_nodes(tmp_path):
    choices = DemoChoices('builtin_sim', 'dumbbell_8lb', tmp_path)
    for arguments in (errand(choices), believing_empty(choices)):
        extra = [value for flag, value in pairwise(arguments) if flag == '-p']
        nodes = {p.node for p in processes_of('builtin_sim', Choices(extra=tuple(extra)))}
        assert {
            x.partition(':')[0]
            for x in extra
            if not x.startswith(('prior', 'gains', 'period', 'library'))
        } <= nodes


def test_the_narrator_shows_what_is_new_and_no_more(monkeypatch):
    monkeypatch.setenv('COLUMNS', '100')
    out = io.StringIO()
    narrator = Narrator(out, STEPS)
    narrator.hear({'sentence': '', 'mass': [1.2, 3.2, 5.2], 'stamp': 0})
    narrator.hear({'sentence': '', 'errand': 'grasp'})
    narrator.hear({'sentence': '', 'mass': [4.0, 4.5, 5.2], 'stamp': 2 * 10**9})
    narrator.hear({'sentence': '', 'mass': [4.001, 4.5, 5.2], 'stamp': 3 * 10**9})
    narrator.hear(None)
    found = 'new plan, smallest margin: torque of joint_2 at t = 0.50 to 0.52 s: 55 of 56.7 N m'
    narrator.hear({'sentence': '', 'plan': f'{found}; it takes over', 'stamp': 3500 * 10**6})
    narrator.hear({'sentence': '', 'trouble': 'fault: no way; x'})
    lines = [line for line in out.getvalue().splitlines() if line]
    assert [line.split()[0] for line in lines] == ['0.0', '0.0', '0.0', '1.5', '1.5']
    assert lines[2].endswith('4.00 … 5.20 kg')
    assert lines[4].endswith('fault   no way')
    assert lines[3].endswith('certified, smallest margin 55 of 56.7 N m: torque of joint_2')
    assert narrator.fault == 'no way; x'


def test_no_line_of_the_narrator_has_more_columns_than_the_terminal(monkeypatch):
    monkeypatch.setenv('COLUMNS', '80')
    out = io.StringIO()
    narrator = Narrator(out, STEPS)
    for stamp in (0, 100 * 10**9):
        narrator.hear({'sentence': '', 'mass': [1.2, 3.2, 5.2 + stamp], 'stamp': stamp + 1})
    for step in STEPS:
        narrator.hear({'sentence': '', 'errand': step})
    narrator.hear({'sentence': '', 'trouble': 'fault: ' + 40 * 'no way '})
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) == 80
    assert sum('no way' in line for line in lines) > 3


def test_the_scale_shows_an_interval_where_it_is():
    drawn = scale(2.0, 3.0, 4.0)
    assert len(drawn) == WIDTH
    at = [LEAST + (MOST - LEAST) * i / WIDTH for i, c in enumerate(drawn) if c in '━●']
    assert at[0] == pytest.approx(2.0, abs=(MOST - LEAST) / WIDTH)
    assert at[-1] == pytest.approx(4.0, abs=(MOST - LEAST) / WIDTH)
    assert scale(0.0, 0.5, 9.0)[0] == '●'


def test_without_ros_the_demo_says_how_to_get_it(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(demonstration.importlib.util, 'find_spec', lambda _: None)
    assert main(['demo', '--folder', str(tmp_path / 'new')]) == 2
    said = capsys.readouterr().err
    assert 'rclpy is not installed' in said
    assert "pip install '.[ros]'" in said
    assert not (tmp_path / 'new').exists()


def test_a_folder_that_exists_is_left_alone(capsys, tmp_path):
    assert main(['demo', '--folder', str(tmp_path)]) == 2
    assert 'is there already' in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_demo_that_is_interrupted_while_it_compiles_can_be_asked_for_again(
    monkeypatch, capsys, tmp_path
):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr('safe_sysid.cli.warm_up.warmed_up', interrupted)
    assert main(['demo', '--out', str(tmp_path / 'new')]) == 130
    assert 'Traceback' not in capsys.readouterr().err
    assert not (tmp_path / 'new').exists()


@pytest.mark.slow
def test_ctrl_c_leaves_no_process(tmp_path):
    folder = tmp_path / 'demo'
    command = [sys.executable, '-m', 'safe_sysid.cli.main', 'demo', '--folder', str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        deadline = time.monotonic() + 60.0
        while not children_of(process.pid) or not (folder / 'bag').exists():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        every = children_of(process.pid)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60.0)
    assert process.returncode == 130
    assert len(every) >= 2
    assert [pid for pid in every if Path(f'/proc/{pid}').exists()] == []


class Finalized:
    """Ctrl-C comes while Python finalizes it, which drops every exception."""

    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):  # in which the signal is handled
            pass


@pytest.mark.filterwarnings('ignore::pytest.PytestUnraisableExceptionWarning')
def test_ctrl_c_that_python_drops_is_noticed(tmp_path):
    choices = DemoChoices('builtin_sim', 'dumbbell_8lb', tmp_path)
    before, others = signal.getsignal(signal.SIGINT), children_of(os.getpid())
    with pytest.raises(KeyboardInterrupt):
        follow(errand(choices), tmp_path / 'nodes.log', lambda _: Finalized() and None)
    assert signal.getsignal(signal.SIGINT) is before
    assert set(children_of(os.getpid())) <= set(others)


def children_of(pid):
    """All processes below one."""
    found = []
    for path in Path(f'/proc/{pid}/task').glob('*/children'):
        for child in path.read_text().split():
            found += [int(child), *children_of(int(child))]
    return found


ANOTHER = ('seconds', 'report', 'bag')  # each time


@pytest.mark.nightly  # about two minutes
def test_a_demo_beside_other_work_gives_the_same_figures(tmp_path, capfd):
    with subprocess.Popen([sys.executable, '-c', 'while True: pass']) as work:
        try:
            busy = figures_of(tmp_path / 'busy', capfd)
        finally:
            work.kill()
    assert figures_of(tmp_path / 'alone', capfd) == busy


def figures_of(folder, capfd):
    """What a demo prints for programs, but for what is another one each time."""
    assert main(['demo', '--folder', str(folder), '--json']) == 0
    result = json.loads(capfd.readouterr().out)
    return {key: value for key, value in result.items() if key not in ANOTHER}


@pytest.mark.nightly  # about a minute
def test_the_whole_demo_keeps_every_promise(tmp_path, capfd):
    assert main(['demo', '--folder', str(tmp_path / 'demo'), '--json']) == 0
    printed = capfd.readouterr()
    result = json.loads(printed.out)
    assert result['every promise held'] is True
    assert len(result['promises']) == PROMISES
    assert all(promise['kept'] for promise in result['promises'])
    for row, true in zip(result['parameters'], truth_of('dumbbell_8lb'), strict=True):
        assert row['lower'] <= true <= row['upper']
        assert row['truth'] == pytest.approx(true)
    mass = result['parameters'][0]
    assert mass['upper'] - mass['lower'] < 0.8  # [kg], of 4.0 before
    thing, true = result['object'], read_payload('dumbbell_8lb').mass
    assert thing['mass [kg]']['lower'] <= true <= thing['mass [kg]']['upper']
    assert 'the dumbbell weighs' in thing['sentence']
    taught = result['what each motion taught']
    assert list(dict.fromkeys(x['for'] for x in taught)) == ['stand', 'lift', 'carry']
    assert taught[0]['mass before [kg wide]'] > 3.5
    assert [x['mass before [kg wide]'] for x in taught[1:]] == [x['after'] for x in taught[:-1]]
    wrong = result['believing the gripper is empty']
    assert 'larger than the controller promises' in wrong['fault']
    assert max(wrong['motions with the dumbbell']['outside'].values()) > 0.2
    assert 'place: the hand opens' in printed.err
    assert Path(result['report']).stat().st_size > 100_000
    assert len(list((tmp_path / 'demo' / 'figures').glob('*.png'))) >= 5
    if chromium() is not None:
        browser = Browser()
        browser.open(Path(result['report']))
        verdict = browser.value('document.querySelector(".verdict b").textContent')
        assert (verdict, browser.complaints()) == ('Every promise held.', [])
        browser.close()
