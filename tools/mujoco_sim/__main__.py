"""An arm in MuJoCo behind the topics of a driver under ros2_control; it imports nothing of ours.

    python tools/mujoco_sim robot=kinova_gen3 payload=dumbbell_5lb period=0.002 wraps=true

Its habits are those of `driver.py`; values are YAML. A stand-in for hardware and Gazebo: what the
loop believes of an arm cannot be wrong in the same way here. Time goes on as the clock does
(`pace=clock`), or, once the arm is commanded, by a tick for every answer to a state, at most as
fast as the clock (`pace=answer`). In both, time that cannot be kept is given up.

Where the publisher of commands has gone, the controller does what `end` says; with `seconds_after`
the process ends so much simulated time later, else it goes on. SIGUSR1 says that it has gone, for
who knows before DDS does.
"""

from contextlib import suppress
from dataclasses import dataclass, fields, replace
import json
from pathlib import Path
import signal
import sys
import time

from arm import Arm, facts_of
from driver import EFFORT, Driver, Habits
import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
import yaml

QUEUE = QoSProfile(depth=100)
TOPIC = f'/{EFFORT}/commands'
REPEATS = 6.0  # [s] without an answer after which the last command goes on
QUIET = 1.0  # [s] without an answer after which those to the states from before have come
BURST = 5  # ticks at once to catch up with the clock


@dataclass(frozen=True)
class RunSettings:
    """How it is run."""

    start: list = ()  # [rad]; none: all 0
    pace: str = 'clock'  # or answer
    log: str = ''  # JSON lines of what the arm really does
    seconds_after: float = 0.0  # [s] that are simulated after the last publisher went; 0: for ever
    switches: bool = False  # offer the service of the controller manager, if its messages are here


class Process:
    """Topics, service and pace."""

    def __init__(self, node, driver, settings):
        self._node, self._driver, self._settings = node, driver, settings
        self._log = Path(settings.log).open('w', buffering=1) if settings.log else None  # noqa: SIM115
        self._has_news = self._is_told = False
        signal.signal(signal.SIGUSR1, self._on_signal)
        self.behind = 0  # ticks that were given up
        self._clock = node.create_publisher(Clock, '/clock', QUEUE)
        self._states = node.create_publisher(JointState, '/joint_states', QUEUE)
        node.create_subscription(Float64MultiArray, TOPIC, self._on_command, QUEUE)
        if settings.switches:
            from controller_manager_msgs.srv import SwitchController

            name = '/controller_manager/switch_controller'
            node.create_service(SwitchController, name, self._on_switch)

    def run(self):
        """Until it is told to end, or nobody commands any more and that was asked for."""
        was_commanded, after = False, 0
        due = time.monotonic()
        period = self._driver.habits.period
        while rclpy.ok():
            self._tell()
            due = self._wait(due + period)
            self._driver.tick()
            self._say(q=self._driver.arm.q.tolist(), qd=self._driver.arm.qd.tolist())
            is_there = self._is_anybody_there
            if was_commanded and not is_there:
                if not after:
                    self._driver.leave()
                after += 1
                if after == round(self._settings.seconds_after / period):
                    break
            else:
                after = 0
            was_commanded = was_commanded or is_there
        self._say(over=True)

    @property
    def _is_anybody_there(self):
        """Whether somebody may command: not where it was told that they all have ended."""
        return not self._is_told and self._node.count_publishers(TOPIC) > 0

    def _on_signal(self, *_):
        self._is_told = True

    def _wait(self, due):
        """Until a deadline, and for an answer where one is expected."""
        began, was_commanded = time.monotonic(), self._driver.is_commanded
        while time.monotonic() < due or self._expects_answer(began):
            left = max(0.0, due - time.monotonic())
            rclpy.spin_once(self._node, timeout_sec=min(left, 0.002) if left else 0.0005)
        if self._waits_for_answers and not was_commanded:
            self._wait_for_old_answers()
        self._has_news = False
        period, late = self._driver.habits.period, time.monotonic() - due
        if late <= BURST * period:
            return due
        self.behind += int(late / period)
        return time.monotonic()

    def _wait_for_old_answers(self):
        """Until those to states from before the first command are there.

        Each would count as the answer to a newer state, and all commands be late for ever.
        """
        while self._has_news:
            self._has_news = False
            end = time.monotonic() + QUIET
            while not self._has_news and time.monotonic() < end:
                rclpy.spin_once(self._node, timeout_sec=0.002)

    @property
    def _waits_for_answers(self):
        return self._settings.pace == 'answer' and self._driver.is_commanded

    def _expects_answer(self, began):
        return (
            self._waits_for_answers
            and self._is_anybody_there
            and not self._has_news
            and time.monotonic() - began < REPEATS
        )

    def _tell(self):
        for kind, stamp in self._driver.words():
            clock = Clock()
            clock.clock.sec, clock.clock.nanosec = divmod(stamp, 10**9)
            if kind == 'clock':
                self._clock.publish(clock)
                continue
            names, position, velocity, effort = self._driver.state()
            msg = JointState(name=names, position=position, velocity=velocity, effort=effort)
            is_wall = self._driver.habits.clock == 'none'
            now = self._node.get_clock().now().to_msg()
            msg.header.stamp = now if is_wall else clock.clock
            self._states.publish(msg)

    def _on_command(self, msg):
        self._has_news = True
        self._driver.command(msg.data)

    def _on_switch(self, request, response):
        on, off = list(request.activate_controllers), list(request.deactivate_controllers)
        response.ok = self._driver.switch(on, off, request.strictness != request.BEST_EFFORT)
        self._say(switched=on, ok=response.ok)
        return response

    def _say(self, **what):
        if self._log is not None:
            t, active = self._driver.stamp * 1e-9, self._driver.active
            self._log.write(json.dumps({'t': t, 'active': active, **what}) + '\n')


def read(words):
    """Facts of the arm, habits and settings of the run from `name=value` words."""
    told = {}
    for word in words:
        name, mark, value = word.partition('=')
        if not mark:
            raise SystemExit(f'{word!r} is not NAME=VALUE\n\n{__doc__}')
        told[name] = yaml.safe_load(value)
    robot = told.pop('robot', None)
    if robot is None:
        raise SystemExit(f'robot=NAME is missing\n\n{__doc__}')
    payload, spread = told.pop('payload', ''), told.pop('spread', 0.0)
    facts = facts_of(robot, payload, spread, told.get('seed', 0))
    parts = []
    for kind in (Habits, RunSettings):
        names = [field.name for field in fields(kind)]
        parts.append(kind(**{name: told.pop(name) for name in names if name in told}))
    if told:
        raise SystemExit(f'{sorted(told)} are unknown')
    return facts, *parts


def main():
    """Until Ctrl-C, or the end that was asked for."""
    facts, habits, settings = read(sys.argv[1:])
    start = np.array(settings.start) if len(settings.start) else np.zeros(len(facts.joints))
    rclpy.init()
    bare = Arm(replace(facts, payload=''), start)
    driver = Driver(Arm(facts, start), facts.joints, habits, bare)
    process = Process(rclpy.create_node('mujoco_sim'), driver, settings)
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        process.run()
    if process.behind:
        print(f'mujoco_sim: {process.behind} ticks were given up, the machine is too slow')
    return 0


if __name__ == '__main__':
    sys.exit(main())
