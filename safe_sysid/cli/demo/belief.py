"""What a wrong belief would have certified: motions of a run, for bounds that are not true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.audit.bag_plans import certified_plan
from safe_sysid.audit.loop_of_bag import RecordedLoop
from safe_sysid.audit.loop_record import promised
from safe_sysid.cli.demo.carrying import Carrying
from safe_sysid.cli.demo.runs import LINK_RATIO, ROBOT
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.html_page import Band, Line, Plot, Section, Table

SHOWN = 3  # joints, those whose torque left the claim most


@dataclass(frozen=True, eq=False)
class Claim:
    """Torques while it is held, (N, n) each [N m]: applied, and claimed under the wrong belief."""

    joint_names: tuple[str, ...]
    time: Array  # (N,) [s]
    tau: Array
    lower: Array
    upper: Array
    learned: tuple[Array, Array]  # bounds that were true
    would_hold: bool  # whether every motion would have got its certificate

    @property
    def outside(self) -> Array:
        """Share of the time that a torque was not where it was claimed to be, (n,)."""
        return np.asarray(((self.tau < self.lower) | (self.tau > self.upper)).mean(axis=0))

    @property
    def beyond(self) -> Array:
        """How far it was outside at most, (n,) [N m]."""
        beyond = np.maximum(self.lower - self.tau, self.tau - self.upper)
        return np.asarray(np.maximum(beyond, 0.0).max(axis=0))

    @property
    def worst(self) -> list[int]:
        """Joints by how far their torque left the claim."""
        return [int(j) for j in np.argsort(-self.beyond)[:SHOWN]]


def empty_gripper() -> ParameterEstimate:
    """Everything known to 5 %, the gripper holds nothing."""
    model = RobotModel.named(ROBOT)
    bounds = ratio_bounds(model.theta, LINK_RATIO)
    return ParameterEstimate(model.layout, model.theta, bounds)


def claim_of(loop: RecordedLoop, carrying: Carrying, belief: ParameterEstimate) -> Claim:
    """Return the motions with something in the hand under a belief that was not the arm's."""
    record = loop.record
    numbers = [i for i, plan in enumerate(loop.plans) if carrying.holds(plan.start_time)]
    parts, holds = [], True
    for number in numbers:
        plan = loop.plans[number]
        wrong = certified_plan(loop.settings, belief, plan.start_time, plan.motion.pieces)
        holds &= bool(getattr(wrong.certificate, 'holds', False))
        parts.append(promised(wrong, record.time[record.plan == number])[3:])
    lower, upper = (np.concatenate(column) for column in zip(*parts, strict=True))
    rows = np.isin(record.plan, numbers)
    learned = record.tau_lower[rows], record.tau_upper[rows]
    time, tau = record.time[rows], record.tau[rows]
    return Claim(record.joint_names, time, tau, lower, upper, learned, holds)


def belief_section(claim: Claim, what_happened: str) -> Section:
    """Part of the page about the wrong belief."""
    rows = tuple(
        (
            name,
            f'{claim.tau[:, j].min():.1f} … {claim.tau[:, j].max():.1f}',
            f'{claim.lower[:, j].min():.1f} … {claim.upper[:, j].max():.1f}',
            f'{100.0 * claim.outside[j]:.0f} %',
            float(claim.beyond[j]),
        )
        for j, name in enumerate(claim.joint_names)
    )
    columns = ('joint', 'applied [N m]', 'claimed [N m]', 'outside', 'by at most [N m]')
    return Section(
        'The same, believing that the gripper is empty',
        what_happened,
        tuple(_plot(claim, j) for j in claim.worst),
        (Table(columns, rows),),
    )


def _plot(claim: Claim, j: int) -> Plot:
    lower, upper = claim.learned
    return Plot(
        f'{claim.joint_names[j]} while the dumbbell is held',
        'torque [N m]',
        (Line('applied', claim.time, claim.tau[:, j]),),
        (
            Band('certified with what was learned', claim.time, lower[:, j], upper[:, j]),
            Band(
                'certified for an empty gripper',
                claim.time,
                claim.lower[:, j],
                claim.upper[:, j],
                color=3,
            ),
        ),
    )
