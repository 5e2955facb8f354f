"""A simulated arm behind the topics of a robot, in real time or in lockstep.

In real time it has a period of the steady clock like a driver, and applies the newest command. In
lockstep it stands still until the controller has answered its sample, so that a run does not
depend on the speed of the machine; its time is on /clock. Without torque the arm is in its brakes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
import time

import numpy as np
from rclpy.clock import Clock, ClockType
from rosgraph_msgs.msg import Clock as ClockMessage
from std_msgs.msg import Bool, Header
from std_srvs.srv import Trigger

from safe_sysid.arrays import Array
from safe_sysid.config import Finite, Natural, NotNegative
from safe_sysid.errors import ConfigError
from safe_sysid.loop_settings import LoopArm
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.inertia import is_consistent
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.bridges.bridge_settings import BridgeSettings
from safe_sysid.ros.bridges.guarded_edge import GuardedEdge
from safe_sysid.ros.messages.codec import SECOND, time_of
from safe_sysid.ros.messages.qos import CLOCK, REQUESTS
from safe_sysid.ros.messages.request_topics import GRIPPER
from safe_sysid.ros.process.configured_node import ConfiguredNode
from safe_sysid.ros.process.leaving import EndRequest
from safe_sysid.ros.process.parameters import read_config
from safe_sysid.ros.process.real_time import prepare_process, settle_memory
from safe_sysid.ros.watch.health import Condition, Health
from safe_sysid.ros.watch.payload_events import EVENT
from safe_sysid.ros.watch.recorder_listens import RecorderListens
from safe_sysid.simulate.brakes import in_brakes
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.simulated_arm import (
    ActuatorKind,
    ArmSettings,
    Dynamics,
    ReadingKind,
    SimulatedArm,
)
from safe_sysid.track.exact_readings import why_not_exact

AGAIN = 0.1  # [s] after which a sample that nobody answered is told again
BURST = 100  # periods at a time while in lockstep nobody has to answer, as the guard brakes
FEW = 10  # periods at a time once it rests in a fault, so that slow nodes do not fall behind
CATCH_UP = 0.2  # [s] simulated at most to catch up with the clock
NEARLY = 0.999  # of the bounds of theta_r that a random arm uses
START = SECOND  # [ns] simulated time of the first sample; 0 means `no time` in ROS


@dataclass(frozen=True)
class SimulationSettings(BridgeSettings):
    """Parameters of every simulator."""

    OF_SIMULATOR = True

    start: tuple[Finite, ...] = ()  # [rad] where the arm is at first; empty: all joints at 0
    seed: Natural = 1  # of the true parameters and of the errors of sensors
    recorded: bool = False  # whether in lockstep the arm waits until a recorder listens
    seconds: NotNegative = 0.0  # [s] of simulated time under torque, then it ends; 0: for ever
    holds: bool = True  # whether the payload is in its hand at first; else `grasp` takes it
    unknown_links: bool = True  # whether true link parameters are anywhere in their bounds
    sensors: SensorSettings = field(default_factory=SensorSettings)
    actuators: ActuatorKind = 'erring'  # as much as the arm's file allows;
    # described: late and slow as well, and friction and base as it says
    readings: ReadingKind = 'set'  # by `sensors`; described: by the arm's file

    def arm(self) -> LoopArm:
        """Return the arm of the loop, unless nobody could keep track of it as it is read."""
        arm = super().arm()
        if self.readings != 'described' or arm.sampling is not None:
            return arm
        q, bounds = self._first_position(arm.model), arm.prior.bounds
        reason = why_not_exact(arm.model, bounds, arm.gains.V_M, self.period, q)
        if reason:
            raise ConfigError(
                f'readings is described, and sampling is {self.sampling}: {reason}. Allowed: '
                'sampling: described for all nodes, readings: set, or smaller errors in sensing '
                'of the arm'
            )
        return arm

    def _first_position(self, model: RobotModel) -> Array:
        return np.array(self.start) if self.start else np.zeros(model.n)

    def simulated_arm(self, dynamics: Callable[[RobotModel], Dynamics]) -> SimulatedArm:
        """Return the arm as it is, which nobody else knows."""
        rng = np.random.default_rng(self.seed)
        described = self.described() if self.holds else replace(self, payload='').described()
        theta, rest = described.theta.copy(), described.layout.rest
        if self.unknown_links:
            known = self.prior.known(described).bounds(described)[rest]
            place = rng.uniform(-1.0, 1.0, size=len(rest))
            drawn = known.center + NEARLY * known.radius * place
            theta[rest] = np.clip(drawn, known.lower, known.upper)
            theta = _of_bodies(described, theta)
        truth = described.with_parameters(theta)
        q = self._first_position(truth)
        settings = ArmSettings(self.period, self.sensors, self.actuators, self.readings)
        return SimulatedArm(truth, q, rng, settings, dynamics)


def _of_bodies(described: RobotModel, theta: Array) -> Array:
    """Move bodies that cannot exist towards those of the description."""
    theta = theta.copy()
    for joint in range(described.n):
        place = described.layout.inertial(joint)
        figures = described.theta[place]
        while is_consistent(figures) and not is_consistent(theta[place]):
            theta[place] = 0.5 * (theta[place] + figures)
    return theta


class Brakes:
    """Of a simulated arm: they hold it from the moment that no torque is given."""

    holds = listens = can_tell = True
    has_torque = False  # of an arm that was not there before

    def look(self) -> None:
        """Ask nobody: they hold it."""

    def take(self) -> None:
        """They do without being asked."""

    def give(self) -> None:
        """They open when a torque is given."""

    def __str__(self) -> str:
        return 'its brakes hold the arm'


class SimulationBridge(ConfiguredNode):
    """Publishes samples of a simulated arm, and applies torque that its guard lets through."""

    def __init__(
        self,
        name: str,
        settings_class: type[SimulationSettings],
        dynamics: Callable[[RobotModel], Dynamics],
    ) -> None:
        super().__init__(name)
        self._settings = settings = read_config(self, settings_class)
        self._arm = settings.simulated_arm(dynamics)
        self._edge = GuardedEdge(self, settings.arm(), settings, Brakes())
        self.leave, self.hosted = self._edge, self._edge.hosted
        self._end = EndRequest(self)
        self.create_service(Trigger, '~/grasp', self._grasp)
        self.create_service(Trigger, '~/release', self._release)
        self.create_subscription(Bool, GRIPPER, self._on_gripper, REQUESTS)
        self._events = self.create_publisher(Header, EVENT, REQUESTS)
        self._health = Health(self, self._condition, self._edge.life)
        self._clock_topic = self.create_publisher(ClockMessage, '/clock', CLOCK)
        self._sample = in_brakes(self._arm.model, self._arm.measure())
        self._is_braked = True
        self._is_advancing = False  # in lockstep
        self._applied = 0  # periods under torque
        self._told_at = -np.inf
        self._warnings = '; '.join(prepare_process(settings.real_time))
        self._offset = START if settings.is_lockstep else time.time_ns()  # [ns] of stamp 0
        self._began = time.monotonic_ns()
        self._period = round(settings.period * SECOND)
        self._elapsed = 0  # [ns] of the stamps told
        self._behind = 0  # periods that were given up, as the machine is too slow
        step, period = self._keep_pace, settings.period
        self._recorder_listens = RecorderListens(self, settings.recorded)
        if settings.is_lockstep:
            step, period = self._ask_again, AGAIN
            self._edge.when_answered = self._take_answer
        settle_memory()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self.create_timer(period, step, clock=steady)

    def _grasp(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Have the payload of the settings in the hand from now on, whatever the arm does."""
        response.success = bool(self._settings.payload) and not self._settings.holds
        response.message = 'in its hand' if response.success else 'there is nothing to take'
        if response.success:
            self._arm.attach(read_payload(self._settings.payload))
        return response

    def _release(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Have it no more."""
        response.success = not self._settings.holds
        response.message = 'dropped' if response.success else 'it was there at first, and stays'
        if response.success:
            self._arm.detach()
        return response

    def _on_gripper(self, msg: Bool) -> None:
        """Do what a gripper does, and tell when."""
        do = self._grasp if msg.data else self._release
        if do(Trigger.Request(), Trigger.Response()).success:
            self._events.publish(Header(stamp=time_of(self._stamped().stamp)))

    def _keep_pace(self) -> None:
        """Simulate up to now, a period at a time."""
        due = (time.monotonic_ns() - self._began) // self._period * self._period
        if due - self._elapsed > CATCH_UP * SECOND:
            skipped = due - self._elapsed - self._period
            self._behind += skipped // self._period
            self._began += skipped
            self._offset += skipped
            due -= skipped
        while self._elapsed < due:
            self._advance()

    def _take_answer(self) -> None:
        """Simulate one period after the other, as long as samples are answered at once."""
        if self._is_advancing:
            return
        self._is_advancing = True
        while (
            self._edge.gives_torque
            and self._edge.answered == self._stamped().stamp
            and self._recorder_listens
        ):
            self._advance()
        self._is_advancing = False

    def _ask_again(self) -> None:
        """Tell a sample again that nobody answered; in a fault nobody has to."""
        if self._edge.is_alone and not self._edge.is_free:
            for _ in range(FEW if self._edge.rests_in_fault else BURST):
                self._advance()
        elif time.monotonic() - self._told_at > AGAIN:
            self._tell()

    @property
    def _stamp(self) -> int:
        return self._offset + self._elapsed

    def _advance(self) -> None:
        """One control period: the guard's torque, or brakes."""
        torque = self._edge.torque(self._stamp, self._stamped())
        if torque is not None:
            self._arm.apply(torque)
            self._applied += 1
            self._sample = self._arm.measure()
        elif not self._is_braked:
            self._sample = in_brakes(self._arm.model, self._arm.measure())
        self._is_braked = torque is None
        self._elapsed += self._period
        self._tell()
        limit = self._settings.seconds
        if limit and torque is not None and self._applied * self._settings.period >= limit:
            self._edge.release()
            self._end.send(0, f'{limit:g} s of simulated time under torque are over')

    def _tell(self) -> None:
        self._told_at = time.monotonic()
        if self._settings.is_lockstep:
            self._clock_topic.publish(ClockMessage(clock=time_of(self._stamp)))
        self._edge.publish(self._stamped())

    def _stamped(self) -> JointMeasurement:
        """Return the newest sample on the clock of the robot, which goes on in brakes as well."""
        age = self._arm.truth.stamp - self._sample.stamp
        return replace(self._sample, stamp=self._stamp - age)

    def _condition(self) -> Condition:
        edge = self._edge.condition()
        figures = {
            **edge.figures,
            'simulated under torque [s]': f'{self._applied * self._settings.period:.3f}',
            'periods given up': self._behind,
            'periods behind': (time.monotonic_ns() - self._began - self._elapsed) // self._period
            if not self._settings.is_lockstep
            else 0,
        }
        return Condition(edge.trouble or self._warnings, edge.faults, figures)
