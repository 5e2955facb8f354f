"""A recorded run of the nodes becomes a LoopRecord; its plans are certified again from the bag.

Measurements, torques, estimates and plans are what was recorded. Bounds of torques and tracking
errors are not: they follow from the plans and from the bounds of theta that each was made for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.audit.bag_plans import RecordedPlans, estimate_in, stamp_in, stamp_of
from safe_sysid.audit.bag_settings import PARAMETERS, RecordedSettings, recorded_settings
from safe_sysid.audit.loop_record import LoopRecord, LoopRecorder, PlanningEntry
from safe_sysid.closed_loop import LoopSample
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.bag.messages import BagMessage, bag_messages, bag_topics
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate, ParameterLayout
from safe_sysid.plan.message import name_of, plan_notice
from safe_sysid.plan.result import PlanResult, SearchFinding, SearchOutcome
from safe_sysid.plan.told_search import ToldSearch, told_search
from safe_sysid.trajectory.plan import Plan

# Topics of a loop, in its namespace: where it has one, the driver has a /joint_states of its own.
SAMPLES, TORQUES, ESTIMATES, CERTIFIED, FOLLOWED, MODES = TOPICS = (
    '/joint_states',
    '/torque_command',
    '/parameter_estimate',
    '/certified_estimate',
    '/plan_in_force',
    '/mode',
)
EVENTS = '/payload_event'  # of a gripper
HEALTH = '/diagnostics'  # of everybody
OFFSET = 2  # numbers before the torques of a command
FAULT, TASK, CHANGING = 'fault', 'task', 'changing'


@dataclass(frozen=True, eq=False)
class RecordedLoop:
    """A run, and what it was made with."""

    settings: RecordedSettings
    record: LoopRecord
    plans: tuple[Plan, ...]  # followed, in their order, each with a certificate made anew
    modes: tuple[tuple[float, str], ...]  # [s] and the mode from then on
    grips: tuple[float, ...] = ()  # [s] when a gripper said that it has closed or opened

    @property
    def has_task(self) -> bool:
        """Whether the arm got as far as its task."""
        return any(mode == TASK for _, mode in self.modes)


def loop_of_bag(folder: Path) -> RecordedLoop:
    """Return what a bag of the recorder says about a run."""
    return _heard_in(folder).loop(folder, lambda _: np.inf)


def loop_until_rest(folder: Path) -> RecordedLoop:
    """Return the same up to the end of the last plan.

    How long an arm stands then, before the processes have ended, depends on the machine.
    """
    return _heard_in(folder).loop(folder, lambda plans: plans[-1].end_time)


def _heard_in(folder: Path) -> _Heard:
    texts = [m.data.data for m in bag_messages(folder, (PARAMETERS,))]
    heard = _Heard(recorded_settings(texts))
    namespace = _namespace(folder)
    for message in bag_messages(folder, (*(namespace + t for t in (*TOPICS, EVENTS)), HEALTH)):
        heard.take(message._replace(topic=message.topic.removeprefix(namespace)))
    return heard


def _namespace(folder: Path) -> str:
    """Return the namespace of the loop in a bag, with its slash; empty where it has none."""
    topics = bag_topics(folder)
    found = [t.removesuffix(FOLLOWED) for t in topics if t.endswith(FOLLOWED)]
    if len(found) > 1:
        raise MeasurementError(
            f'{folder} has loops in the namespaces {found}; record one loop into a bag'
        )
    return found[0] if found else ''


@dataclass
class _Heard:
    """What the messages of a run say, in the order they were recorded."""

    settings: RecordedSettings
    samples: dict[int, JointMeasurement] = field(default_factory=dict)  # by stamp [ns]
    torques: dict[int, Array] = field(default_factory=dict)  # by the stamp that they answer
    estimates: list[tuple[int, ParameterEstimate]] = field(default_factory=list)  # changes
    modes: list[tuple[int, str]] = field(default_factory=list)  # stamp of the newest sample
    searches: dict[tuple[int, str], ToldSearch] = field(default_factory=dict)
    grips: list[int] = field(default_factory=list)  # stamps [ns]
    reason: str = ''  # of the first fault

    def __post_init__(self) -> None:
        self.plans = RecordedPlans(self.settings)
        self._told = b''  # newest estimate as it was recorded
        self._newest = 0

    @property
    def _layout(self) -> ParameterLayout:
        return self.settings.model.layout

    def take(self, message: BagMessage) -> None:
        """Take one message."""
        data = message.data
        if message.topic == SAMPLES:
            self._newest = stamp_of(data.header.stamp)
            self.samples[self._newest] = self._measurement(data)
        elif message.topic == TORQUES:
            if len(data.data) > OFFSET:
                self.torques[stamp_in(data)] = np.array(data.data[OFFSET:], dtype=np.float64)
        elif message.topic == ESTIMATES:
            self._take_estimate(data)
        elif message.topic == CERTIFIED:
            estimate = estimate_in(data, self._layout)
            self.plans.estimates[name_of(estimate)] = estimate
        elif message.topic == FOLLOWED:
            self._take_plan(data)
        elif message.topic == EVENTS:
            self.grips.append(stamp_of(data.stamp))
        elif message.topic == MODES:
            if not self.modes or self.modes[-1][1] != data.data:
                self.modes.append((self._newest, data.data))
        else:
            self._take_health(data.status)

    def _measurement(self, data: Any) -> JointMeasurement:
        order = [data.name.index(name) for name in self._layout.joint_names]
        values = [np.asarray(x)[order] for x in (data.position, data.velocity, data.effort)]
        return JointMeasurement(self._newest, *values)

    def _take_plan(self, data: Any) -> None:
        if data.points:
            notice = plan_notice(data, self._layout.joint_names)
            self.plans.notices[notice.start] = notice

    def _take_estimate(self, data: Any) -> None:
        """Where it is another one than before."""
        numbers = data.data[OFFSET:].tobytes()
        if numbers != self._told:
            self._told = numbers
            self.estimates.append((stamp_in(data), estimate_in(data, self._layout)))

    def _take_health(self, statuses: Iterable[Any]) -> None:
        for status in statuses:
            said = {pair.key: pair.value for pair in status.values}
            told = told_search(said) if status.name.endswith('planner') else None
            if told is not None and told.seconds > 0.0:
                self.searches.setdefault((told.stamp, told.sentence), told)
            if status.name.endswith('supervisor') and said.get('cause') and not self.reason:
                self.reason = status.message

    def loop(self, folder: Path, end_of: Callable[[list[Plan]], float]) -> RecordedLoop:
        """Return the run as it was recorded, up to a time [s] that follows from its plans."""
        stamps = sorted(self.samples.keys() & self.torques.keys())
        if not stamps or not self.plans.notices:
            raise MeasurementError(
                f'{folder}: no sample of it was answered by a torque under a plan; nothing moved'
            )
        clock = Clock(stamps[0])
        plans = self.plans.certified(clock)
        begin, end = plans[0].start_time, end_of(plans)
        stamps = [s for s in stamps if begin <= clock.seconds(s) <= end]
        recorder = LoopRecorder(self.settings.model, clock)
        for moment in self._moments(stamps, plans, clock):
            recorder.take(moment)
        record = replace(recorder.record(), planning=self._planning(plans, clock))
        fault = next((stamp for stamp, mode in self.modes if mode == FAULT), None)
        if fault is not None:
            reason = self.reason or 'it is not recorded why'
            record = replace(record, fault=reason, fault_time=clock.seconds(fault))
        modes = tuple((clock.seconds(stamp), mode) for stamp, mode in self.modes)
        grips = tuple(clock.seconds(stamp) for stamp in self.grips)
        return RecordedLoop(self.settings, record, tuple(plans), modes, grips)

    def _moments(self, stamps: list[int], plans: list[Plan], clock: Clock) -> Iterable[LoopSample]:
        results = [
            PlanResult(p, None, SearchFinding(SearchOutcome.FOUND), p.start_time) for p in plans
        ]
        starts = [clock.stamp(p.start_time) for p in plans]
        known = [stamp for stamp, _ in self.estimates]
        for stamp in stamps:
            result = results[max(int(np.searchsorted(starts, stamp, side='right')) - 1, 0)]
            _, estimate = self.estimates[
                max(int(np.searchsorted(known, stamp, side='right')) - 1, 0)
            ]
            yield LoopSample(self.samples[stamp], estimate, result, self.torques[stamp])

    def _planning(self, plans: list[Plan], clock: Clock) -> tuple[PlanningEntry, ...]:
        """Return what the planner said, on the clock of the record."""
        starts = [plan.start_time for plan in plans]
        found = []
        for told in self.searches.values():
            time = clock.seconds(told.stamp)
            number = max(int(np.searchsorted(starts, time, side='right')) - 1, 0)
            found.append(
                PlanningEntry(
                    time, told.outcome.value, told.sentence, told.cost, told.seconds, number
                )
            )
        return tuple(found)
