"""What a loop says while it runs, on standard output, for a process that knows no ROS.

Takes the namespace of the loop. A line is a JSON object: {"nodes": names of the nodes in that
namespace}, {"parameters": text of the parameter file of one node} or {"topic", "type", "cdr"}: a
message as it came, in base64. Of samples and torques only the newest is told, 20 times a second.
Ends when standard input ends.
"""

from __future__ import annotations

import base64
from functools import partial
import json
import select
import signal
import sys
from typing import Any

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from safe_sysid.ros.messages.qos import PLANS, STATE
from safe_sysid.ros.process.distributions import single_threaded_executor
from safe_sysid.ros.process.parameter_survey import ParameterSurvey

TELL, LOOK = 0.05, 0.5  # [s] between what is told of samples, and looks for nodes
# Whoever publishes samples, and in whatever way, is not kept waiting.
NEWEST = QoSProfile(
    depth=1,
    history=HistoryPolicy.KEEP_LAST,
    reliability=ReliabilityPolicy.BEST_EFFORT,
    durability=DurabilityPolicy.VOLATILE,
)
STREAMS: dict[str, type] = {'joint_states': JointState, 'torque_command': Float64MultiArray}
STATES: dict[str, tuple[type, QoSProfile]] = {
    'parameter_estimate': (Float64MultiArray, STATE),
    'certified_estimate': (Float64MultiArray, PLANS),
    'plan_in_force': (JointTrajectory, STATE),
    'mode': (String, STATE),
    'avoided': (MarkerArray, STATE),
}


class LoopListener(Node):
    """Tells what it hears, and has no part in the loop."""

    def __init__(self, namespace: str) -> None:
        super().__init__('watch', namespace=namespace, start_parameter_services=False)
        self._newest: dict[str, dict[str, str]] = {}
        self._nodes: list[str] = []
        self._survey = ParameterSurvey(self, self._on_parameters)
        for name, kind in STREAMS.items():
            topic = self.resolve_topic_name(name)
            keep = partial(self._keep, topic, _type_name(kind))
            self.create_subscription(kind, name, keep, NEWEST, raw=True)
        for name, (kind, profile) in STATES.items():
            topic = self.resolve_topic_name(name)
            tell = partial(self._on_state, topic, _type_name(kind))
            self.create_subscription(kind, name, tell, profile, raw=True)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(TELL, self._tell_newest, clock=steady)
        self.create_timer(LOOK, self._look, clock=steady)

    def _keep(self, topic: str, kind: str, data: bytes) -> None:
        self._newest[topic] = _told(topic, kind, data)

    def _tell_newest(self) -> None:
        for told in self._newest.values():
            _tell(told)
        self._newest.clear()

    def _on_state(self, topic: str, kind: str, data: bytes) -> None:
        _tell(_told(topic, kind, data))

    def _on_parameters(self, text: str) -> None:
        _tell({'parameters': text})

    def _look(self) -> None:
        own = self.get_namespace()
        nodes = sorted(n for n, where in self.get_node_names_and_namespaces() if where == own)
        if nodes != self._nodes:
            self._nodes = nodes
            _tell({'nodes': nodes})
        self._survey.step()


def _type_name(kind: Any) -> str:
    package, name = kind.__module__.split('.')[0], kind.__name__
    return f'{package}/msg/{name}'


def _told(topic: str, kind: str, data: bytes) -> dict[str, str]:
    return {'topic': topic, 'type': kind, 'cdr': base64.b64encode(data).decode()}


def _tell(said: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(said) + '\n')
    sys.stdout.flush()


def _is_left_alone() -> bool:
    """Whether nobody is at the other end of standard input any more."""
    ready, _, _ = select.select([sys.stdin], [], [], 0.0)
    return bool(ready) and not sys.stdin.readline()


def main() -> int:
    """Listen until nobody wants to know any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal; who reads this ends first
    rclpy.init()
    try:
        executor = single_threaded_executor()
        executor.add_node(LoopListener(sys.argv[1]))
        while not _is_left_alone():
            executor.spin_once(timeout_sec=TELL)
    except BrokenPipeError:
        pass
    finally:
        rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
