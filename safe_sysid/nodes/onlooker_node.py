"""Tells a terminal what the loop does: modes, bounds as they close, plans, and faults."""

from __future__ import annotations

from dataclasses import dataclass
import sys

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray, String

from safe_sysid.errors import MessageError
from safe_sysid.nodes.health import heard_from
from safe_sysid.nodes.loop_settings import LoopSettings
from safe_sysid.nodes.messages import estimate_of
from safe_sysid.nodes.process import main_of
from safe_sysid.nodes.qos import HEALTH, STATE
from safe_sysid.nodes.ros_config import read_config
from safe_sysid.track.supervisor import Mode

FAULT = 3  # exit status; a crash has 1


@dataclass(frozen=True)
class OnlookerSettings(LoopSettings):
    """Parameters of the onlooker."""

    once: bool = False  # whether to end when the task is done, or at a fault


class OnlookerNode(Node):
    """Listens and prints; has no part in the loop."""

    def __init__(self) -> None:
        super().__init__('onlooker', automatically_declare_parameters_from_overrides=True)
        self._settings = settings = read_config(self, OnlookerSettings)
        self._layout = settings.described().layout
        self.exit_status: int | None = None
        self._mode = ''
        self._said: dict[str, str] = {}
        self._mass = ''
        self.create_subscription(String, 'mode', self._on_mode, STATE)
        self.create_subscription(Float64MultiArray, 'parameter_estimate', self._on_estimate, STATE)
        self.create_subscription(DiagnosticArray, '/diagnostics', self._on_health, HEALTH)

    def _on_mode(self, msg: String) -> None:
        before, self._mode = self._mode, msg.data
        if before == self._mode:
            return
        _say(f'mode: {self._mode}')
        is_done = before == Mode.TASK.value and self._mode == Mode.IDENTIFIED.value
        if self._settings.once and is_done:
            _say('the task is done')
            self.exit_status = 0

    def _on_estimate(self, msg: Float64MultiArray) -> None:
        try:
            estimate = estimate_of(msg, self._layout).estimate
        except MessageError as error:
            _say(str(error))
            return
        bounds, nominal = estimate.end_effector_bounds, estimate.end_effector
        mass = f'gripper and payload: {bounds.lower[0]:.3f} to {bounds.upper[0]:.3f} kg'
        if mass != self._mass:
            _say(f'{mass}, nominal {nominal[0]:.3f} kg')
        self._mass = mass

    def _on_health(self, msg: DiagnosticArray) -> None:
        for status in msg.status:
            heard = heard_from(status)
            if heard is None or not heard.name.startswith(self.get_namespace()):
                continue
            trouble = heard.trouble
            if trouble and self._said.get(heard.name) != trouble:
                _say(f'{heard.name}: {trouble}')
            self._said[heard.name] = trouble
            self._end_at_fault(heard.figures.get('cause', ''))

    def _end_at_fault(self, cause: str) -> None:
        if cause and self._settings.once:
            self.exit_status = FAULT


def _say(sentence: str) -> None:
    sys.stdout.write(f'{sentence}\n')
    sys.stdout.flush()


def main() -> int:
    """Run the node."""
    return main_of(OnlookerNode)


if __name__ == '__main__':
    sys.exit(main())
