"""A loop whose processes can be killed, stopped and doubled, and a wire that spoils its states."""

from contextlib import contextmanager
import json
from pathlib import Path
import subprocess
import sys
import time

import numpy as np
import rclpy
from ros.running_loop import LONG, Observer, changed_settings
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from safe_sysid.bringup.processes import Choices, processes_of, write_choices
from safe_sysid.bringup.run import command_line, ended
from safe_sysid.ros.messages.qos import EVERY_SAMPLE, EVERY_STATE, STATE
from safe_sysid.ros.watch.health import heard_from
from safe_sysid.worker import die_with_parent

NODES = (
    *('identifier', 'planner', 'controller', 'supervisor', 'builtin_sim_bridge', 'recorder'),
    'monitor',
)
CHANNEL = 'faulty_channel'
BY_WIRE = {  # what a node says or hears by another name, so that the wire is between
    'builtin_sim_bridge': ('joint_states:=measured', 'torque_command:=passed_torque'),
    'planner': ('plan:=told_plan', 'certified_estimate:=told_certified_estimate'),
    'identifier': ('parameter_estimate:=told_parameter_estimate',),
}
COMPILING = 300.0  # [s] on a machine that has compiled nothing yet
REST = 60  # states in a row
SWAYING = 0.1  # [rad/s] of an arm that stays, where a busy machine holds a torque for too long
STANDING = 5  # plans in a row, from which on an arm is in a corner
WHOLE_PLAN = 300  # states, as long as a plan lasts
START = [1.3, 0.3]  # [rad] nearly upright: without orders guard or brakes keep it from falling
# In real time, since faults are about time, but with room for a machine that is busy: 100 Hz,
# a guard that is patient, plans that are found long before they are due, and no word about
# errors of torques that are held for too long. A machine that is too slow for its arm is a fault,
# but not one of those that are tried here.
ROOMY = {
    'all__gains__V_M': 0.01,  # [J] room for torques that are held twice as long
    'builtin_sim_bridge__start': START,
    'all__period': 0.01,
    'builtin_sim_bridge__guard__max_age': 1.0,
    'builtin_sim_bridge__guard__longest_step': 0.03,
    'builtin_sim_bridge__guard__patience': 1.0,
    'controller__energy_share': 1e6,
    'controller__succession__late': 0.1,
    'controller__silence': 2.0,
    'identifier__identifier__observation__longest_step': 0.015,
    'planner__planner__duration': 3.0,
    'planner__planner__switch': 1.5,
    'planner__planner__search__rounds': 0,
    'planner__planner__intervals': 64,
    'planner__failures': 10,
    'planner__stop__reaction': 0.8,
    'planner__stop__handover': 0.4,
    'planner__mission__exciting': 10_000,
    'planner__mission__shrinking': 0.0,
    'supervisor__stale': 2.0,
    'supervisor__task_follows': False,
    'recorder__commit_interval': 0.1,
}

OF_TWO_LINKS = 'all__gains__V_M', 'builtin_sim_bridge__start'
ROOMY_ELSEWHERE = {
    **{name: value for name, value in ROOMY.items() if name not in OF_TWO_LINKS},
    'identifier__identifier__observation__window': 20,
}


