"""Health of a node on /diagnostics: how it is, which faults it sees, and figures about it.

Every status carries the process id, so that two nodes of one name are noticed, and the names of
the faults that are present, which is how the supervisor learns of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
import os

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from safe_sysid.ros.messages.qos import HEALTH
from safe_sysid.ros.process.lifecycle import Lifecycle
from safe_sysid.track.supervisor import Cause

PERIOD = 0.2  # [s]


@dataclass(frozen=True)
class Condition:
    """How a node is."""

    trouble: str = ''  # a sentence; empty when all is well
    faults: frozenset[Cause] = frozenset()  # present now; without one, trouble is a warning
    figures: Mapping[str, object] = field(default_factory=dict)


class Health:
    """Publishes the condition of a node regularly, and at once where it is told to."""

    def __init__(
        self, node: Node, condition: Callable[[], Condition], life: Lifecycle | None = None
    ) -> None:
        self._node, self._condition, self._life = node, condition, life
        if life is not None:
            life.when_changed = self.announce
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', HEALTH)
        steady = Clock(clock_type=ClockType.STEADY_TIME)  # also when simulated time stands still
        self._timer = node.create_timer(PERIOD, self.announce, clock=steady)

    def announce(self) -> None:
        """Publish the condition now."""
        condition = self._condition()
        if self._life is not None:
            figures = {**condition.figures, **self._life.figures()}
            condition = replace(condition, figures=figures)
        array = DiagnosticArray(status=[status_of(self._node, condition)])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(array)


def status_of(node: Node, condition: Condition) -> DiagnosticStatus:
    """Return the condition of a node as a message."""
    level = DiagnosticStatus.OK
    if condition.trouble or condition.faults:
        level = DiagnosticStatus.ERROR if condition.faults else DiagnosticStatus.WARN
    said = condition.trouble or '; '.join(cause.value[0] for cause in condition.faults)
    faults = ','.join(sorted(cause.name for cause in condition.faults))
    values = {'pid': os.getpid(), 'faults': faults, **condition.figures}
    return DiagnosticStatus(
        level=level,
        name=node.get_fully_qualified_name(),
        message=said or 'well',
        values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
    )


@dataclass(frozen=True)
class NodeStatus:
    """What a status of another node says."""

    name: str
    pid: str
    trouble: str
    faults: frozenset[Cause]
    figures: Mapping[str, str]


def heard_from(status: DiagnosticStatus) -> NodeStatus | None:
    """Return what one of our nodes says; None for what others publish on /diagnostics."""
    values = {pair.key: pair.value for pair in status.values}
    names = values.get('faults')
    if names is None or 'pid' not in values:
        return None
    faults = frozenset(Cause[name] for name in names.split(',') if name in Cause.__members__)
    well = status.level == DiagnosticStatus.OK
    return NodeStatus(status.name, values['pid'], '' if well else status.message, faults, values)
