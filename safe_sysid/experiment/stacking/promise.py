"""What a certificate promises of a task, for which law, and whether it was kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.bench.experiments.planning import at_rest
from safe_sysid.errors import SafeSysidError
from safe_sysid.experiment.stacking.course import (
    GAINS,
    Plant,
    clearance_column,
    pieces_of,
)
from safe_sysid.experiment.stacking.methods import Method
from safe_sysid.experiment.stacking.scene import GAPS, Scene, scene_of
from safe_sysid.experiment.trial import Row
from safe_sysid.measure.clock import Clock
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.reach.tracking_error import tracking_error
from safe_sysid.track.seen_law import Sampling, SeenLaw
from safe_sysid.track.sensed_passivity import SensedPassivityController

INTERVALS, FINE = 80, 320  # time steps of a certificate a second; beside walls


@dataclass(frozen=True, eq=False)
class Proof:
    """Whether the motion of a scene is certified, and for which law."""

    holds: bool
    deciding: str  # margin, or why there is none
    laws: tuple[SeenLaw, ...]  # for each piece, where positions only are read
    controller: SensedPassivityController | None  # then the one that reads them
    false: str  # assumption that the plant breaks
    bound: float  # [rad] of the tracking error
    gap: float | None  # [mm] of the narrowest walls for which it holds

    def promise(self, row: Mapping[str, object]) -> Row:
        """Return what was promised, and whether a task has kept it."""
        left = 1.0 - float(str(row['largest_error_rad'])) / self.bound
        touched = bool(row['touched'])
        if self.gap is not None:
            touched = float(str(row[clearance_column(self.gap)])) <= 0.0
        broken = self.holds and (left < 0.0 or touched or bool(row['limit_broken']))
        broken = broken and not self.false
        return {
            'certified': self.holds,
            'certified_gap_mm': self.gap,
            'certificate_margin': self.deciding[:120],
            'reads': 'velocities' if self.controller is None else 'positions',
            'bound_margin': left,
            'bound_rad': self.bound,
            'assumption_false': self.false,
            'motion_broken': broken,
            'violation': broken or row.get('truth_inside') is False,
        }


def proof_of(
    method: Method, plant: Plant, scene: Scene, model: RobotModel, estimate: ParameterEstimate
) -> Proof:
    """Certify the motion of a scene, for positions only where velocities are wrong.

    Of the narrow path, for the narrowest walls that can be certified.
    """
    sampling = plant.positions if method.law == 'robust' else None
    found = None
    scenes = {gap: scene_of(scene.name, gap) for gap in GAPS} if scene.is_path else {None: scene}
    for gap, each in scenes.items():
        certified = certificate_of(each, model, estimate, sampling)
        if found is None or certified.holds:
            found = replace(certified, gap=gap if certified.holds else None)
        if not certified.holds:
            break
    assert found is not None
    if sampling is None or not found.holds:
        return replace(found, false=method.false or plant.false, laws=())
    controller = SensedPassivityController(model, GAINS, Clock(0), sampling)
    return replace(found, controller=controller, false=method.false)


def certificate_of(
    scene: Scene, model: RobotModel, estimate: ParameterEstimate, sampling: Sampling | None
) -> Proof:
    """Certify a motion piece by piece; sampling: of an arm that is read like it."""
    problem = at_rest(model, estimate, scene.motion.pieces[0].curve.q0, scene.obstacles)
    problem = replace(problem, gains=GAINS, sampling=sampling)
    proven: list[PlanCertificate] = []
    deciding = ''
    try:
        for piece in pieces_of(scene):
            if proven:
                until = proven[-1].problem.horizon.curve.duration
                left = proven[-1].error_shape(until), proven[-1].law_at(until)
                problem = replace(problem, error_at_start=left[0], before=left[1])
            count = int(np.ceil((FINE if scene.is_path else INTERVALS) * piece.curve.duration))
            horizon = Horizon(piece.curve, piece.k, np.zeros_like(piece.k), count)
            problem = replace(problem, horizon=horizon)
            proven.append(ReachableSet.certify_center(problem))
            deciding = str(proven[-1].smallest)
            if not proven[-1].holds:
                break
    except SafeSysidError as error:
        deciding = str(error)
    holds = len(proven) == len(pieces_of(scene)) and proven[-1].holds
    laws = tuple(law for each in proven for law in each.laws)
    bound = float(tracking_error(model, estimate, GAINS).position.max())
    return Proof(holds, deciding, laws, None, '', bound, None)
