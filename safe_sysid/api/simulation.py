"""simulate: the whole closed loop in simulation, in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from safe_sysid.api.arguments import number, path_from, payload_from, tell_or_silent
from safe_sysid.api.arms import ArmLike, load_arm
from safe_sysid.api.loop_file import LoopFile, read_simulated_loop
from safe_sysid.api.motion import World, obstacles_of, resting_problem
from safe_sysid.api.shown_as_text import ShownAsText
from safe_sysid.api.simulated_recording import write_recording
from safe_sysid.arrays import Array
from safe_sysid.audit.loop_record import LoopRecord, LoopRecorder
from safe_sysid.closed_loop import LoopFault, LoopSample, look, run
from safe_sysid.config import Range
from safe_sysid.identify.online_identifier import IdentifierSettings, OnlineIdentifier
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.inertia import LABELS, UNITS
from safe_sysid.model.payload import Payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.mission import Mission
from safe_sysid.plan.receding_horizon import RecedingHorizonPlanner
from safe_sysid.plan.result import SearchOutcome
from safe_sysid.plan.task_goal import GoalError, refuse_place
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
from safe_sysid.simulate.told_errors import ERRORS, SimulatedReadings, StatedErrors
from safe_sysid.track.chosen_law import law_for
from safe_sysid.track.sensed_passivity import SensedPassivityController
from safe_sysid.trajectory.plan import Plan

CLOCK = Clock(0)  # the simulated arm begins at stamp 0
LOOKING = 0.1  # [s] at an arm in its brakes, where the controller sees positions only
SEED = 1  # of the errors of its sensors


@dataclass(frozen=True, eq=False)
class SimulatedRun(ShownAsText):
    """A run of the loop: what was learned, what was promised, and what the arm did."""

    loop: LoopFile
    obstacles: Obstacles
    record: LoopRecord
    plans: tuple[Plan, ...]
    truth: Array  # (10,) of what the last joint moves
    measurements: JointLog
    is_complete: bool  # nothing was left to do
    task: str = ''  # whether the goal was reached, and how far it is from it; empty: no goal

    @property
    def nominal(self) -> Array:
        """Best estimate of what the last joint moves at the end, (10,)."""
        return np.asarray(self.record.estimates.nominal[-1])

    @property
    def lower(self) -> Array:
        """Guaranteed lower bounds at the end, (10,)."""
        return np.asarray(self.record.estimates.lower[-1])

    @property
    def upper(self) -> Array:
        """Guaranteed upper bounds at the end, (10,)."""
        return np.asarray(self.record.estimates.upper[-1])

    @property
    def fault(self) -> str:
        """Why the arm braked; empty if it did not."""
        return self.record.fault

    def export(self, path: str | PathLike[str]) -> None:
        """Write what was measured as a recording (CSV), as `identify_payload` reads it."""
        measured = self.measurements
        states = (measured.position, measured.velocity, measured.torque)
        write_recording(
            path_from(path), self.loop.model, np.asarray(1e-9 * measured.stamp), states
        )

    def report(self, path: str | PathLike[str]) -> None:
        """Write a page (HTML) with the moving arm, reachable sets, bounds and torques."""
        from safe_sysid.report.arm_scene import loop_scene
        from safe_sysid.report.html_page import write_page
        from safe_sysid.report.loop_page import LoopStory, loop_page

        model, record = self.loop.model, self.record
        scene = loop_scene(model, record, self.obstacles, self.plans, self.truth)
        title = f'{model.name} learns what it holds'
        story = LoopStory(title, str(self).splitlines()[0], record, scene, truth=self.truth)
        write_page(path_from(path), loop_page(story))

    def __str__(self) -> str:
        record = self.record
        certified = f'{len(self.plans)} certified plans {self.obstacles.in_words}'
        lines = [
            f'{self.loop.model.name}: {record.time[-1]:.1f} s, {certified}, '
            + (f'fault: {self.fault}' if self.fault else 'no fault'),
            *([self.task] if self.task else []),
            f'  {"":4} {"lower":>10} {"nominal":>10} {"truth":>10} {"upper":>10}',
        ]
        rows = zip(LABELS, UNITS, self.lower, self.nominal, self.truth, self.upper, strict=True)
        for name, unit, *values in rows:
            lines.append(f'  {name:4} ' + ' '.join(f'{x:10.4f}' for x in values) + f'  {unit}')
        return '\n'.join([*lines, *self.loop.sentences])


def simulate(
    arm: ArmLike,
    payload: Payload | str | PathLike[str] | None = None,
    seconds: float = 10.0,
    goal: Array | None = None,
    world: World = None,
    loop: str | PathLike[str] | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> SimulatedRun:
    """Simulate the closed loop: identify, plan, track, until time is over or all is done.

    Simulated time stands still while plans are searched, so that no machine is too slow. A search
    ends after its budget of real time (`planner.budget` of the loop), so a slow machine may find
    other plans.

    Args:
        arm: what `load_arm` returns or takes.
        payload: what the arm holds (`dumbbell_8lb`, or a YAML file), which the loop is not told;
            None: nothing. What its prior excludes is refused.
        seconds: of simulated time at most [s].
        goal: joint positions [rad], (n,) of the task after learning; None: it only learns.
        world: obstacles, as in `plan`; None: those that the loop file names, `{}`: none.
        loop: settings; default: `config/loop/<arm>.yaml`.
        progress: called with the share done (0 to 1) and a sentence.

    Returns:
        What was learned, with the truth beside it, and everything that was measured.

    """
    loaded = load_arm(arm)
    settings = read_simulated_loop(loaded, loop)
    observing = _observing(settings)
    bare = settings.assumed.model
    held, longest = payload_from(payload), number('seconds', seconds, Range(above=0.0))
    settings.refuse_held(held)
    truth = bare if held is None else bare.with_payload(held)
    obstacles, recorder = obstacles_of(world, settings), LoopRecorder(settings.model, CLOCK)
    watch = _Watch(recorder, longest, tell_or_silent('progress', progress))
    planner, mission = _planner(settings, obstacles, goal)
    _drive(settings, observing, truth, planner, watch)
    moments = recorder.moments
    plans = tuple(dict.fromkeys(moment.result.in_force for moment in moments))
    return SimulatedRun(
        settings,
        obstacles,
        recorder.record(),
        plans,
        truth.theta[truth.layout.end_effector],
        measured(moments),
        moments[-1].result.outcome is SearchOutcome.NOTHING_DUE,
        _task(mission, moments[-1]),
    )


def _task(mission: Mission, last: LoopSample) -> str:
    """Say whether the goal was reached; nothing where there is none."""
    away, result = mission.distance(last.measurement.position), last.result
    if away is None:
        return ''
    if result.outcome is SearchOutcome.NOTHING_DUE:
        return f'the goal is reached: {away:.3g} rad from it'
    return f'the goal is not reached, {away:.3g} rad are left: {result}'


def measured(moments: Sequence[LoopSample]) -> JointLog:
    """Return samples of a run, with the torque that was held until each."""
    samples = [moment.measurement for moment in moments]
    return JointLog(
        np.array([sample.stamp for sample in samples]),
        np.array([sample.position for sample in samples]),
        np.array([sample.velocity for sample in samples]),
        np.array([sample.torque for sample in samples]),
    )


def _planner(
    settings: LoopFile, obstacles: Obstacles, goal: Array | None
) -> tuple[RecedingHorizonPlanner, Mission]:
    first, end = settings.position(None), settings.goal(goal)
    if end is not None:
        try:
            refuse_place(settings.model, end)
        except GoalError as error:
            raise GoalError(f'goal: {error}') from error
    mission = Mission(settings.model, end, settings.mission)
    problem = resting_problem(settings, first, obstacles)
    chosen = settings.planner.at_period(settings.simulator.period)
    planner = RecedingHorizonPlanner(problem, mission, CLOCK, chosen)
    planner.warm_up(first, settings.prior)
    return planner, mission


def _drive(
    settings: LoopFile,
    observing: IdentifierSettings,
    truth: RobotModel,
    planner: RecedingHorizonPlanner,
    watch: _Watch,
) -> None:
    """Run the loop until the watch ends it, or a fault, which the record tells."""
    model, simulator = settings.model, settings.simulator
    first, rng = settings.position(None), np.random.default_rng(SEED)
    robot = SimulatedArm(truth, first, rng, _arm_settings(settings))
    identifier = OnlineIdentifier(
        model, settings.prior, observing, SolvesAtOnce, None, settings.calibrated
    )
    controller = law_for(model, settings.gains, CLOCK, settings.sampling)
    if isinstance(controller, SensedPassivityController):
        look(robot, controller, LOOKING)
    periods, last = watch.periods(simulator.period), None
    try:
        while watch.goes_on():
            last = run(robot, identifier, planner, controller, periods, watch.take, last)
    except LoopFault as fault:
        if fault.last is None:
            raise
    finally:
        identifier.close()


def _arm_settings(settings: LoopFile) -> ArmSettings:
    """Sensors and drives of a simulator: as ideal, or as described, as certificates take them."""
    simulator = settings.simulator
    if settings.sampling is None:
        return ArmSettings(simulator.period, simulator.sensors)
    seen = 'described', 'described'
    return ArmSettings(simulator.period, simulator.sensors, *seen)


def _observing(settings: LoopFile) -> IdentifierSettings:
    """Return settings of the identifier for samples that come with the torque held until then."""
    if settings.sampling is not None:
        return settings.identifier
    stated, readings = settings.identifier.observation, settings.simulator.sensors
    errors = StatedErrors(*(getattr(stated, name) for name in ERRORS))
    told = SimulatedReadings(readings).to_tell(settings.model, errors)
    as_read: dict[str, Any] = {name: tuple(values) for name, values in told.items()}
    observation = replace(
        stated,
        torque_signal='held_until',
        longest_step=1.5 * settings.simulator.period,
        **as_read,
    )
    return replace(settings.identifier, observation=observation)


class _Watch:
    """Whether a run goes on, and how far it is."""

    STRETCH = 0.5  # [s] between two looks at whether all is done

    def __init__(
        self,
        recorder: LoopRecorder,
        seconds: float,
        tell: Callable[..., None],
    ) -> None:
        self._recorder, self._seconds, self._tell = recorder, seconds, tell

    def take(self, moment: LoopSample) -> None:
        """Keep a control period."""
        self._recorder.take(moment)

    def periods(self, period: float) -> int:
        """Return the number of control periods until the next look."""
        return max(1, round(self.STRETCH / period))

    def goes_on(self) -> bool:
        """Whether time is left, and something to do or a motion to finish."""
        if not self._recorder.moments:
            return True
        last = self._recorder.moments[-1]
        now = last.measurement.stamp * 1e-9
        self._tell(min(1.0, now / self._seconds), str(last.result))
        done = last.result.outcome is SearchOutcome.NOTHING_DUE
        return now < self._seconds and not (done and now >= last.result.in_force.end_time)
