"""Tells a terminal what the loop does: modes, bounds as they close, plans, and faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import json
import sys
import time
from typing import Annotated

from diagnostic_msgs.msg import DiagnosticArray
from std_msgs.msg import Float64MultiArray, String

from safe_sysid.config import OneOf, Positive
from safe_sysid.errors import MessageError
from safe_sysid.loop_settings import LoopSettings
from safe_sysid.plan.told_search import told_search
from safe_sysid.ros.messages.codec import estimate_of
from safe_sysid.ros.messages.qos import EVERY_STATE, HEALTH, STATE
from safe_sysid.ros.messages.request_topics import DONE, ERRAND, FAILED
from safe_sysid.ros.process.configured_node import ConfiguredNode
from safe_sysid.ros.process.leaving import EndRequest, LeaveAsMonitor
from safe_sysid.ros.process.main import FAULT, main_of
from safe_sysid.ros.process.parameters import read_config
from safe_sysid.ros.process.words import say
from safe_sysid.ros.watch.health import heard_from
from safe_sysid.ros.watch.stuck_run import StuckRun
from safe_sysid.track.supervisor import Mode

LOOK = 1.0  # [s] between two looks whether the run is stuck
Form = Annotated[str, OneOf(('text', 'json'))]


@dataclass(frozen=True)
class MonitorSettings(LoopSettings):
    """Parameters of the monitor."""

    once: bool = False  # whether to end when the task is done, or at a fault
    form: Form = 'text'  # for people; for programs json, an object per line
    silence: Positive = 60.0  # [s] without word from a node after which such a run ends as stuck:
    # a process that is started again is heard before


class MonitorNode(ConfiguredNode):
    """Listens and prints; has no part in the loop."""

    longest_turn = 60.0  # [s], as another process may leave with a lock of the middleware

    def __init__(self) -> None:
        super().__init__('monitor')
        self._settings = settings = read_config(self, MonitorSettings)
        self._layout = settings.described().layout
        self.leave = LeaveAsMonitor(self)
        self._end = EndRequest(self)
        self._mode = ''
        self._said: dict[str, str] = {}
        self._mass = self._found = self._errand = ''
        self._stamp = 0  # of the newest sample that is in an estimate [ns]
        self._stuck = StuckRun(settings.silence)
        self.create_subscription(String, 'mode', self._on_mode, STATE)
        subscribe = self.create_subscription
        subscribe(Float64MultiArray, 'parameter_estimate', self._on_estimate, EVERY_STATE)
        self.create_subscription(DiagnosticArray, '/diagnostics', self._on_health, HEALTH)
        self._looks = self.create_timer(LOOK, self._end_if_stuck) if settings.once else None

    def _on_mode(self, msg: String) -> None:
        before, self._mode = self._mode, msg.data
        if before == self._mode:
            return
        self._say(f'mode: {self._mode}', mode=self._mode)
        is_done = before == Mode.TASK.value and self._mode == Mode.IDENTIFIED.value
        if self._settings.once and is_done and not self._errand:
            self._say('the task is done')
            self._end.send(0, 'the task is done')

    def _on_estimate(self, msg: Float64MultiArray) -> None:
        try:
            told = estimate_of(msg, self._layout)
        except MessageError as error:
            self._say(str(error))
            return
        estimate, self._stamp = told.estimate, told.stamp
        bounds, nominal = estimate.end_effector_bounds, estimate.end_effector
        mass = f'gripper and payload: {bounds.lower[0]:.3f} to {bounds.upper[0]:.3f} kg'
        if mass != self._mass:
            row = [bounds.lower[0], nominal[0], bounds.upper[0]]
            said = f'{mass}, nominal {nominal[0]:.3f} kg'
            self._say(said, mass=[float(x) for x in row])
        self._mass = mass

    def _on_health(self, msg: DiagnosticArray) -> None:
        for status in msg.status:
            heard = heard_from(status)
            if heard is None or not heard.name.startswith(self.get_namespace()):
                continue
            trouble = heard.trouble
            if trouble and self._said.get(heard.name) != trouble:
                self._say(f'{heard.name}: {trouble}', trouble=trouble)
            self._said.pop(heard.name, None)
            if trouble:
                self._said[heard.name] = trouble
            self._tell_search(heard.figures)
            self._end_at_fault(heard.figures.get('cause', ''))
            self._tell_errand(heard.figures.get(ERRAND, ''))
            if 'silent' in heard.figures:
                self._stuck.hear(heard.figures['silent'], time.monotonic())

    def _tell_search(self, figures: Mapping[str, str]) -> None:
        """Report what the planner found, once."""
        told = told_search(figures)
        if told is not None and told.sentence != self._found:
            self._found = told.sentence
            self._say(f'planner: {told.sentence}', plan=told.sentence, stamp=told.stamp)

    def _tell_errand(self, said: str) -> None:
        """Report the step of an errand, and end with it."""
        if said in ('', self._errand):
            return
        self._errand = said
        self._say(f'errand: {said}', errand=said)
        if self._settings.once and said.startswith((DONE, FAILED)):
            self._end.send(0 if said.startswith(DONE) else FAULT, f'errand {said}')

    def _end_at_fault(self, cause: str) -> None:
        if cause and self._settings.once:
            self._end.send(FAULT, f'fault {cause}')

    def _end_if_stuck(self) -> None:
        """End a run whose task nobody can end."""
        cause = self._stuck.cause(time.monotonic())
        if cause and self._looks is not None:
            self._looks.cancel()
            self._say(f'the task is not done: {cause}')
            self._end.send(FAULT, f'stuck: {cause}')

    def _say(self, sentence: str, **figures: object) -> None:
        """Print a line: the sentence, or an object of it and its figures."""
        line = sentence
        if self._settings.form == 'json':
            line = json.dumps({'sentence': sentence, 'stamp': self._stamp, **figures})
        say(line, sys.stdout)


def main() -> int:
    """Run the node."""
    return main_of(MonitorNode)


if __name__ == '__main__':
    sys.exit(main())
