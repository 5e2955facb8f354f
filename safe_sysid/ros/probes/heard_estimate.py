"""What a loop that runs knows of what it holds, as one JSON object on standard output.

Takes the namespace of the loop, and how long to wait for it [s]. Publishes nothing. The status of
the identifier is one that came after the estimate, so that no change it knew of is left out.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
import rclpy
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from safe_sysid.ros.messages.codec import OFFSET, SECOND, stamp_of
from safe_sysid.ros.messages.qos import HEALTH, STATE
from safe_sysid.ros.probes.answer import tell
from safe_sysid.ros.probes.heard_loop import NEWEST
from safe_sysid.ros.process.parameter_survey import ParameterSurvey
from safe_sysid.ros.watch.health import NodeStatus, heard_from
from safe_sysid.ros.watch.payload_events import ANNOUNCED_FOR, SEEN
from safe_sysid.track.supervisor import WITHOUT_TORQUE

TURN, LOOK = 0.05, 0.5  # [s] between two turns, and between two looks for nodes
GRACE = 3.0  # [s] for a mode and a sample, which not every identifier has beside it
IDENTIFIER, REPLAY = 'identifier', 'replay_bridge'


class EstimateListener(Node):
    """Keeps what the identifier, the supervisor and the arm say."""

    def __init__(self, namespace: str) -> None:
        super().__init__('estimate_listener', namespace=namespace, start_parameter_services=False)
        self._own = f'{self.get_namespace().rstrip("/")}/{IDENTIFIER}'
        self._parameters = self._mode = ''
        self._estimate: Float64MultiArray | None = None
        self._status: NodeStatus | None = None
        self._newest: int | None = None  # [ns] stamp of a sample
        self._since: float | None = None  # [s] time at which the identifier had said everything
        self._survey = ParameterSurvey(self, self._on_parameters)
        subscribe = self.create_subscription
        subscribe(Float64MultiArray, 'parameter_estimate', self._on_estimate, STATE)
        subscribe(String, 'mode', self._on_mode, STATE)
        subscribe(JointState, 'joint_states', self._on_sample, NEWEST)
        subscribe(DiagnosticArray, '/diagnostics', self._on_health, HEALTH)

    def look(self) -> None:
        """Ask who is new for his parameters."""
        self._survey.step()

    def has_heard(self) -> bool:
        """Whether everybody has spoken, or whoever has not is waited for no longer."""
        if not (self._parameters and self._status):
            return False
        now = time.monotonic()
        self._since = self._since or now
        return bool(self._mode and self._newest) or now > self._since + GRACE

    def said(self) -> dict[str, Any]:
        """Return all of it, or what is missing."""
        estimate, status = self._estimate, self._status
        if estimate is None or status is None or not self._parameters:
            return {'error': self._missing()}
        data, figures = list(estimate.data), status.figures
        here = self.get_namespace()
        nodes = {name for name, where in self.get_node_names_and_namespaces() if where == here}
        return {
            'parameters': self._parameters,
            'labels': [dim.label for dim in estimate.layout.dim],
            'numbers': data[OFFSET:],
            'stamp': int(data[0]) * SECOND + int(data[1]),
            'newest': self._newest,
            'mode': self._mode,
            'torque': self._mode not in ('', *WITHOUT_TORQUE),
            'faults': sorted(cause.value[0] for cause in status.faults),
            'change': figures.get('change', ''),
            'announced': bool(figures.get(ANNOUNCED_FOR)),
            'event': int(figures.get(SEEN, -1)),
            'replays': REPLAY in nodes,
        }

    def _missing(self) -> str:
        found = self.get_node_names_and_namespaces()
        others = sorted(where for name, where in found if name == IDENTIFIER)
        here = self.get_namespace()
        if here in others:
            return f'the identifier in the namespace {here} does not say what it knows'
        seen = f'; one runs in {", ".join(others)}, give --namespace' if others else ''
        return f'no identifier runs in the namespace {here} of this ROS domain{seen}'

    def _on_estimate(self, msg: Float64MultiArray) -> None:
        is_new = self._estimate is None or msg.data[OFFSET:] != self._estimate.data[OFFSET:]
        self._estimate = msg
        if is_new:
            self._status = None  # what it said before need not be about this one

    def _on_health(self, msg: DiagnosticArray) -> None:
        for status in msg.status:
            heard = heard_from(status)
            if heard is not None and heard.name == self._own and self._estimate is not None:
                self._status = heard

    def _on_mode(self, msg: String) -> None:
        self._mode = msg.data

    def _on_sample(self, msg: JointState) -> None:
        self._newest = stamp_of(msg.header.stamp)

    def _on_parameters(self, text: str) -> None:
        if text.startswith(f'{self._own}:'):
            self._parameters = text


def main() -> int:
    """Listen, and print what was heard."""
    namespace, seconds = sys.argv[1], float(sys.argv[2])
    rclpy.init()
    try:
        node = EstimateListener(namespace)
        deadline, looked = time.monotonic() + seconds, 0.0
        while not node.has_heard() and time.monotonic() < deadline:
            if time.monotonic() > looked + LOOK:
                looked = time.monotonic()
                node.look()
            rclpy.spin_once(node, timeout_sec=TURN)
        tell(json.dumps(node.said()))
        return 0
    finally:
        rclpy.try_shutdown()


if __name__ == '__main__':
    sys.exit(main())
