"""A loop in front of a driver that is not ours, in motion; and what its arm does at the end."""

from contextlib import contextmanager, suppress
import json
import os
from pathlib import Path
import signal
import subprocess
import sys

import numpy as np
import rclpy
from ros.effort_driver import HOLD
from ros.faulty_loop import ROOMY, START, seconds
from ros.generated_messages import importable
from ros.running_loop import Observer, changed_settings
import yaml

from safe_sysid.share import share_directory
from safe_sysid.worker import die_with_parent

PERIOD = 0.01  # [s]
BRIDGE = 'ros2_control_bridge'
NAMESPACE = 'safe_sysid'  # of the loop
AFTER = 3.0  # [s] of simulated time that is looked at after the last command
MUJOCO = Path(__file__).parents[2] / 'tools' / 'mujoco_sim'
LATE = 0.1  # [s] after the end of a plan by which the arm is at rest
STILL = 0.02  # [rad/s]
NEAR = 0.05  # [rad] of where the plan ends
PATIENCE = 300.0  # [s] for everything to happen; simulated time waits for a busy machine
SETTINGS = {
    f'{BRIDGE}__hold_controller': HOLD,
    **{name: value for name, value in ROOMY.items() if not name.startswith('builtin_sim')},
    # time stands still until a sample is answered: what is not, is not for want of a processor;
    # but until the first command it goes on as the clock does, whatever the bridge gets
    f'{BRIDGE}__patience': 500.0,
    'supervisor__stale': 30.0,
    f'{BRIDGE}__guard__max_age': 2.0,
    f'{BRIDGE}__guard__longest_step': 0.03,
    f'{BRIDGE}__guard__patience': 1.0,
    'identifier__identifier__observation__torque_signal': 'held_until',
    'identifier__identifier__observation__torque_error': [1.0],  # not what is looked at here
    'supervisor__autostart': True,
}
# each sample that nobody answers takes seconds, so the guard has to act after a few of them
SOON = {f'{BRIDGE}__guard__max_age': 0.1}


class EndingLoop:
    """`safe-sysid run`, an arm that it moves, and a log of that arm by somebody else."""

    def __init__(self, folder, run, driver, observer):
        self._log, self.process, self._observer = folder / 'driver.jsonl', run, observer
        self._driver = driver

    def begin(self):
        """Once its first mode was heard, whoever came late; for a run that does not by itself."""
        self.wait_for_mode('idle', PATIENCE)
        self.ask('start')

    def ask(self, what):
        """Ask the supervisor until it does it; nodes that were started again come late."""
        is_done = lambda: self._observer.call(f'supervisor/{what}').success  # noqa: E731
        self._observer.wait(is_done, what, PATIENCE)

    def wait_for_motion(self, moment):
        """Until a plan that goes somewhere is as old as said [s]."""
        self._observer.wait(
            lambda: self._age() >= moment, f'a plan is followed for {moment} s', PATIENCE
        )

    def wait_after_controller(self, name, moment):
        """States of the arm from when a controller got it, until so much later [s]."""

        def since():
            active = [line['active'] for line in self.states]
            return self.states[active.index(name) :] if name in active else []

        is_later = lambda: since() and since()[-1]['t'] - since()[0]['t'] >= moment  # noqa: E731
        self._observer.wait(is_later, f'{name} holds the arm', PATIENCE)
        return since()

    def wait_to_switch(self, name):
        """Until a controller has got the arm."""
        has_it = lambda: self.states[-1]['active'] == name  # noqa: E731
        self._observer.wait(has_it, f'{name} gets the arm', PATIENCE)

    def wait_for_mode(self, mode, seconds):
        """Until the run is in a mode."""
        self._observer.wait(lambda: self._observer.mode == mode, mode, seconds)

    @property
    def modes(self):
        """Modes of the run in their order."""
        return list(self._observer.modes)

    def _age(self):
        plans = self._observer.plans
        if not self._observer.samples or not plans or not plans[-1].points:
            return -1.0
        plan, now = plans[-1], seconds(self._observer.samples[-1].header.stamp)
        way = np.subtract(plan.points[-1].positions, plan.points[0].positions)
        return now - seconds(plan.header.stamp) if np.abs(way).max() > 0.02 else -1.0

    def wait_to_read(self, words, times):
        """Until the processes have said something so many times."""
        said = self._log.with_name('said')
        self._observer.wait(lambda: said.read_text().count(words) >= times, words, PATIENCE)

    def pids(self):
        """Process ids of all nodes of the run."""
        return pids_of(self.process.pid)

    def expect_none_of(self, pids):
        """These processes leave, all of them."""
        left = lambda: any(Path(f'/proc/{pid}').exists() for pid in pids)  # noqa: E731
        self._observer.wait(lambda: not left(), 'no process is left', PATIENCE)

    def pid(self, node):
        """Process id of a node of the run."""
        for child in self.pids():
            if f'.{node}' in Path(f'/proc/{child}/cmdline').read_text():
                return child
        raise AssertionError(f'{node} does not run')

    def signal(self, number=signal.SIGINT):
        """Ask the run to end."""
        self.process.send_signal(number)

    def expect_rest(self):
        """The arm is at rest by the end of the plan in force, and stays where that ends.

        A bridge without a supervisor brakes on the plan that it knows, while the controller may
        still say that it follows the next one.
        """
        self._observer.wait(lambda: self.process.poll() is not None, 'the run ends', PATIENCE)
        if str(MUJOCO) in self._driver.args:  # DDS may notice late that nobody is left
            self._driver.send_signal(signal.SIGUSR1)
        self._observer.wait(lambda: 'over' in self.log[-1], 'the driver ends', PATIENCE)
        plans = [plan for plan in self._observer.plans if plan.points][-2:]
        found = [self._rest_after(plan, self.states) for plan in plans]
        assert any(fast < STILL and far < NEAR for fast, far in found), (
            f'[rad/s], and [rad] from the end of the last plans: {found}'
        )

    def _rest_after(self, plan, states):
        """Fastest joint, and the furthest from where a plan ends, of all states after its end."""
        end = seconds(plan.header.stamp) + seconds(plan.points[-1].time_from_start)
        after = [line for line in states if line['t'] > end + LATE]
        if not after:
            return np.inf, np.inf
        away = [np.subtract(line['q'], plan.points[-1].positions) for line in after]
        return max(np.abs(line['qd']).max() for line in after), np.abs(away).max()

    @property
    def states(self):
        """Lines of the driver's log with a state of the arm."""
        return [line for line in self.log if 'q' in line]

    @property
    def log(self):
        """Lines of the driver's log."""
        return [json.loads(line) for line in self._log.read_text().splitlines() if line[-1] == '}']