class FaultyLoop(Observer):
    """Every process by its name, and what all of them said since the arm began to move."""

    def __init__(self, folder, robot, **changes):
        self.robot = robot
        self.said = []  # (node, sentence)
        self.measured = []  # what the arm reports, before anything is done to it
        self.disturbed = {}
        super().__init__()
        for subscription in list(self.subscriptions):  # nobody here needs these
            if subscription.topic_name in ('/joint_states', '/torque_command'):
                self.destroy_subscription(subscription)
        self.bag = folder / 'bag'
        roomy = {'two_link': ROOMY}.get(robot, ROOMY_ELSEWHERE)
        settings = changed_settings(folder, robot, **{**roomy, **changes})
        calm = ('supervisor:autostart:=false',)
        choices = Choices(config=str(settings), record=str(self.bag), extra=calm)
        processes = [p for p in processes_of('builtin_sim', choices) if p.node in NODES]
        chosen = write_choices(processes, folder / 'choices.yaml')
        self._lines = {p.node: command_line(p, chosen) for p in processes}
        for node, renamed in BY_WIRE.items():
            self._lines[node] += [word for name in renamed for word in ('-r', name)]
        self._lines[CHANNEL] = [sys.executable, str(Path(__file__).with_name(f'{CHANNEL}.py'))]
        self.processes = {}
        self._extra = []
        self._disturbances = self.create_publisher(String, 'disturbance', STATE)
        self.create_subscription(JointState, 'measured', self.measured.append, EVERY_SAMPLE)
        self.estimates = []  # the first and the newest one that were told
        self.create_subscription(
            Float64MultiArray, 'told_parameter_estimate', self._on_estimate, EVERY_STATE
        )
        self.create_subscription(String, 'disturbed', self._on_disturbed, STATE)

    def start(self, node):
        """A process of a node; the one before has to be gone."""
        self.processes[node] = self._process(node)

    def start_another(self, node):
        """A second process of a node, by mistake."""
        self._extra.append(self._process(node))

    def kill_extra(self):
        """Every second process."""
        while self._extra:
            extra = self._extra.pop()
            extra.kill()
            extra.wait()

    def _process(self, node):
        return subprocess.Popen(
            self._lines[node], start_new_session=True, preexec_fn=die_with_parent
        )

    def kill(self, node):
        """SIGKILL: the process has no say in it."""
        self.processes[node].kill()
        self.processes[node].wait()

    def end_all(self):
        """The recorder last, as with everything else it would miss something."""
        recorder = self.processes.pop('recorder')
        ended([*self.processes.values(), *self._extra])
        ended([recorder])

    def disturb(self, how):
        """Tell the wire what to do to states; '' is nothing."""
        self._disturbances.publish(String(data=how))
        self.wait(lambda: self.disturbed.get('disturbance') == how, f"the wire says '{how}'")

    def _on_estimate(self, msg):
        self.estimates[1:] = [msg]

    def _on_disturbed(self, msg):
        self.disturbed = json.loads(msg.data)

    def _on_health(self, msg):
        super()._on_health(msg)
        for status in msg.status:
            heard = heard_from(status)
            self.said.append((heard.name.removeprefix('/'), heard.trouble))

    def wait_to_hear(self, node, words):
        """Until a node has said something since the arm began to move."""
        self.wait(
            lambda: any(who == node and words in sentence for who, sentence in self.said),
            f"{node} says '{words}'",
        )

    def figure(self, node, key):
        """What a node said last about a figure of its own."""
        heard = self.conditions.get(node)
        return None if heard is None else heard.figures.get(key)

    @property
    def place(self):
        """Where the arm is [rad], as its driver says."""
        return np.array(self.measured[-1].position)

    @property
    def now(self):
        """Time of the arm [s]."""
        return seconds(self.measured[-1].header.stamp)

    def is_moving(self):
        """Whether a plan is followed that goes somewhere, and the arm does."""
        if self.mode != 'exciting' or not self.measured:
            return False
        return bool(np.abs(self.measured[-1].velocity).max() > 0.05)

    def is_at_rest(self):
        """Whether the driver has reported no motion for a while."""
        lately = self.measured[-REST:]
        return len(lately) == REST and all(np.abs(s.velocity).max() < 0.02 for s in lately)

    def rests_at_the_end_of_its_plan(self):
        """Whether it does now; a slow planner may find the next plan later."""
        return self.is_plan_over() and self.is_at_rest()

    def expect_rest_at_the_end_of_its_plan(self):
        """No plan follows the one in force, and the arm ends up where that ends."""
        self.wait(self.rests_at_the_end_of_its_plan, 'the arm rests at the end of its plan')
        end = np.array(self.followed.points[-1].positions)
        assert np.abs(self.place - end).max() < 0.05
        self._expect_to_stay()

    @property
    def followed(self):
        """The plan that was followed last."""
        return [plan for plan in self.plans if plan.points][-1]

    def is_plan_over(self):
        """Whether the arm has had the time to follow all of its plan."""
        duration = seconds(self.followed.points[-1].time_from_start)
        end = seconds(self.followed.header.stamp) + duration
        return seconds(self.measured[-1].header.stamp) > end

    def move(self):
        """From whatever was before to an arm in motion, and everybody there."""
        for node, process in self.processes.items():
            if process.poll() is not None:
                self.start(node)
        if not self.is_moving():
            self.come_back()
        self.said.clear()
        self.modes[:] = self.modes[-1:]

    def come_back(self):
        """Do what an operator does after a fault, or when nothing is left to learn; its names."""
        ways = {'fault': 'reset_fault', 'identified': 'new_payload', 'holding': 'start'}
        deadline, done, is_cornered = time.monotonic() + LONG, [], False
        while not self.is_moving():
            assert time.monotonic() < deadline, f'the arm moves; {self.modes}, {self.conditions}'
            standing = int(self.figure('planner', 'plans in a row that stand still') or 0)
            if self.figure('supervisor', 'cause') == 'NO_PLAN' or standing > STANDING:
                is_cornered = True  # what is done about that is no way back
                self.move_out_of_a_corner()
            asked = {**ways, 'idle': 'start'}.get(self.mode)
            if asked and self.call(f'supervisor/{asked}').success and not is_cornered:
                done.append(asked)
            self.spin_for(10)
        return done

    def move_out_of_a_corner(self):
        """Where narrow bounds led the arm, wide ones may not let it stay: begin at START again.

        A fault is over only once the supervisor has seen that arm, however long this takes.
        """
        self.kill('builtin_sim_bridge')
        self.start('builtin_sim_bridge')
        pid = str(self.processes['builtin_sim_bridge'].pid)
        self.wait(lambda: self.figure('builtin_sim_bridge', 'pid') == pid, 'another arm')
        is_over = lambda: self.mode != 'fault' or self.call('supervisor/reset_fault').success  # noqa: E731
        self.wait(is_over, 'the fault is over')

    def spin_for(self, states):
        """Listen until the arm has reported some more states."""
        count = len(self.measured)
        self.wait(lambda: len(self.measured) > count + states, 'the arm reports its state')

    def expect_fault(self, cause, words):
        """The supervisor names the cause among those of the fault, in words of whoever saw it."""
        self.wait(lambda: self.mode == 'fault', f'fault {cause}')
        self.wait_to_hear('supervisor', words)
        self.wait(lambda: cause in self.causes, f'the cause {cause}')

    @property
    def causes(self):
        """Names of all causes of the fault that there is."""
        return (self.figure('supervisor', 'causes') or '').split(', ')

    def expect_rest(self):
        """The arm follows its plan to the end at most, is at rest then, and stays there.

        Within its plan it may stand for a while and move on.
        """
        count = len(self.measured)
        self.wait(
            lambda: self.is_plan_over() or len(self.measured) > count + WHOLE_PLAN,
            'the plan in force is over',
        )
        self.wait(self.is_at_rest, 'the arm is at rest')
        self._expect_to_stay()

    def _expect_to_stay(self):
        """In a fault, or else until another plan takes over, as a late planner may find one."""
        place, states, plans = self.place, len(self.measured), len(self.plans)
        is_in_fault = self.mode == 'fault'
        self.spin_for(REST)
        later = [seconds(plan.header.stamp) for plan in self.plans[plans:] if plan.points]
        until = np.inf if is_in_fault else min(later, default=np.inf)
        for state in self.measured[states:]:
            if seconds(state.header.stamp) < until:
                assert np.abs(state.position - place).max() < 0.02
                assert np.abs(state.velocity).max() < SWAYING, (state.velocity, self.mode, later)


def seconds(time):
    """Of a stamp or duration."""
    return time.sec + time.nanosec * 1e-9


def recorded(folder, topic):
    """Messages of a topic in a bag, in their order."""
    with Reader(folder) as reader:
        store = get_typestore(Stores.EMPTY)
        connections = [conn for conn in reader.connections if conn.topic == topic]
        if not connections:  # which would be taken for all of them
            return []
        for conn in connections:
            store.register(get_types_from_msg(conn.msgdef.data, conn.msgtype))
        found = reader.messages(connections=connections)
        return [store.deserialize_cdr(data, conn.msgtype) for conn, _, data in found]


@contextmanager
def faulty_loop(folder, robot='two_link', **changes):
    """A loop that has learned to move; all its processes end with it."""
    rclpy.init()
    loop = FaultyLoop(folder, robot, **changes)
    try:
        for node in (*NODES, CHANNEL):
            loop.start(node)
        loop.wait(lambda: loop.mode == 'idle', 'idle at first')
        is_warm = 'the planner is warm'
        loop.wait(lambda: loop.figure('planner', 'is warm') == 'True', is_warm, COMPILING)
        yield loop
    finally:
        loop.end_all()
        loop.destroy_node()
        rclpy.try_shutdown()
