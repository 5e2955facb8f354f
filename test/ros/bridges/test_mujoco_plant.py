"""The arm of `tools/mujoco_sim`: nothing of ours in it, and each habit is what it says."""

import ast
from dataclasses import replace
import importlib.util
from pathlib import Path
import subprocess
import sys
import time
from unittest.mock import Mock

import numpy as np
import pytest
from std_msgs.msg import Float64MultiArray

from safe_sysid.model.dynamics.inverse_dynamics import inverse_dynamics
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.rigid_body import RigidBody

pytest.importorskip('mujoco', reason='MuJoCo is an extra')

FOLDER = Path(__file__).parents[3] / 'tools' / 'mujoco_sim'
ROBOT, PAYLOAD = 'kinova_gen3', 'dumbbell_8lb'
START = [0.0, 0.3, 0.0, 1.2, 0.0, 0.9, 0.0]  # [rad]
PERIOD = 0.001  # [s]


def loaded(name):
    spec = importlib.util.spec_from_file_location(f'mujoco_sim_{name}', FOLDER / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


arms, drivers = loaded('arm'), loaded('driver')
FACTS = arms.facts_of(ROBOT, PAYLOAD)


def driver(start=START, **habits):
    said = drivers.Habits(**habits)
    bare = arms.Arm(replace(FACTS, payload=''), start)
    return drivers.Driver(arms.Arm(FACTS, start), FACTS.joints, said, bare)


def reported(plant, what):
    """Values of the joints of the arm in our order."""
    names, *columns = plant.state()
    column = columns[('position', 'velocity', 'effort').index(what)]
    return np.array([column[names.index(name)] for name in FACTS.joints])


def after(plant, command, ticks):
    """The same plant, some ticks later under one command."""
    plant.command(command)
    for _ in range(ticks):
        plant.tick()
    return plant


def test_it_imports_nothing_of_the_package():
    program = (
        f'import sys; sys.path.insert(0, {str(FOLDER)!r})\n'
        'import arm, driver, runpy\n'
        f'runpy.run_path({str(FOLDER / "__main__.py")!r}, run_name="read only")\n'
        'print([name for name in sys.modules if name.startswith("safe_sysid")])'
    )
    run = subprocess.run(
        [sys.executable, '-c', program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == '[]'
    names = {
        name
        for path in FOLDER.glob('*.py')
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
        for name in [
            getattr(node, 'module', None),
            *(a.name for a in getattr(node, 'names', []) if isinstance(a, ast.alias)),
        ]
        if name
    }
    assert not [name for name in names if name.startswith('safe_sysid')]


def test_the_arm_of_the_urdf_is_ours():
    model = RobotModel.named(ROBOT).with_payload(read_payload(PAYLOAD))
    plant = arms.Arm(FACTS, START)
    still = np.zeros((1, 7))
    (gravity,) = inverse_dynamics(model, np.array([START]), still, still)
    np.testing.assert_allclose(plant.gravity(), gravity, rtol=0.0, atol=1e-9)
    body, q, qd = RigidBody(model), np.array(START), np.zeros(7)
    for k in range(300):
        torque = gravity + 5.0 * np.cos(0.05 * k + np.arange(7))
        plant.move(torque, PERIOD)
        q, qd = body.advance(q, qd, torque, PERIOD)
    assert np.abs(q - START).max() > 1e-3
    np.testing.assert_allclose(plant.q, q, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(plant.qd, qd, rtol=0.0, atol=1e-10)


def test_names_come_in_another_order_with_joints_that_have_no_effort():
    names, position, _, effort = driver().state()
    assert sorted(names) == sorted([*FACTS.joints, 'left_finger_joint', 'right_finger_joint'])
    assert names[:7] != FACTS.joints
    assert {name for name, value in zip(names, effort, strict=True) if np.isnan(value)} == {
        'left_finger_joint',
        'right_finger_joint',
    }
    np.testing.assert_array_equal(reported(driver(), 'position'), START)
    assert len(position) == 9
    assert sorted(driver(gripper=False).state()[0]) == sorted(FACTS.joints)


def test_before_a_command_the_arm_is_held_and_afterwards_the_last_one_goes_on_for_ever():
    plant = driver()
    for _ in range(50):
        plant.tick()
    np.testing.assert_array_equal(plant.arm.q, START)
    after(plant, plant.arm.gravity() + 10.0, 1)
    plant.leave()
    for _ in range(200):
        plant.tick()
    assert (plant.arm.q - START).min() > 1e-4


@pytest.mark.parametrize(('end', 'moves'), [('zero', True), ('holds', False)])
def test_what_is_left_of_the_last_command(end, moves):
    plant = after(driver(end=end), driver().arm.gravity() + 10.0, 5)
    plant.leave()
    plant.tick()
    there = plant.arm.q
    for _ in range(50):
        plant.tick()
    assert (np.abs(plant.arm.q - there).max() > 1e-4) == moves
    expected = np.zeros(7) if moves else plant.arm.gravity()
    np.testing.assert_allclose(reported(plant, 'effort'), expected, atol=1e-9)


def test_a_position_controller_holds_the_arm_and_commands_pass_it_by():
    plant = after(driver(), driver().arm.gravity() + 10.0, 20)
    effort, hold = drivers.EFFORT, drivers.HOLD
    assert not plant.switch(['nobody'], [effort], True)
    assert not plant.switch([hold], [], True)
    assert plant.switch([hold], [effort], True)
    there = plant.arm.q
    after(plant, np.full(7, 30.0), 50)
    np.testing.assert_array_equal(plant.arm.q, there)
    assert plant.switch([effort], [hold], True)
    plant.tick()
    np.testing.assert_array_equal(plant.arm.q, there)  # until the next command


@pytest.mark.parametrize('delay', [0, 3])
def test_a_command_acts_so_many_ticks_later(delay):
    plant = driver(delay=delay)
    plant.command(plant.arm.gravity() + 10.0)
    for _ in range(delay):
        plant.tick()
        assert not plant.arm.qd.any()
    plant.tick()
    assert plant.arm.qd.all()


def test_efforts_are_ignored_turned_round_clipped_and_limited_in_rate():
    command = driver().arm.gravity() + 4.0
    ignoring = after(driver(ignores=True), command, 20)
    np.testing.assert_array_equal(ignoring.arm.q, START)
    np.testing.assert_array_equal(reported(after(driver(sign=-1), command, 1), 'effort'), -command)
    assert np.abs(reported(after(driver(limit=2.0), command, 1), 'effort')).max() == 2.0
    limited = after(driver(rate=1000.0), command + 6.0, 1)
    np.testing.assert_allclose(
        reported(limited, 'effort'), driver().arm.gravity() + 1.0, rtol=0.0, atol=1e-9
    )


def test_a_command_with_nan_is_dropped_or_reaches_the_arm():
    good, bad = driver().arm.gravity(), np.full(7, np.nan)
    jazzy = after(after(driver(), good, 1), bad, 5)
    np.testing.assert_array_equal(reported(jazzy, 'effort'), good)
    humble = after(after(driver(passes_nan=True), good, 1), bad, 1)
    assert np.isnan(humble.arm.q).any()
    short = after(after(driver(passes_nan=True), good, 1), good[:6], 1)
    np.testing.assert_array_equal(reported(short, 'effort'), good)


def test_what_is_reported_as_effort():
    command = driver().arm.gravity() + 2.0
    waits = driver(waits_with_effort=True)
    assert np.isnan(reported(waits, 'effort')).all()
    assert np.isfinite(reported(after(waits, command, 1), 'effort')).all()
    echo = after(driver(effort='command', limit=1.0), command, 1)
    np.testing.assert_array_equal(reported(echo, 'effort'), command)
    wrong = reported(after(driver(gain=0.01, noise=0.2), command, 1), 'effort') - 1.01 * command
    assert 0.0 < np.abs(wrong).max() <= 0.2


def test_a_driver_that_adds_gravity_knows_that_of_the_bare_arm_and_may_report_currents():
    bare = arms.Arm(replace(FACTS, payload=''), START).gravity()
    plant = after(driver(adds_gravity=True, current=0.1), np.full(7, 2.0), 1)
    np.testing.assert_allclose(reported(plant, 'effort'), 0.1 * (bare + 2.0), rtol=0.0, atol=1e-9)
    assert np.abs(plant.arm.gravity() - bare).max() > 1.0


def test_positions_have_steps_and_turn_over():
    step = 3.5e-4
    coarse = after(driver(encoder=step), driver().arm.gravity() + 10.0, 100)
    position = reported(coarse, 'position')
    np.testing.assert_allclose(np.round(position / step) * step, position, rtol=0.0, atol=1e-12)
    assert 0.0 < np.abs(position - coarse.arm.q).max() <= 0.5 * step + 1e-12
    turned = driver(start=[3.5, -3.5, *START[2:]], wraps=True)
    np.testing.assert_allclose(
        reported(turned, 'position')[:2], [3.5 - 2.0 * np.pi, 2.0 * np.pi - 3.5], atol=1e-12
    )
    rough = after(driver(encoder=step, differentiated=True), driver().arm.gravity() + 10.0, 100)
    speed = reported(rough, 'velocity') * PERIOD / step
    np.testing.assert_allclose(np.round(speed), speed, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(
    ('clock', 'kinds', 'behind'),
    [
        ('none', ['state'], []),
        ('before', ['clock', 'state'], [0]),
        ('after', ['state', 'clock'], [0]),
        ('late', ['clock', 'state'], [1]),
        ('tenth', ['state'], []),
    ],
)
def test_when_the_clock_is_told(clock, kinds, behind):
    plant = driver(clock=clock)
    plant.tick()
    words = plant.words()
    assert [kind for kind, _ in words] == kinds
    late = [(plant.stamp - stamp) / 1e6 for kind, stamp in words if kind == 'clock']
    assert late == behind
    for _ in range(9):
        plant.tick()
    assert clock != 'tenth' or [kind for kind, _ in plant.words()] == ['clock', 'state']


def test_habits_that_do_not_exist_are_refused():
    with pytest.raises(SystemExit, match=r"clock is 'never'; allowed are"):
        driver(clock='never')


class Late:
    """A bridge that answers the states from before the first command one after the other."""

    def __init__(self, process, answers):
        self._process, self.left = process, answers

    def spin_once(self, node, timeout_sec):
        """Let one answer come, if one is left; all take longer than a tick."""
        del node, timeout_sec
        time.sleep(0.002)
        if self.left:
            self.left -= 1
            self._process._on_command(Float64MultiArray(data=[0.0] * len(START)))


def test_answers_to_states_from_before_the_first_command_answer_no_later_one(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))  # `arm` and `driver` are its own
    for name in ('arm', 'driver'):
        monkeypatch.setitem(sys.modules, name, loaded(name))
    mains = loaded('__main__')
    node = Mock()
    node.count_publishers.return_value = 1
    plant = driver()
    process = mains.Process(node, plant, mains.RunSettings(pace='answer'))
    late = Late(process, 15)
    monkeypatch.setattr(mains.rclpy, 'spin_once', late.spin_once)
    process._wait(time.monotonic() + 0.01)
    assert plant.is_commanded
    assert late.left == 0
    assert process._expects_answer(time.monotonic())
