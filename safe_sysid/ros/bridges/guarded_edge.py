"""GuardedEdge: what every bridge has in common; no torque reaches a robot but through its guard.

A bridge turns what its driver says into a `JointMeasurement` and calls, in every control period,

    edge.publish(measurement)
    torque = edge.torque(now, measurement)      # None: the robot gets no torque

where `now` is on the same clock as the stamps of the measurements, in nanoseconds. What brakes the
arm is the plan that the controller says it follows, with the estimate it was certified for.

A bridge also says when its process may leave: when the robot gets no torque from it any more.
Where the mode asks for that, or this process was told to end and no supervisor is there, the guard
acts alone: it brakes, holds, and goes on until `HandOver` has seen the arm in other hands.
"""

from __future__ import annotations

from collections.abc import Callable
import os
from time import monotonic

from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory

from safe_sysid.arrays import Array
from safe_sysid.loop_settings import LoopArm
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.plan.message import PlanNotice, plan_notice
from safe_sysid.ros.bridges.bridge_settings import BridgeSettings
from safe_sysid.ros.bridges.hosted_controller import HostedController
from safe_sysid.ros.messages.certified_plan_buffer import CERTIFIED, CertifiedPlanBuffer
from safe_sysid.ros.messages.codec import (
    JointStateWriter,
    TorqueReader,
    estimate_of,
)
from safe_sysid.ros.messages.qos import PLANS, SAMPLES, STATE
from safe_sysid.ros.messages.unread_messages import UnreadMessages
from safe_sysid.ros.process.leaving import EndRequest, Supervised
from safe_sysid.ros.process.lifecycle import Lifecycle, Work
from safe_sysid.ros.process.warm_up import warm_up_law
from safe_sysid.ros.process.words import say
from safe_sysid.ros.watch.health import Condition
from safe_sysid.track.braking import LOST
from safe_sysid.track.chosen_law import law_for
from safe_sysid.track.guarded_torque import Command, GuardedTorque, GuardInput, GuardOutcome
from safe_sysid.track.hand_over import HandOver, Hands, Holder
from safe_sysid.track.obey_probe import ProbeSettings
from safe_sysid.track.probed_driver import TRUSTED, ProbedDriver
from safe_sysid.track.single_answer import SingleAnswer
from safe_sysid.track.supervisor import Cause, Mode
from safe_sysid.track.torque_guard import TorqueGuard
from safe_sysid.trajectory.plan import Plan

LETTING_GO = (Mode.IDLE, Mode.RELEASING, Mode.ENDED)  # modes that want no torque
SILENCE = 0.5  # [s] of the supervisor, after which a bridge that was told to end acts by itself


