"""What may go wrong, what the arm does then, what is said, and the way back: one cell each."""

from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
import os
import resource
import signal
import subprocess
import sys
from threading import Event, Thread

from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.messages.codec import SECOND, TorqueWriter, stamp_of, time_of
from safe_sysid.ros.messages.qos import PLANS, SAMPLES, STATE
from safe_sysid.track.guarded_torque import Command

GOES_ON, ENDS, BRAKES = 'goes on', 'rests at the end of its plan', 'brakes'
DRIVER = 'does what its driver does without commands'
BY_ITSELF, RESET = 'by itself', 'reset, start'
ANY = (GOES_ON, ENDS, BRAKES)
BESIDE = (BRAKES, ENDS)  # it may rest beside its plan by less than is a fault in these tests
UNFOLLOWED = (ENDS, BRAKES)  # no plan follows; one that is looked for in vain is a fault
NO_PLAN = ('NO_PLAN',)
CYCLE, STOPPED = 0.1, 0.07  # [s] of a process that gets 30 % of a processor
SPINNING = 'while True: pass'
BUSY = 4  # processes that never wait
PERIOD = 0.01  # [s] of somebody else's messages
HALF = 0.5  # of the limit of a torque


@dataclass(frozen=True)
class Cell:
    """A fault and all that is promised about it."""

    fault: str
    occurs: Callable[..., AbstractContextManager]  # of a loop; it is over where that ends
    arm: str | tuple[str, ...]  # where there are several, how fast the machine is decides
    says: tuple[str, str] = ('', '')  # a node, and words of it
    causes: tuple[str, ...] = ()  # of the fault of the loop, one of them, where there is one
    back: str = BY_ITSELF
    nightly: bool = False


@contextmanager
def killed(node, loop):
    """By SIGKILL; started again in the end."""
    loop.kill(node)
    yield
    loop.start(node)


@contextmanager
def stopped(node, loop):
    """It is there, and gets no processor."""
    process = loop.processes[node]
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


@contextmanager
def slow(node, loop):
    """It gets a processor for 30 ms in every 100."""
    process, over = loop.processes[node], Event()

    def hold_up():
        while not over.wait(CYCLE - STOPPED):
            process.send_signal(signal.SIGSTOP)
            over.wait(STOPPED)
            process.send_signal(signal.SIGCONT)

    thread = Thread(target=hold_up)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def doubled(node, loop):
    """Somebody starts a second process of it."""
    loop.start_another(node)
    try:
        yield
    finally:
        loop.kill_extra()


@contextmanager
def spoilt(how, loop):
    """The wire between driver and loop does something to what goes through it."""
    loop.disturb(how)
    try:
        yield
    finally:
        loop.disturb('')


@contextmanager
def _from_somebody(loop, publisher, message):
    is_here = True

    def publish():
        if is_here:  # a timer that was due is served after it was destroyed
            publisher.publish(message())

    timer = loop.create_timer(PERIOD, publish)
    try:
        yield
    finally:
        is_here = False
        loop.destroy_timer(timer)
        loop.destroy_publisher(publisher)


def foreign_states(loop):
    """Another driver publishes states of its own."""
    names = list(loop.measured[-1].name)
    state = JointState(name=names, position=[0.0] * len(names), velocity=[0.0] * len(names))
    state.effort, state.header.frame_id = [5.0] * len(names), 'somebody'

    def message():
        state.header.stamp = loop.get_clock().now().to_msg()
        return state

    return _from_somebody(
        loop, loop.create_publisher(JointState, 'joint_states', SAMPLES), message
    )


def foreign_torques(loop):
    """Somebody answers the newest sample with torques of his own, within the limits of the arm."""
    model = RobotModel.named(loop.robot)
    writer = TorqueWriter(model.layout.joint_names)
    torque = HALF * model.limits.torque

    def message():
        return writer.message(Command(torque, stamp_of(loop.measured[-1].header.stamp)))

    publisher = loop.create_publisher(Float64MultiArray, 'passed_torque', SAMPLES)
    return _from_somebody(loop, publisher, message)


def malformed_torques(loop):
    """Somebody publishes torques that are for no arm of this loop."""
    publisher = loop.create_publisher(Float64MultiArray, 'passed_torque', SAMPLES)
    return _from_somebody(loop, publisher, lambda: Float64MultiArray(data=[0.0, 0.0, 50.0]))


def foreign_plans(loop):
    """Somebody tells plans that are certified for an estimate that nobody knows."""

    def message():
        msg = deepcopy(loop.followed)
        begin = stamp_of(loop.measured[-1].header.stamp) + SECOND
        msg.header.frame_id, msg.header.stamp = 'an estimate of somebody', time_of(begin)
        return msg

    return _from_somebody(loop, loop.create_publisher(JointTrajectory, 'plan', PLANS), message)


def repeated_estimate(loop):
    """Somebody tells the first estimate again, which is true, and wider than what was learnt."""
    publisher = loop.create_publisher(Float64MultiArray, 'parameter_estimate', STATE)
    return _from_somebody(loop, publisher, lambda: loop.estimates[0])


