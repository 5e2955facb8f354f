"""Launch files under the real `ros2 launch`; `make launch-tests` says how to have it."""

from contextlib import contextmanager, suppress
import importlib.util
import os
import re
import signal
import subprocess
import time

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
import pytest
from ros.running_loop import observed

from safe_sysid.track.supervisor import Mode

PATIENCE = 300.0  # [s]
STAND_INS = ('robot_state_publisher', 'joint_state_publisher_gui', 'rviz2')

pytest.importorskip('ros2launch', reason='ros2 launch is on no package index: make launch-tests')
try:
    get_package_prefix('safe_sysid')
except (PackageNotFoundError, LookupError):
    pytest.skip(
        'safe_sysid is not built where ros2 looks for it: make launch-tests',
        allow_module_level=True,
    )
pytestmark = pytest.mark.slow


@contextmanager
def launched(folder, file, *arguments):
    """`ros2 launch` of one of our files, ended by Ctrl-C; what it says is in a file."""
    with (folder / 'launch.log').open('w') as log:
        process = subprocess.Popen(
            ['ros2', 'launch', 'safe_sysid', f'{file}.launch.py', *arguments],
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, 'ROS_LOG_DIR': str(folder)},
            start_new_session=True,
        )
        try:
            yield process
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)
        finally:
            ended(process)


def ended(process):
    """Ask before it is killed: whoever is killed inside the middleware may stop all others."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            if process.poll() is None:
                os.killpg(process.pid, number)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(30.0)
    finally:
        process.wait()


def said(folder):
    return (folder / 'launch.log').read_text()


@pytest.mark.parametrize('way', ['builtin_sim', 'drake_sim', 'mujoco_sim'])
def test_a_simulated_arm_moves_and_ctrl_c_ends_it_at_rest(way, tmp_path):
    """In real time: a machine with much other work makes a fault of it, which ends so as well."""
    bag = tmp_path / 'bag'
    with observed() as observer, launched(tmp_path, way, 'robot:=two_link', f'record:={bag}'):
        observer.wait(lambda: observer.mode == Mode.EXCITING.value, 'moves', PATIENCE)
        observer.wait(lambda: len(observer.plans) > 2, 'one plan follows another', PATIENCE)
    for step in ('releasing', 'ended'):
        assert f'[supervisor]: {step}' in said(tmp_path)
    assert 'Traceback' not in said(tmp_path)
    assert list(bag.glob('*.mcap'))
    if way == 'builtin_sim':
        replay_ends_by_itself(tmp_path, bag)


def replay_ends_by_itself(folder, bag):
    ends = subprocess.run(
        ['ros2', 'launch', 'safe_sysid', 'replay.launch.py', 'robot:=two_link', f'bag:={bag}'],
        env={**os.environ, 'ROS_LOG_DIR': str(folder)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ends.returncode == 0, ends.stdout
    assert 'Traceback' not in ends.stdout + ends.stderr


@pytest.mark.parametrize('way', ['loop', 'kinova', 'gazebo_sim'])
def test_a_loop_without_its_driver_waits_and_ctrl_c_ends_it(way, tmp_path):
    with observed('cell') as observer, launched(tmp_path, way, 'namespace:=cell'):
        if way == 'loop':  # nor a bridge, so nobody knows whether the arm is under torque

            def waits():
                condition = observer.conditions.get('cell/supervisor')
                return condition is not None and 'bridge has not been heard' in condition.trouble

            observer.wait(waits, 'it waits for a bridge', PATIENCE)
        else:
            observer.wait(lambda: observer.mode == Mode.IDLE.value, 'is idle', PATIENCE)
        observer.wait(lambda: 'cell/planner' in observer.conditions, 'all are there', PATIENCE)
    assert 'Traceback' not in said(tmp_path)
    assert 'failed to terminate' not in said(tmp_path)


@pytest.mark.parametrize(
    ('way', 'module', 'sentence'),
    [
        ('lbr_fri', 'lbr_fri_idl', 'install lbr_fri_idl of the LBR stack'),
        ('franka', 'pylibfranka', 'pip install pylibfranka'),
    ],
)
def test_a_driver_that_is_not_installed_ends_all_with_the_reason(way, module, sentence, tmp_path):
    if importlib.util.find_spec(module) is not None:
        pytest.skip(f'{module} is installed')
    with launched(tmp_path, way, 'namespace:=cell') as launch:
        launch.wait(PATIENCE)
    assert sentence in said(tmp_path)


def test_settings_that_are_refused_end_all_with_the_reason(tmp_path):
    with launched(tmp_path, 'builtin_sim', 'robot:=two_link', 'payload:=dumbbell_9lb') as launch:
        launch.wait(PATIENCE)
    assert 'dumbbell_9lb' in said(tmp_path)
    assert 'dumbbell_8lb' in said(tmp_path)


def test_gazebo_is_given_the_urdf_that_was_exported(tmp_path, monkeypatch):
    stand_in(tmp_path, monkeypatch)
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text('<robot name="exported_arm"/>')
    with launched(tmp_path, 'gazebo_sim', f'description:={urdf}') as launch:
        wait_for_start(launch, tmp_path, 'robot_state_publisher', 'monitor_node')
    told = (tmp_path / 'robot_state_publisher.started').read_text()
    assert '--params-file' in told


def wait_for_start(launch, folder, program, last):
    """Launch loses a process that it is about to start when Ctrl-C comes."""
    deadline = time.monotonic() + PATIENCE
    while not (
        (folder / f'{program}.started').exists()
        and re.search(rf'{last}-\d+\]: process started', said(folder))
    ):
        assert launch.poll() is None and time.monotonic() < deadline, said(folder)
        time.sleep(0.05)


def stand_in(tmp_path, monkeypatch):
    """Programs that tell what they were started with."""
    for name in STAND_INS:
        (tmp_path / 'share/ament_index/resource_index/packages').mkdir(parents=True, exist_ok=True)
        (tmp_path / 'share/ament_index/resource_index/packages' / name).touch()
        program = tmp_path / 'lib' / name / name
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/{name}.started\nexec sleep 1000\n')
        program.chmod(0o755)
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{tmp_path}:{os.environ["AMENT_PREFIX_PATH"]}')


@pytest.mark.parametrize('file', ['view', 'show_robot'])
def test_an_arm_is_shown_by_the_programs_of_ros(file, tmp_path, monkeypatch):
    stand_in(tmp_path, monkeypatch)
    with launched(tmp_path, file, 'robot:=panda') as launch:
        wait_for_start(launch, tmp_path, 'rviz2', 'rviz2')
    assert 'Traceback' not in said(tmp_path)
    assert '--params-file' in (tmp_path / 'robot_state_publisher.started').read_text()


def test_arguments_are_shown():
    shown = subprocess.check_output(
        ['ros2', 'launch', 'safe_sysid', 'builtin_sim.launch.py', '--show-args'], text=True
    )
    assert "'payload':" in shown
