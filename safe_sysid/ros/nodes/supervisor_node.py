"""Watches every node of the loop, names the mode, and serves those who ask for another one."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
import sys
import time
from typing import ClassVar

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from safe_sysid.config import Natural, Positive
from safe_sysid.errors import MeasurementError
from safe_sysid.loop_settings import LoopSettings
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.measure.single_publisher import SinglePublisherCheck
from safe_sysid.plan.message import SECOND
from safe_sysid.ros.actions.asked import Motion
from safe_sysid.ros.actions.errand import ErrandSettings, errand_of
from safe_sysid.ros.actions.gripper import CellGripper, GripperSettings
from safe_sysid.ros.actions.handle_action import Hand
from safe_sysid.ros.actions.loop_requests import LoopRequests
from safe_sysid.ros.actions.served import CALLS_OFF, ServedActions
from safe_sysid.ros.messages.codec import JointStateReader
from safe_sysid.ros.messages.newest_sample import NewestSample
from safe_sysid.ros.messages.placed_objects import PlacedObjects, PlacedSettings
from safe_sysid.ros.messages.qos import HEALTH, STATE
from safe_sysid.ros.messages.request_topics import ERRAND
from safe_sysid.ros.process.configured_node import ConfiguredNode
from safe_sysid.ros.process.main import main_of
from safe_sysid.ros.process.parameters import read_config, serve_changes
from safe_sysid.ros.watch.activation import Activation
from safe_sysid.ros.watch.asked_task import AskedTask
from safe_sysid.ros.watch.awaited_answers import AwaitedAnswers
from safe_sysid.ros.watch.energy_excess import BEYOND_V_M
from safe_sysid.ros.watch.handed_over import KNOWS, HandedOver
from safe_sysid.ros.watch.health import Condition, Health, NodeStatus, heard_from
from safe_sysid.ros.watch.heartbeats import Heartbeats
from safe_sysid.ros.watch.held_changes import HeldChanges, Seen
from safe_sysid.ros.watch.payload_change import PayloadChange, Settling
from safe_sysid.ros.watch.plan_in_force import PlanInForce
from safe_sysid.ros.watch.rest import Rest
from safe_sysid.ros.watch.run_ending import PERIOD, RunEnding
from safe_sysid.ros.watch.said_causes import SaidCauses
from safe_sysid.track.obey_probe import Obedience
from safe_sysid.track.standing import REST_SPEED
from safe_sysid.track.supervisor import (
    OF_A_CHANGE,
    Cause,
    Mode,
    Signal,
    Situation,
    Supervision,
    Supervisor,
)

ASKED_FOR = (
    *(Signal.STOP, Signal.BRAKE, Signal.NEW_PAYLOAD, Signal.RESET_FAULT),
    *(Signal.ANNOUNCE_CHANGE, Signal.PAYLOAD_CHANGED),
)
# Causes that last until somebody is told to forget them; asking for it is telling them.
FORGOTTEN = (Cause.CONTRADICTION, Cause.CHANGE_NOTICED)  # with the payload, where reset
LATCHED = (*FORGOTTEN, Cause.COMMAND_REFUSED, Cause.TRACKING, Cause.OBSTACLE, Cause.NO_PLAN)


@dataclass(frozen=True)
class SupervisorNodeSettings(LoopSettings):
    """Parameters of the supervisor."""

    MAY_CHANGE: ClassVar = ('task_follows',)

    stale: Positive = 0.5  # [s] without a sample, under torque; the guard is stricter
    rest_speed: Positive = REST_SPEED  # [rad/s] below which a joint counts as at rest
    settling: Settling = 0.5  # [s] after new_payload of samples that count for no payload: they
    # may have been on their way, and what was grasped may still swing
    silence: Positive = 2.0  # [s] without word from a node after which that is said
    autostart: bool = False  # whether learning begins by itself, once the planner is ready
    goes_on: Natural = 2  # times that the arm goes on by itself after a change nobody announced
    gripper: GripperSettings = field(default_factory=GripperSettings)  # that `handle` closes
    placed: PlacedSettings = field(default_factory=PlacedSettings)
    errand: ErrandSettings = field(default_factory=ErrandSettings)  # in place of the task
    task_follows: bool = True  # whether the task begins by itself once bounds have settled

    def hand(self, node: Node) -> Hand:
        """Return the gripper and the empty hand, for `handle`."""
        arm = self.with_all_shapes()
        placed = PlacedObjects(node, arm, self.held_shapes, self.placed)
        gripper, bounds = CellGripper(node, self.gripper), self.with_empty_hand()[1]
        return Hand(gripper, bounds, arm, placed, self.gripper.lightest or self.lightest)


class SupervisorNode(ConfiguredNode):
    """Turns what it hears and what it is asked for into the mode."""

    def __init__(self) -> None:
        super().__init__('supervisor')
        self._settings = settings = read_config(self, SupervisorNodeSettings)
        layout = settings.described().layout
        names = layout.joint_names
        self._reader = JointStateReader(names)
        self._supervisor: Supervisor | None = None  # until the bridge has said how the robot is
        self._now = Supervision(Mode.IDLE)
        self._nodes = Heartbeats(self.get_namespace(), settings.silence)
        self._activation = Activation(self, self._nodes)
        self._handed_over = HandedOver(self, self._nodes, lambda: self._now.mode)
        self._looks = 0  # since the newest sample
        self._said = SaidCauses()
        self._rest = Rest(settings.rest_speed)
        self._sources = SinglePublisherCheck()
        self._stamp = 0
        self._arrived = 0.0  # [s] steady time of the sample with this stamp
        self._in_force = PlanInForce(names)
        self.measured: JointMeasurement | None = None  # newest, in a plan or not
        self._bad_sample = ''
        self._has_started = False  # by itself
        self.exit_status: int | None = None
        self._ending = self.leave = RunEnding(self._nodes)
        self._modes = self.create_publisher(String, 'mode', STATE)
        hear = self._ending.hear
        self.create_subscription(String, 'end_requested', lambda msg: hear(msg.data), STATE)
        self._health = Health(self, self._condition)
        self._serve()
        self.create_subscription(DiagnosticArray, '/diagnostics', self._on_health, HEALTH)
        self.create_subscription(JointTrajectory, 'plan_in_force', self._on_plan, STATE)
        self._newest_sample = NewestSample(self)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self.create_timer(PERIOD, self._look, clock=steady)
        self._payload = PayloadChange(self, self._nodes, settings.settling)
        self._changes = HeldChanges(self, self._nodes, settings.settling, settings.goes_on)
        self._awaited = AwaitedAnswers(self._nodes, self._payload, self._changes)
        self._task = AskedTask(self._nodes)
        hand = settings.hand(self)
        errand = errand_of(
            settings.errand, names, lambda: LoopRequests(self, self, layout).asking(), hand
        )
        self._actions = ServedActions(self, self, layout, hand, errand)
        serve_changes(self, settings, self._change)

    def _change(self, settings: SupervisorNodeSettings) -> None:
        self._settings = settings

    def _serve(self) -> None:
        """One service for each thing that can be asked for."""
        self.create_service(Trigger, '~/start', self._start)
        for signal in (*ASKED_FOR, Signal.END):
            self.create_service(Trigger, f'~/{signal.value}', partial(self._serve_signal, signal))

    def _serve_signal(
        self, signal: Signal, _: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        """Answer one request."""
        response.success, response.message = self.ask(signal)
        if response.success:
            self._actions.call_off(signal)
            if signal in CALLS_OFF:
                self._task.begin_nothing()
        return response

    def _start(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Learn; where that is done, do the task."""
        is_done = self._now.mode is Mode.IDENTIFIED
        return self._serve_signal(Signal.DO_TASK if is_done else Signal.EXCITE, request, response)

    @property
    def load_changes(self) -> int:
        """How often what is held has changed as was announced."""
        return self._changes.announced

    @property
    def bounds_for_change(self) -> str:
        """Name of the estimate for what is held and what may be held next; empty: none."""
        return self._changes.bounds

    @property
    def is_change_pending(self) -> bool:
        """Whether somebody has yet to take what was told of the payload."""
        return bool(self._awaited.before_motion)

    @property
    def mode(self) -> Mode:
        """What the loop does now."""
        return self._now.mode

    def motion(self) -> Motion | None:
        """Return what the arm does, and what its plan wants."""
        plan, seen = self._in_force.at(self.now), self.measured
        if plan is None or seen is None or seen.stamp < plan.start:
            return None
        desired = plan.motion.desired((seen.stamp - plan.start) / SECOND)
        return Motion(seen.stamp, seen.position, seen.velocity, desired)

    @property
    def now(self) -> int:
        """Time by the stamps of samples, whatever the clock on the wall says [ns]; 0: none yet."""
        return self._stamp + round(self._age * SECOND) if self._stamp else 0

    def void(self, stamp: int) -> None:
        """Have the goal of this stamp begin nothing, now or later."""
        self._task.void(stamp)

    @property
    def silent(self) -> list[str]:
        """Nodes that were heard and are not any more."""
        return self._nodes.silent(time.monotonic())

    def figure(self, key: str, node: str = 'planner') -> str:
        """Return a figure that a node tells of itself; empty where there is none."""
        return self._nodes.figure(node, key) or ''

    def ask(self, signal: Signal) -> tuple[bool, str]:
        """Whether a request was granted, and what it led to."""
        if self._supervisor is None:
            return False, 'the bridge has not been heard yet; is one running?'
        refusal = self._activation.refusal(signal) or self._handed_over.refusal(signal)
        if refusal := refusal or self._task.refusal(signal):
            return False, refusal
        self._take_sample()
        if signal is Signal.EXCITE and self._obedience is Obedience.UNKNOWN:
            signal = Signal.PROBE  # learning follows by itself
        cause = self._now.cause
        present = self._faults()
        if signal is Signal.RESET_FAULT:
            present -= frozenset(LATCHED)
        if signal is Signal.NEW_PAYLOAD and not self._stamp:
            return (
                False,
                'no joint state was heard, so nobody knows from which on it is another one',
            )
        if signal is Signal.PAYLOAD_CHANGED and (
            refusal := self._changes.not_allowed(self._seen())
        ):
            return False, refusal
        situation = Situation(signal, present, self.is_at_rest(), self._awaited.before_motion)
        if signal is Signal.ANNOUNCE_CHANGE:
            asked = self._now, situation, self._seen()
            return self._changes.answer(*asked, self._stamp, self._settings.has_shape)
        self._step(situation)
        granted = not self._now.refusal
        if granted and (signal is Signal.NEW_PAYLOAD or cause in FORGOTTEN):
            self._payload.begin(self._stamp, self._age)
        if granted:
            self._changes.asked(signal, self._stamp, self._age)
        return granted, self._now.refusal or self._led_to()

    def _led_to(self) -> str:
        """Return what a request led to."""
        if not (doubt := self._changes.doubt):
            return str(self._now)
        self.get_logger().warning(doubt)
        return f'{self._now}; {doubt}'

    @property
    def _age(self) -> float:
        """Of the newest sample [s]."""
        return 0.0 if self._settings.is_lockstep else time.monotonic() - self._arrived

    def _seen(self) -> Seen:
        """Return what decides about changes of what is held.

        In lockstep a change is granted once the plan is over and the arm rests: while it goes on,
        how far it is when this node looks depends on the machine. A grasp that shakes the arm then
        takes it off no plan, and what was granted stays so.
        """
        rests = self.is_at_rest()
        plan = self._in_force.at(self.now)
        certified_for = '' if plan is None else plan.certified_for
        may_grant = rests or not self._settings.is_lockstep
        expected = self._actions.expects_touch
        now = self._now.mode, self._faults(), rests, certified_for, expected, self._now.cause
        return Seen(*now, self._stamp, may_grant)

    def _look(self) -> None:
        """Faults, rest, and what has been done."""
        self._looks += 1
        self._take_sample()
        self._payload.remind()
        self._changes.remind(self._stamp)
        self._activation.step()
        self._end()
        if self._supervisor is None:
            self._begin()
            self._actions.look()  # nothing begins, and whoever asked is told
            return
        if (for_rest := self._activation.wanted(self._now.mode)) is not None:
            self.ask(for_rest)
        if self._is_due_to_start():
            self.ask(Signal.EXCITE)
        self._begin_what_is_asked_for()
        self._follow_changes()
        signal = self._obeyed()
        done = self._nodes.figure('planner', 'nothing left to do in')
        if done == self._now.mode.value and self.is_at_rest():
            signal = {Mode.EXCITING: Signal.BOUNDS_SETTLED, Mode.TASK: Signal.TASK_DONE}.get(
                self._now.mode
            )
        if signal in (Signal.OBEYED, Signal.BOUNDS_SETTLED) and self._awaited.before_motion:
            signal = None  # another motion may follow
        self._turn(Situation(signal, self._faults(), self.is_at_rest()))
        follows = self._settings.task_follows and not self._actions.is_busy
        follows = follows and not self._task.refusal(Signal.DO_TASK)
        if signal is Signal.BOUNDS_SETTLED and follows:  # nobody does anything in between
            self._turn(Situation(Signal.DO_TASK, self._faults(), self.is_at_rest()))
        self._modes.publish(String(data=self._now.mode.value))
        if self._actions.look():
            self._health.announce()

    def _follow_changes(self) -> None:
        """Do what follows by itself when what is held has changed, or may."""
        signal = self._changes.signal(self._seen(), self._stamp, self._age)
        if signal in (Signal.GO_ON, Signal.ANNOUNCE_CHANGE):
            left = self._faults() - OF_A_CHANGE
            self._step(Situation(signal, left, self.is_at_rest()))
        elif signal is not None:
            count = self._changes.count
            self.ask(signal)
            self._changes.count = count

    def _begin_what_is_asked_for(self) -> None:
        """Begin the task for a goal that came, or end it where its goal was taken away."""
        asked = self._task.signal(self._now.mode)
        if asked is Signal.BRAKE or (asked is not None and self.is_at_rest()):
            self.ask(asked)

    @property
    def _obedience(self) -> Obedience:
        """Whether the driver does what it is told, as far as the bridge knows."""
        said = self._nodes.any_figure('obeys')
        return Obedience.OBEYS if said is None else Obedience(said)

    def _obeyed(self) -> Signal | None:
        is_probed = self._obedience is Obedience.OBEYS
        return Signal.OBEYED if self._now.mode is Mode.PROBING and is_probed else None

    def _take_sample(self) -> None:
        msg = self._newest_sample.take()
        if msg is not None:
            self._on_sample(msg)

    def _is_due_to_start(self) -> bool:
        """Once, when the loop is ready for the first time."""
        if not self._settings.autostart or self._has_started or self._now.mode is not Mode.IDLE:
            return False
        if self._awaited.before_motion or self._activation.refusal(Signal.EXCITE):
            return False
        self._has_started = self._nodes.figure('planner', 'is warm') == 'True'
        return self._has_started

    def _end(self) -> None:
        """Where the end was asked for: rest, other hands, and then nothing keeps anybody."""
        ending = self._ending
        ending.watch(self._stamp, self.silent)
        if self._now.is_ending:
            ending.ask('supervisor/end', times=1)
        if not ending.is_asked_for:
            return
        if self._supervisor is None:  # nobody has been heard who could have given torque
            self._modes.publish(String(data=Mode.ENDED.value))
        elif not self._now.is_ending:
            self.get_logger().info(f'the run ends, asked for by {ending.why}')
            self.ask(Signal.END)
            self._actions.call_off(Signal.END)
        elif ending.is_released(self._now.mode):
            self._step(Situation(Signal.RELEASED, self._faults(), self.is_at_rest()))
        mode = Mode.ENDED if self._supervisor is None else self._now.mode
        if ending.is_over(mode, self._is_stale(), None if self._is_silent() else self._stamp):
            self.exit_status = ending.status

    def close(self) -> None:
        """Stop listening."""
        self._newest_sample.close()

    def _begin(self) -> None:
        """In idle, unless the robot is under torque already."""
        given = self._nodes.any_figure('gives_torque')
        if given is None:
            return
        self._supervisor = Supervisor()
        restarted = frozenset({Cause.RESTARTED} if given == 'True' else ())
        self._step(Situation(None, restarted, False))
        self._modes.publish(String(data=self._now.mode.value))

    def _step(self, situation: Situation) -> None:
        """Turn to the mode that follows from a situation, and tell it."""
        self._turn(situation)
        self._modes.publish(String(data=self._now.mode.value))

    def _turn(self, situation: Situation) -> None:
        assert self._supervisor is not None
        before, self._now = self._now, self._supervisor.step(situation)
        if self._now.mode is not before.mode:
            left = before.mode, self._now.mode, situation.signal
            self._changes.left(*left, self._stamp)
        is_new = self._said.note(self._now.cause, situation.faults, self._sentence_of)
        if is_new or self._now.mode is not before.mode:
            self.get_logger().info(self.sentence())
            self._health.announce()

    def _sentence_of(self, cause: Cause) -> str:
        return self._nodes.sentence(cause) or self._bad_sample or self._ending.stuck

    def sentence(self) -> str:
        """Return the mode; of a fault its causes, the way back, and who said what."""
        said = self._said.sentences(self._now)
        if Cause.CHANGE_NOTICED in self._said and self._now.mode is Mode.FAULT:
            stays = self._changes.why_it_stays(self._seen())
            said.append(f'the arm stays, as {stays}' if stays else 'the arm goes on at rest')
        return '; '.join(sentence for sentence in said if sentence)

    def _faults(self) -> frozenset[Cause]:
        """All that are present now."""
        faults = set(self._nodes.faults())
        if self._awaited.is_untaken:  # said of the payload before
            faults -= {Cause.CONTRADICTION, Cause.CHANGE_NOTICED}
        if self._bad_sample:
            faults.add(Cause.BAD_MEASUREMENT)
        if (self._is_stale() or self._ending.stuck) and self._now.gives_torque:
            faults.add(Cause.STALE_MEASUREMENT)
        return frozenset(faults)

    def _is_stale(self) -> bool:
        # in lockstep simulated time stands still as long as it has to
        return not self._settings.is_lockstep and self._is_silent()

    def _is_silent(self) -> bool:
        # counted in looks, not seconds: when this process had to wait, samples wait for it now
        return self._looks * PERIOD > self._settings.stale

    def is_at_rest(self) -> bool:
        """Whether all joints have been slow for a while, and no plan or braking is going on."""
        if self._stamp < self._in_force.end(self.now) or self._in_force.may_brake_on_it(self.now):
            return False
        return self._rest.is_still(time.monotonic())

    def _on_sample(self, msg: JointState) -> None:
        now = time.monotonic()
        if not self._sources.accepts(msg.header.frame_id, now):
            return
        self._looks = 0
        try:
            measurement = self._reader.measurement(msg)
        except MeasurementError as error:
            self._bad_sample = str(error)
            self._rest.forget()
            return
        self._bad_sample, self._stamp, self._arrived = '', measurement.stamp, now
        self.measured = measurement
        self._rest.see(measurement, now)

    def _on_plan(self, msg: JointTrajectory) -> None:
        self._in_force.hear(msg, self.now)

    def _on_health(self, msg: DiagnosticArray) -> None:
        for status in msg.status:
            heard = heard_from(status)
            if isinstance(heard, NodeStatus):
                self._nodes.hear(heard, time.monotonic())

    def _condition(self) -> Condition:
        trouble, unheard = '', self._nodes.unheard(time.monotonic())
        if self._now.cause is not None:
            trouble = self.sentence()
        elif self._supervisor is None:
            trouble = 'the bridge has not been heard yet'
        elif said := self._changes.refusal or self._changes.doubt:
            trouble = said
        elif said := self._awaited.before_motion:
            trouble = '; '.join([f'no motion begins until {said}; it is told again', *unheard])
        elif said := self._in_force.trouble(self.now) or self.figure(BEYOND_V_M, 'controller'):
            trouble = said
        elif unheard:
            trouble = unheard[0]
        faults = frozenset() if self._now.cause is None else frozenset({self._now.cause})
        figures = {
            'mode': self._now.mode.value,
            'cause': '' if self._now.cause is None else self._now.cause.name,
            'causes': self._said.names,
            'at rest': self.is_at_rest(),
            'may change': self._changes.may_change(self._seen()),
            'went on by itself': self._changes.count,
            ERRAND: self._actions.errand,
            'silent': ', '.join(self.silent),
            KNOWS: self._handed_over.robot_adds_load,
        }
        return Condition(trouble, faults, figures)


def main() -> int:
    """Run the node."""
    return main_of(SupervisorNode)


if __name__ == '__main__':
    sys.exit(main())
