"""LoopRequests: motions asked of the loop on its topics, and what is known of what is held."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory

from safe_sysid.errors import MessageError
from safe_sysid.model.parameters import ParameterEstimate, ParameterLayout
from safe_sysid.ros.actions.asked import Loop
from safe_sysid.ros.actions.checking import Checking
from safe_sysid.ros.actions.going import Going
from safe_sysid.ros.actions.handle_action import Asking
from safe_sysid.ros.actions.identifying import Bounds
from safe_sysid.ros.messages.codec import estimate_of, time_of
from safe_sysid.ros.messages.handled_places_text import NamedPlace, text_of_places
from safe_sysid.ros.messages.qos import REQUESTS, STATE
from safe_sysid.ros.messages.request_topics import GOAL, GOAL_POSE, PATH, PLACES, WANTED

REMEMBERED = 100  # requests


class LoopRequests:
    """What anybody may ask for by topics, asked for by steps of the supervisor."""

    def __init__(self, node: Node, loop: Loop, layout: ParameterLayout) -> None:
        self._node, self._loop, self._layout = node, loop, layout
        self._estimate: ParameterEstimate | None = None
        self._unread: Float64MultiArray | None = None  # the newest, which nobody has asked for
        self._stamps: deque[int] = deque(maxlen=REMEMBERED)  # of requests
        publisher = node.create_publisher
        self._goals = publisher(JointState, GOAL, REQUESTS)
        self._poses = publisher(PoseStamped, GOAL_POSE, REQUESTS)
        self._paths = publisher(JointTrajectory, PATH, REQUESTS)
        self._places = publisher(String, PLACES, REQUESTS)
        self._wanted = publisher(Float64MultiArray, WANTED, REQUESTS)
        node.create_subscription(Float64MultiArray, 'parameter_estimate', self._hear, STATE)

    @property
    def estimate(self) -> ParameterEstimate | None:
        """Return the newest one; in lockstep it comes with every sample, and few are asked for."""
        unread, self._unread = self._unread, None
        if unread is not None:
            with suppress(MessageError):  # the planner says so
                self._estimate = estimate_of(unread, self._layout).estimate
        return self._estimate

    def asking(self) -> Asking:
        """Return the same for steps that handle something."""
        return Asking(
            self._loop,
            self.going,
            lambda: self.estimate,
            self.bounds,
            self.tell_wanted,
            self.checking,
            self.along,
        )

    def going(self, joints: Any, pose: Any = None) -> Going:
        """Return what leads to a configuration, or to a pose where that has no names."""
        where, message = (self._goals, joints) if joints.name else (self._poses, pose)
        return self._asked(where, message)

    def checking(self, places: Sequence[NamedPlace]) -> Checking:
        """Return what asks whether the arm may stand at places; nothing moves."""

        def tell(stamp: int) -> None:
            self._places.publish(String(data=text_of_places(stamp, places)))

        return Checking(self._loop, self._stamp(), tell)

    def along(self, path: JointTrajectory) -> Going:
        """Return what leads along a path, which begins now by the clock of the arm."""
        return self._asked(self._paths, path, self._loop.now)

    def bounds(self) -> Bounds:
        """Bounds on theta_e; empty before any were heard."""
        estimate = self.estimate
        if estimate is None:
            return [], []
        bounds = estimate.end_effector_bounds
        return bounds.lower.tolist(), bounds.upper.tolist()

    def tell_wanted(self, half_widths: Sequence[float]) -> None:
        """Ask for bounds as narrow as that."""
        self._wanted.publish(Float64MultiArray(data=[float(x) for x in half_widths]))

    def _asked(self, where: Publisher, message: Any, now: int = 0) -> Going:
        """Return what publishes a request until the planner answers, and takes it back.

        Its stamp is by the clock of this node, unless another time is stated [ns].
        """

        def tell(stamp: int) -> None:
            message.header.stamp = time_of(stamp)
            where.publish(message)

        def withdraw(stamp: int) -> None:
            nothing = JointState()
            nothing.header.stamp = time_of(stamp)
            self._goals.publish(nothing)

        return Going(self._loop, self._stamp(now), tell, withdraw)

    def _stamp(self, now: int = 0) -> int:
        """Return a stamp [ns] that no other request has, nor what takes one back, 1 ns later.

        Simulated time may stand still from one request to the next.
        """
        stamp = now or int(self._node.get_clock().now().nanoseconds)
        while any(abs(stamp - other) <= 1 for other in self._stamps):
            stamp += 1
        self._stamps.append(stamp)
        return stamp

    def _hear(self, msg: Float64MultiArray) -> None:
        self._unread = msg