@contextmanager
def disk_full(loop):
    """The recorder cannot write any more; a limit of its process stands for the disk."""
    pid = loop.processes['recorder'].pid
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


@contextmanager
def busy_machine(loop):
    """Others have work for every processor."""
    del loop
    spinning = [subprocess.Popen([sys.executable, '-c', SPINNING]) for _ in range(BUSY)]
    try:
        yield
    finally:
        for process in spinning:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()


def of_node(node, how, *rest, **more):
    """Cell of something that happens to a process."""
    return Cell(f'{node} {how.__name__}', partial(how, node), *rest, **more)


def of_wire(fault, how, *rest, **more):
    """Cell of something that happens to messages between driver and loop."""
    return Cell(fault, partial(spoilt, how), *rest, **more)


BRIDGE = 'builtin_sim_bridge'
SILENT = 'not heard any more: '
NOT_FOLLOWED = 'plans in a row were not followed'
JUMPED = ('COMMAND_REFUSED', 'CONTRADICTION')
BEYOND = ('TRACKING', 'COMMAND_REFUSED')  # of the promised error, or of the limit of a torque
OLD = ('COMMAND_REFUSED', 'STALE_MEASUREMENT')
LATE = (*OLD, *BEYOND, 'NO_PLAN')  # what a machine that is too slow for its arm may end in
IF_ANY = {'causes': LATE}
NIGHTLY = {'nightly': True}
CELLS = (
    of_node('identifier', killed, GOES_ON, ('supervisor', SILENT + 'identifier')),
    of_node('identifier', stopped, GOES_ON, ('supervisor', SILENT + 'identifier'), **NIGHTLY),
    of_node('identifier', slow, ANY, **IF_ANY, **NIGHTLY),
    of_node('planner', killed, ENDS, ('supervisor', SILENT + 'planner')),
    of_node('planner', stopped, ENDS, ('supervisor', SILENT + 'planner')),
    of_node('planner', slow, ANY, **IF_ANY, **NIGHTLY),
    of_node(
        'controller',
        killed,
        BRAKES,
        (BRIDGE, 'answers a measurement'),
        ('COMMAND_REFUSED',),
        RESET,
    ),
    of_node(
        'controller',
        stopped,
        BRAKES,
        (BRIDGE, 'answers a measurement'),
        ('COMMAND_REFUSED',),
        RESET,
        **NIGHTLY,
    ),
    of_node('controller', slow, ANY, **IF_ANY, **NIGHTLY),
    of_node(
        'controller',
        doubled,
        BRAKES,
        ('supervisor', 'controller runs more than once'),
        ('SECOND_PUBLISHER',),
        RESET,
    ),
    of_node('supervisor', killed, ENDS, back=RESET),
    of_node('supervisor', stopped, ENDS, back=BY_ITSELF, **NIGHTLY),
    of_node('supervisor', slow, ANY, **IF_ANY, **NIGHTLY),
    of_node(
        BRIDGE,
        killed,
        DRIVER,
        ('supervisor', 'measurements are late or have stopped'),
        ('STALE_MEASUREMENT',),
        RESET,
    ),
    of_node(
        BRIDGE,
        stopped,
        DRIVER,
        ('supervisor', 'measurements are late or have stopped'),
        ('STALE_MEASUREMENT',),
        RESET,
        **NIGHTLY,
    ),
    of_node(BRIDGE, slow, ANY, **IF_ANY, **NIGHTLY),
    of_node('recorder', killed, GOES_ON, ('supervisor', SILENT + 'recorder'), **NIGHTLY),
    of_node('recorder', stopped, GOES_ON, ('supervisor', SILENT + 'recorder'), **NIGHTLY),
    of_node('recorder', slow, GOES_ON, **NIGHTLY),
    of_node('monitor', killed, GOES_ON, **NIGHTLY),
    of_node('monitor', stopped, GOES_ON, **NIGHTLY),
    of_wire('states lost, twice and overtaken, 5 % each', 'lossy', GOES_ON),
    of_wire(
        'no state comes any more',
        'state silent',
        BRAKES,
        ('supervisor', 'measurements are late or have stopped'),
        ('STALE_MEASUREMENT',),
        RESET,
    ),
    of_wire(
        'the same state again and again', 'state frozen', BRAKES, causes=OLD, back=RESET, **NIGHTLY
    ),
    of_wire('every state twice', 'state twice', GOES_ON, **NIGHTLY),
    of_wire('every second state before the first', 'state swapped', GOES_ON, **NIGHTLY),
    of_wire('states 0.3 s late', 'state late', ANY, **IF_ANY, **NIGHTLY),
    of_wire(
        'a state with NaN',
        'not a number',
        BRAKES,
        ('supervisor', 'it has to be finite'),
        ('BAD_MEASUREMENT',),
        RESET,
    ),
    of_wire(
        'a state without one of the joints',
        'wrong names',
        BRAKES,
        ('supervisor', "; its joints are ['somebody_else'"),
        ('BAD_MEASUREMENT',),
        RESET,
        **NIGHTLY,
    ),
    Cell(
        'somebody else publishes states',
        foreign_states,
        BRAKES,
        ('identifier', "'somebody' publishes as well as '/builtin_sim_bridge"),
        ('SECOND_PUBLISHER',),
        RESET,
    ),
    of_wire(
        'no torque comes any more',
        'torque silent',
        BRAKES,
        ('supervisor', ''),
        ('COMMAND_REFUSED', 'TRACKING'),
        RESET,
        **NIGHTLY,
    ),
    of_wire('every torque twice', 'torque twice', GOES_ON, **NIGHTLY),
    of_wire(
        'every second torque before the first', 'torque swapped', ANY, causes=BEYOND, **NIGHTLY
    ),
    of_wire('torques 0.3 s late', 'torque late', ANY, causes=BEYOND, **NIGHTLY),
    of_wire(
        'a torque with NaN',
        'torque not a number',
        BRAKES,
        ('supervisor', ''),
        ('COMMAND_REFUSED',),
        RESET,
    ),
    of_wire('drives give 30 % of each torque', 'torque weak', BESIDE, causes=BEYOND, back=RESET),
    Cell(
        'somebody else publishes torques',
        foreign_torques,
        BRAKES,
        (BRIDGE, 'torque_command: two controllers answer'),
        ('SECOND_PUBLISHER',),
        RESET,
        **NIGHTLY,
    ),
    Cell(
        'somebody else publishes torques of no arm',
        malformed_torques,
        GOES_ON,
        (BRIDGE, 'torque_command is for '),
        **NIGHTLY,
    ),
    of_wire(
        'no plan comes any more',
        'plan silent',
        UNFOLLOWED,
        ('planner', NOT_FOLLOWED),
        NO_PLAN,
        RESET,
        **NIGHTLY,
    ),
    of_wire(
        'plans come with the next one',  # some are followed late, where a machine is fast
        'plan late',
        UNFOLLOWED,
        causes=NO_PLAN,
        back=RESET,
        **NIGHTLY,
    ),
    of_wire('every plan twice', 'plan twice', GOES_ON, **NIGHTLY),
    of_wire(
        'a plan with NaN',
        'plan not a number',
        UNFOLLOWED,
        ('controller', 'finite numbers of each kind'),
        NO_PLAN,
        RESET,
        **NIGHTLY,
    ),
    Cell(
        'somebody else publishes plans',
        foreign_plans,
        GOES_ON,
        ('controller', "certified for 'an estimate of somebody'"),
        **NIGHTLY,
    ),
    of_wire(
        'what plans are certified for does not come',
        'certified silent',
        UNFOLLOWED,
        ('controller', 'no certified_estimate has told'),
        NO_PLAN,
        RESET,
        **NIGHTLY,
    ),
    of_wire(
        'what plans are certified for has NaN',
        'certified not a number',
        UNFOLLOWED,
        ('controller', 'certified_estimate has a nominal value'),
        NO_PLAN,
        RESET,
        **NIGHTLY,
    ),
    of_wire('no estimate comes any more', 'estimate silent', GOES_ON, **NIGHTLY),
    of_wire('estimates come with the third after them', 'estimate late', GOES_ON, **NIGHTLY),
    of_wire(
        'an estimate with NaN',
        'estimate not a number',
        GOES_ON,
        ('controller', 'parameter_estimate has a nominal value'),
        **NIGHTLY,
    ),
    Cell(
        'somebody else repeats an estimate',
        repeated_estimate,
        BRAKES,
        ('planner', 'parameter_estimate is published by '),
        ('SECOND_PUBLISHER',),
        RESET,
        **NIGHTLY,
    ),
    of_wire(
        'nothing passes between driver and loop',
        'cut',
        BRAKES,
        ('supervisor', 'measurements are late or have stopped'),
        ('STALE_MEASUREMENT',),
        RESET,
        **NIGHTLY,
    ),
    of_wire(
        "the driver's clock jumps ahead",
        'clock ahead',
        BRAKES,
        ('controller', 'the stamps of samples jumped'),
        JUMPED,
        RESET,
    ),
    of_wire(
        "the driver's clock jumps back",
        'clock back',
        BRAKES,
        ('controller', 'the stamps of samples jumped'),
        JUMPED,
        RESET,
        **NIGHTLY,
    ),
    of_wire(
        "the driver's clock is set half a second ahead",
        'clock a little ahead',
        BRAKES,
        ('controller', 'between the stamps of two samples'),
        BEYOND,
        RESET,
        **NIGHTLY,
    ),
    of_wire(
        "the driver's clock is set half a second back",
        'clock a little back',
        ANY,
        ('controller', 'samples in a row were not newer'),
        BEYOND,
        **NIGHTLY,
    ),
    Cell('the disk of the recorder is full', disk_full, GOES_ON, ('recorder', ''), **NIGHTLY),
    Cell('others need every processor', busy_machine, ANY, **IF_ANY, **NIGHTLY),
)