class GuardedEdge:
    """Measurements out, commands in, and the guard between commands and the robot."""

    def __init__(
        self,
        node: Node,
        arm: LoopArm,
        settings: BridgeSettings,
        holder: Holder,
        probe: ProbeSettings = TRUSTED,
    ) -> None:
        self._driver = ProbedDriver(arm.model, arm.gains, probe)
        self._node, self._arm, self._settings = node, arm, settings.guard
        if caution := settings.guard.caution(arm.model):
            node.get_logger().warning(caution)
        names = arm.model.layout.joint_names
        self._writer = JointStateWriter(names, f'{node.get_fully_qualified_name()} {os.getpid()}')
        self._reader, self._answers = TorqueReader(names), SingleAnswer(names)
        self._told = CertifiedPlanBuffer(names)
        self._estimate = arm.prior
        self._notice: PlanNotice | None = None
        self._plan: Plan | None = None
        self._command: Command | None = None
        self._clock: Clock | None = None
        self._guard: TorqueGuard | None = None
        self._now: int | None = None  # stamp of the last torque [ns]
        self._given: GuardedTorque | None = None
        self._unknown_mode, self._unread = '', UnreadMessages()
        self._hand_over = HandOver(settings.hand_over, holder)
        self._lets_go = True
        self._is_lost = False  # no measurement for so long that the guard does not brake the arm
        self._is_told = False  # to end
        self._is_told_enough = False
        self._cuts_told = 0
        self._request, self._supervised = EndRequest(node), Supervised(node)
        work = Work(Mode.IDLE, _nothing, self._forget, self._forget, lambda: self.is_free)
        waits = settings.waits_to_be_activated
        self.life = Lifecycle(node, waits, self._supervised, work)
        self.mode: Mode | None = None  # None until the supervisor says one
        self.answered: int | None = None  # newest sample that the controller answered [ns]
        self.when_answered: Callable[[], None] = _nothing
        self._controller: HostedController | None = None
        if settings.has_controller:
            self._controller = HostedController(self._take)
        warm_up_law(arm)  # which brakes, and is not to be waited for then
        self._subscribe()

    def _subscribe(self) -> None:
        node, reading = self._node, self._unread.reading
        self._states = node.create_publisher(JointState, 'joint_states', SAMPLES)
        node.create_subscription(String, 'mode', self._on_mode, STATE)
        if self._controller is None:
            heard = reading('torque_command', self._on_command)
            node.create_subscription(Float64MultiArray, 'torque_command', heard, SAMPLES)
        for topic, take, delivery in (
            ('parameter_estimate', self._on_estimate, STATE),
            (CERTIFIED, self._on_certified, PLANS),
        ):
            heard = reading(topic, take)
            node.create_subscription(Float64MultiArray, topic, heard, delivery)
        followed = reading('plan_in_force', self._on_plan)
        node.create_subscription(JointTrajectory, 'plan_in_force', followed, STATE)

    @property
    def hosted(self) -> tuple[Node, ...]:
        """Nodes that live in the process of this one."""
        return () if self._controller is None else (self._controller.node,)

    @property
    def gives_torque(self) -> bool:
        """Whether any torque may reach the robot; a fault in idle is no reason to begin."""
        return self._hand_over.gives_torque

    @property
    def is_free(self) -> bool:
        """Whether the arm is in other hands, and was seen to stand in them."""
        return self._hand_over.hands is Hands.FREE

    @property
    def is_alone(self) -> bool:
        """Whether the guard acts whatever is commanded: in a fault, and to let the arm go."""
        return self.mode is Mode.FAULT or self.lets_go

    @property
    def rests_in_fault(self) -> bool:
        """Whether the plan in force is over in a fault, and nothing takes the arm over yet."""
        return self.mode is Mode.FAULT and not self.lets_go and self._rest_of_plan() <= 0.0

    @property
    def _is_given_up(self) -> bool:
        """Whether the arm is handed over as it is: no torque of ours is known to hold it.

        A driver that was not seen to obey yet is given torque while its probe looks at the arm.
        An arm that nobody has seen for a while may be anywhere, whatever torque it is given.
        """
        is_doubted = self._driver.is_doubted and self.mode is not Mode.PROBING
        return self._driver.is_wild or is_doubted or self._is_lost

    @property
    def needs_no_answer(self) -> bool:
        """Whether torques follow from samples without the controller."""
        return self.is_alone or self.mode is Mode.PROBING

    @property
    def lets_go(self) -> bool:
        """Whether the arm is to be left to what holds it without torque."""
        return self._lets_go or self._is_told_without_supervisor

    def publish(self, measurement: JointMeasurement) -> None:
        """Tell everybody what the robot measures."""
        self._states.publish(self._writer.message(measurement))
        if self._controller is not None:
            self._controller.take(measurement)

    def torque(self, now: int, measurement: JointMeasurement | None) -> Array | None:
        """Return what the robot gets at a stamp [ns], (n,) [N m]; None for no torque at all."""
        if self._clock is None or self._guard is None:
            self._clock = Clock(now)
            arm = self._arm
            law = law_for(arm.model, arm.gains, self._clock, arm.sampling)
            counts = arm.sampling is not None
            told = arm.model, self._settings, self._clock, law
            self._guard = TorqueGuard(*told, counts=counts)
        self._find(now, measurement)
        self._let_go(now, measurement, self._guard)
        if not self.gives_torque:
            self._given = None
            return None
        command = None
        self._hand_over.insist(now, not self.is_alone)
        if not self.is_alone and self._hand_over.is_heard:
            answer = None if self._answers.contradiction(monotonic()) else self._command
            command = self._driver.command(self.mode, measurement, self._estimate, answer)
        if self._is_given_up:
            self._hand_over.give_up(now)
        seen = GuardInput(command, measurement, self._plan_on(self._clock), self._estimate)
        self._given, self._now = self._guard.step(now, seen), now
        self._is_lost = self._is_lost or self._guard.is_lost(now)
        return self._given.torque

    def _find(self, now: int, measurement: JointMeasurement | None) -> None:
        """Take an arm under the torque that was found at work, or hand it over as it is."""
        if not self._hand_over.find(now, measurement):
            return
        if self._is_given_up:
            self._hand_over.give_up(now)
        else:
            self._hand_over.engage()

    def _let_go(self, now: int, measurement: JointMeasurement | None, guard: TorqueGuard) -> None:
        """Where no torque is wanted any more, see that something else holds the arm."""
        if not (self.lets_go or self._is_given_up) or self.is_free:
            return
        is_fresh = measurement is not None and now - measurement.stamp <= (
            self._settings.max_age * 1e9
        )
        is_seen = is_fresh or self._hand_over.hands is Hands.WATCHED
        self._hand_over.step(now, measurement if is_seen else None, guard.is_at_its_end(now))
        if self.is_free:
            self._forget()

    def release(self) -> None:
        """Note that the robot is in other hands already, whoever asked for it."""
        self._lets_go = True
        self._hand_over.hands = Hands.FREE

    def ask(self, why: str, times: int) -> None:
        """Being told to end: ask for it; told again, say how far it is.

        Told again when nothing takes the arm over, or it does not come to rest, leave it.
        """
        if not self._is_told:
            self._is_told = True
            self._request.send(0, why)
        self._is_told_enough = times > 1 and bool(self._hand_over.complaint)
        if self._is_told_enough:
            say(f'{self._node.get_name()} leaves the arm as it is: {self._hand_over}')
        elif times > 1 and self._supervised.silent > SILENCE:
            say(f'{self._node.get_name()}: {self._hand_over}')

    def is_due(self) -> bool:
        """Whether the robot needs no torque, and nobody is there or left to ask for one."""
        if self._is_told_enough:
            return True
        return self.is_free and (self.mode is Mode.ENDED or self._is_told_without_supervisor)

    @property
    def may_be_killed(self) -> bool:
        """Whether this process was told to end, and nothing depends on it any more."""
        return self._is_told and self.lets_go and self.is_free

    @property
    def _is_told_without_supervisor(self) -> bool:
        """Whether this process was told to end, and nobody is there to end the run."""
        return self._is_told and self._supervised.silent > SILENCE

    def _rest_of_plan(self) -> float:
        """Time until the plan in force is over [s]."""
        if self._plan is None or self._clock is None or self._now is None:
            return 0.0
        return max(0.0, self._plan.end_time - self._clock.seconds(self._now))

    def condition(self) -> Condition:
        """Return what the guard has to say."""
        refusal = '' if self._guard is None else self._guard.refusal
        refused = bool(refusal) and not self.is_alone
        if self.lets_go:
            refusal = self._hand_over.complaint
        figures = {
            'gives_torque': self.gives_torque,
            'released': self.lets_go and self.is_free,
            'hands': str(self._hand_over),
            'at rest in [s]': f'{self._rest_of_plan():.2f}',
            'guard': 'off' if self._given is None else self._given.outcome.value,
            'mode': 'unknown' if self.mode is None else self.mode.value,
            'obeys': self._driver.obedience.value,
            'torques cut': 0 if self._guard is None else self._guard.cuts,
        }
        failed = '' if self._controller is None else self._controller.trouble
        trouble = self._blindness() or failed or refusal or self._unknown_mode
        trouble = trouble or self._unread.trouble or self._newly_cut()
        faults = {Cause.COMMAND_REFUSED} if refused else set()
        if contradiction := self._answers.contradiction(monotonic()):
            trouble, faults = contradiction, {Cause.SECOND_PUBLISHER}
        disobedience = self._driver.complaint(self.mode) or self._hand_over.unheard
        if disobedience:
            faults.add(Cause.ROBOT_NOT_READY)
        return Condition(disobedience or trouble, frozenset(faults), figures)

    def _newly_cut(self) -> str:
        """Say what was cut off of a command since this was asked last."""
        before, self._cuts_told = self._cuts_told, 0 if self._guard is None else self._guard.cuts
        if self._guard is None or self._cuts_told == before:
            return ''
        return f'{self._guard.last_cut}; nothing is promised of such torques'

    def _blindness(self) -> str:
        """Say that the arm is not seen, and from when on somebody else was asked to hold it."""
        if self._is_lost:
            return f'the arm was not seen for longer than {LOST} s; {self._hand_over}'
        is_blind = self._given is not None and self._given.outcome is GuardOutcome.BLIND
        return 'no measurement to go by' if is_blind else ''

    def _plan_on(self, clock: Clock) -> Plan | None:
        """Return the plan in force, once the estimate it was certified for is known."""
        if self._plan is None and self._notice is not None:
            self._plan = self._told.plan(self._notice, clock)
        return self._plan

    def _forget(self) -> None:
        """Forget what was commanded and followed before."""
        self._notice = self._plan = None
        self._begin_anew()

    def _on_mode(self, msg: String) -> None:
        mode = Mode(msg.data) if msg.data in Mode._value2member_map_ else None
        self._unknown_mode = ''
        if mode is None:
            self._unknown_mode = f"mode is '{msg.data}', allowed are {[m.value for m in Mode]}"
            return
        if self.life.is_parked and mode not in LETTING_GO:
            return  # without torque; only a bridge that was started just now takes hold of an arm
        before, self.mode = self.mode, mode
        if before is Mode.PROBING and mode is not before:
            self._driver.leave()
        if mode in LETTING_GO:
            self._lets_go = True
            if before is None and mode is Mode.RELEASING:  # the driver may repeat our last torque
                self._engage_or_look()
        elif mode is not Mode.FAULT or before is None:
            if self._lets_go or (mode is not before and before in (Mode.FAULT, Mode.PROBING)):
                self._begin_anew()
            self._lets_go = False
            if before is None:
                self._engage_or_look()
            elif not self._is_given_up:
                self._hand_over.engage()

    def _engage_or_look(self) -> None:
        """Where this bridge was started in the middle of a run, see whether a torque is at work.

        In a fault none begins unasked, nor on a driver that this process has not seen obey; but
        the last one of a bridge before may still act, on an arm in motion.
        """
        if self.mode is Mode.FAULT or self._is_given_up:
            self._hand_over.look()
        else:
            self._hand_over.engage()

    def _begin_anew(self) -> None:
        """Let commands pass, but none from before; an arm that was lost has no plan of before."""
        if self._is_lost or (self._guard is not None and self._guard.has_left_its_plan):
            self._notice = self._plan = None
        self._command, self._is_lost = None, False
        self._answers.begin_anew()
        if self._guard is not None:
            self._guard.reset()

    def _on_command(self, msg: Float64MultiArray) -> None:
        self._take(self._reader.command(msg))

    def _take(self, answer: Command) -> None:
        """Take the answer to a sample; it is empty where no torque follows from that."""
        self.answered = answer.stamp
        if len(answer.torque):
            self._command = answer
            self._answers.note(answer, monotonic())
        self.when_answered()

    def _on_estimate(self, msg: Float64MultiArray) -> None:
        self._estimate = estimate_of(msg, self._arm.model.layout).estimate

    def _on_certified(self, msg: Float64MultiArray) -> None:
        self._told.learn(estimate_of(msg, self._arm.model.layout, CERTIFIED).estimate)

    def _on_plan(self, msg: JointTrajectory) -> None:
        if not msg.points:  # the controller follows none; the guard keeps the last one to brake
            return
        self._notice, self._plan = plan_notice(msg, self._arm.model.layout.joint_names), None


def _nothing() -> None:
    """In real time nobody waits for an answer; and the next mode says what is to be done."""