def pids_of(run):
    """Process ids of the children of a process, if it is there."""
    path = Path(f'/proc/{run}/task/{run}/children')
    return list(map(int, path.read_text().split())) if path.exists() else []


@contextmanager
def ending_loop(folder, *options, driver=None, **changes):
    """A run with an arm that begins to move; none said is the one of Pinocchio."""
    with importable('controller_manager_msgs'):
        yield from _ending_loop(folder, options, driver or of_pinocchio(folder), changes)


def _ending_loop(folder, options, driver, changes):
    settings = changed_settings(folder, 'two_link', **{**SETTINGS, **changes})
    line = [sys.executable, '-m', 'safe_sysid.cli.main', 'run', 'gazebo_sim']
    line += ['--robot', 'two_link', '--config', str(settings), *options]
    rclpy.init(args=['--ros-args', '-r', f'__ns:=/{NAMESPACE}'])
    observer = Observer()
    started = [subprocess.Popen(driver, preexec_fn=die_with_parent)]
    try:
        run = subprocess.Popen(
            line,
            stdout=(folder / 'said').open('w'),
            stderr=subprocess.STDOUT,
            preexec_fn=die_with_parent,
        )
        started.append(run)
        yield EndingLoop(folder, run, started[0], observer)
    except AssertionError as error:
        error.add_note((folder / 'said').read_text())  # the reason of what was not expected
        raise
    finally:
        nodes = pids_of(started[-1].pid) if len(started) > 1 else []
        for process in started:
            process.kill()
            process.wait()
        for pid in nodes:  # a bridge holds on, as it has no driver that could take the arm over
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        observer.close()
        rclpy.try_shutdown()


def of_pinocchio(folder):
    """Command line of the plain driver."""
    return [sys.executable, str(Path(__file__).with_name('effort_driver.py')), plant(folder)]


def of_mujoco(folder, **habits):
    """Command line of the driver with habits, which knows nothing of ours."""
    said = {
        'robot': 'two_link',
        'start': START,
        'period': PERIOD,
        'pace': 'answer',
        'seconds_after': AFTER,
        'switches': True,
        'log': str(folder / 'driver.jsonl'),
        **habits,
    }
    words = [f'{name}={json.dumps(value)}' for name, value in said.items()]
    return [sys.executable, str(MUJOCO), *words]


def plant(folder):
    """Arguments of the driver: the arm as its files say."""
    share = share_directory()
    facts = yaml.safe_load((share / 'config' / 'robots' / 'two_link.yaml').read_text())
    joints = facts['joints']
    figures = {
        key: [joint[key] for joint in joints.values()]
        for key in ('armature', 'viscous', 'coulomb')
    }
    return json.dumps(
        {
            'urdf': str(share / 'urdf' / facts['urdf']),
            'joints': list(joints),
            **figures,
            'start': START,
            'period': PERIOD,
            'switches': True,
            'log': str(folder / 'driver.jsonl'),
        }
    )
