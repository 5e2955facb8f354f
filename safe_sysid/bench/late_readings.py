"""Part of `safe-sysid bench track`: arms that are read in steps and moved late."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from safe_sysid.bench.experiments.late_arm import START, gains_of, known, late_kinova, sampling_of
from safe_sysid.bench.experiments.late_loops import (
    KINDS,
    LateLoop,
    differentiated,
    late_loop,
    random_pair,
    whole,
    without_ageing,
    without_errors_of_r,
    without_pull,
    without_room,
)
from safe_sysid.bench.experiments.needed_terms import NEEDED
from safe_sysid.bench.experiments.planning import at_rest
from safe_sysid.bench.settings import Progress
from safe_sysid.errors import SafeSysidError, SimulationError
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.drake import DrakeBody
from safe_sysid.simulate.mujoco import MujocoBody
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.simulate.simulated_arm import Dynamics

LOOPS_EACH = 20  # for two plans
TRIES = 5  # to find two that are certified
# time constant [s] of drives, and periods by which torques are late at least; in turn
DRIVES = ((0.0, 1.0), (2e-4, 1.0), (0.0, 0.0))
LAWS = {
    'as it is': whole,
    'without errors of r': without_errors_of_r,
    'without ageing': without_ageing,
    'without pull': without_pull,
    'r_hat for r': without_room,
    'from two readings': differentiated,
}
TERMS = {'pull': without_pull, 'ageing': without_ageing}  # of `needed_terms`
NONE = 1e-12
STAMP, ZERO, TILT = 2e-5, 1e-3, 1e-3  # [s, rad, rad] in the table of costs


def late_figures(seed: int, runs: int, progress: Progress) -> dict[str, object]:
    """Run closed loops with and without the terms for late readings; what each error costs."""
    progress('what each error of late readings costs')
    costs = term_costs()
    loops: dict[str, list[LateLoop]] = {name: [] for name in LAWS}
    bodies, pair, found = simulators(), None, 0
    in_simulator = dict.fromkeys(bodies, 0)
    for i in range(runs):
        if i % LOOPS_EACH == 0:
            progress(f'late loop {i} of {runs}')
            drives = DRIVES[i // LOOPS_EACH % len(DRIVES)]
            rngs = (np.random.default_rng([seed, i, n]) for n in range(TRIES))
            pairs = (random_pair(rng, *drives) for rng in rngs)
            pair = next((each for each in pairs if each is not None), None)
            found += pair is not None
        if pair is None:
            continue
        which = list(bodies)[i % len(bodies)]
        for name, law in LAWS.items():
            if law is whole or i % LOOPS_EACH < LOOPS_EACH // 4:
                rng = np.random.default_rng([seed, i])
                loops[name].append(late_loop(pair, rng, law, bodies[which]))
                in_simulator[which] += law is whole
    kept = loops['as it is']
    return {
        'real_runs': len(kept),
        'real_violations': sum(loop.is_broken for loop in kept),
        'real_terms': _shares(costs),
        'late_simulators': in_simulator,
        'late_plans': 2 * found,
        'late_violations': sum(loop.is_broken for loop in kept),
        'late_loops': [_row(name, each) for name, each in loops.items()],
        'late_needed': _needed(),
        'late_costs': costs,
    }


def _needed() -> list[dict[str, object]]:
    """Largest V / V_M of loops that need one term, with it and without it."""
    found: list[dict[str, object]] = []
    for term, case in NEEDED.items():
        loop = case()
        energies = {
            'with': loop.largest_energy(whole),
            'without': loop.largest_energy(TERMS[term]),
        }
        found.append({'term': term, **energies})
    return found


def simulators() -> dict[str, Callable[[RobotModel], Dynamics]]:
    """Return all simulators that are installed."""
    every: dict[str, Callable[[RobotModel], Dynamics]] = {
        'built in': RigidBody,
        'Drake': DrakeBody,
        'MuJoCo': MujocoBody,
    }
    arm, found = RobotModel.named('two_link'), {}
    for name, body in every.items():
        try:
            body(arm)
        except SimulationError:
            continue
        found[name] = body
    return found


def _shares(costs: list[dict[str, object]]) -> dict[str, float]:
    """Share of the tube that every error takes, by what is left without it."""
    used = {str(row['without']): float(str(row['share_of_tube'])) for row in costs}
    whole = used.pop('nothing')
    return {name: 1.0 - share / whole for name, share in used.items()}


def _row(name: str, loops: list[LateLoop]) -> dict[str, object]:
    """How many loops of a law broke a promise, and the largest share of each."""
    largest = {
        kind: max((loop.shares[kind] for loop in loops), default=float('nan')) for kind in KINDS
    }
    broken = sum(loop.is_broken for loop in loops)
    return {'law': name, 'loops': len(loops), 'broken': broken, **largest}


def term_costs() -> list[dict[str, object]]:
    """Share of the tube and largest v of a plan at rest, with each error left out in turn."""
    return [{'without': name, **_bounds(problem)} for name, problem in _problems().items()]


def _bounds(problem: Problem) -> dict[str, float]:
    try:
        certificate = ReachableSet.certify_center(problem)
    except SafeSysidError:
        nothing = float('nan')
        return {'share_of_tube': nothing, 'r_seen_to': nothing, 'torque_margin': nothing}
    law = certificate.law
    assert law is not None
    return {
        'share_of_tube': law.bounds.sigma / law.bounds.y,
        'r_seen_to': float(law.half_width.max()),
        'torque_margin': certificate.margins['torque'].margin,
    }


def _problems() -> dict[str, Problem]:
    model, rest = late_kinova(), np.zeros(7)
    estimate, gains = known(model), gains_of(model)
    horizon = Horizon(at_rest(model, estimate, START, NO_OBSTACLES).horizon.curve, rest, rest, 32)
    sampling = replace(sampling_of(model), stamp=STAMP, zero=ZERO, tilt=TILT)
    whole = Problem(model, estimate, horizon, gains, NO_OBSTACLES, sampling=sampling)
    problems = {'nothing': whole}
    left_out: dict[str, dict[str, object]] = {
        'encoder steps': {'step': NONE * sampling.step},
        'delay': {'delay': 0.0},
        'stamp errors': {'stamp': 0.0},
        'zero errors': {'zero': 0.0},
        'tilt of gravity': {'tilt': 0.0},
    }
    for name, change in left_out.items():
        problems[name] = replace(whole, sampling=replace(sampling, **change))  # type: ignore[arg-type]
    problems['errors of drives'] = replace(
        whole, gains=replace(gains, torque_ratio=0.0, torque_error=0.0)
    )
    for name, entries in (('dry friction', 'Fc'), ('offsets', 'beta')):
        problems[name] = replace(whole, bounds=_certain(estimate, entries))
    problems['errors of bodies'] = replace(whole, bounds=_certain(estimate, ''))
    return problems


def _certain(estimate: ParameterEstimate, label: str) -> ParameterEstimate:
    """Return the same with entries of a kind known exactly; without a label, those of bodies."""
    layout, bounds = estimate.layout, estimate.bounds
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    place = layout.joint_entries(label) if label else np.arange(10 * layout.n)
    lower[place] = upper[place] = estimate.theta[place]
    return ParameterEstimate(layout, estimate.theta, Interval(lower, upper))
