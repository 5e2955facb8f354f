"""Part of `safe-sysid bench track`: arms that are read in steps and moved late."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from safe_sysid.bench.experiments.lacking_laws import (
    FIGURES,
    LACKS,
    NOTHING_LACKS,
    TERMS,
    without_constant_of_delays,
    without_delay,
    without_errors_of_drives,
    without_jitter,
    without_stamp_errors,
    without_tilt,
    without_zero_errors,
)
from safe_sysid.bench.experiments.late_arm import (
    SLOW,
    START,
    gains_of,
    known,
    late_kinova,
    sampling_of,
)
from safe_sysid.bench.experiments.late_loops import LateLoop, figures_of, late_loop
from safe_sysid.bench.experiments.late_plans import LatePlans, random_pair
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
CHANGED_EACH = 2  # of these are run with every law that lacks something, too
TRIES = 5  # to find two that are certified
DRIVES = (0.0, SLOW)  # [s] time constants of drives, in turn
WHOLE = 'as it is'
ELSEWHERE = (  # lacks of which the arm here has nothing, or too little: `needed_terms` has more
    'without slow drives',
    'without friction at rest',
)
LAWS = {
    WHOLE: NOTHING_LACKS,
    **TERMS,
    **{name: FIGURES[name] for name in FIGURES if name not in ELSEWHERE},
}
NONE = 1e-12


def late_figures(seed: int, runs: int, progress: Progress) -> dict[str, object]:
    """Run closed loops with and without the terms for late readings; what each error costs."""
    progress('what each error of late readings costs')
    costs = term_costs()
    loops: dict[str, list[LateLoop]] = {name: [] for name in LAWS}
    bodies, found = simulators(), 0
    in_simulator, plans = dict.fromkeys(bodies, 0), dict[str, LatePlans | None]()
    for i in range(runs):
        if i % LOOPS_EACH == 0:
            progress(f'late loop {i} of {runs}')
            plans = _plans(seed, i)
            found += plans[WHOLE] is not None
        which = list(bodies)[i % len(bodies)]
        for name, law in LAWS.items():
            pair = plans[name]
            if pair is not None and (name == WHOLE or i % LOOPS_EACH < CHANGED_EACH):
                rng = np.random.default_rng([seed, i])
                loops[name].append(late_loop(pair, rng, law.change, bodies[which]))
                in_simulator[which] += name == WHOLE
    kept = loops[WHOLE]
    return {
        'real_runs': len(kept),
        'real_violations': sum(loop.is_broken for loop in kept),
        'real_terms': _shares(costs),
        'late_simulators': in_simulator,
        'late_plans': 2 * found,
        'late_violations': sum(loop.is_broken for loop in kept),
        'late_loops': [figures_of(name, each) for name, each in loops.items()],
        'late_needed': _needed(),
        'late_costs': costs,
    }


def _plans(seed: int, i: int) -> dict[str, LatePlans | None]:
    """Return two plans that are certified, by what their laws lack; None: none was found."""
    drives = DRIVES[i // LOOPS_EACH % len(DRIVES)]
    rngs = (np.random.default_rng([seed, i, n]) for n in range(TRIES))
    pair = next((each for each in (random_pair(rng, drives) for rng in rngs) if each), None)
    return {
        name: None if pair is None else pair.lacking(law.describe) for name, law in LAWS.items()
    }


def _needed() -> list[dict[str, object]]:
    """Largest V / V_M of loops that need one term, with it and without it."""
    found: list[dict[str, object]] = []
    for term, case in NEEDED.items():
        loop = case()
        energies = {
            'with': loop.largest_energy(),
            'without': loop.largest_energy(LACKS[f'without {term}']),
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
    model, rest = late_kinova(), np.zeros(len(START))
    estimate, gains, sampling = known(model), gains_of(model), sampling_of(model)
    horizon = Horizon(at_rest(model, estimate, START, NO_OBSTACLES).horizon.curve, rest, rest, 32)
    whole = Problem(model, estimate, horizon, gains, NO_OBSTACLES, sampling=sampling)
    return {
        'nothing': whole,
        'encoder steps': replace(whole, sampling=replace(sampling, step=NONE * sampling.step)),
        'delay': without_delay(whole),
        'constant of delays': without_constant_of_delays(whole),
        'jitter': without_jitter(whole),
        'stamp errors': without_stamp_errors(whole),
        'zero errors': without_zero_errors(whole),
        'tilt of gravity': without_tilt(whole),
        'errors of drives': without_errors_of_drives(whole),
        'dry friction': replace(whole, bounds=_certain(estimate, 'Fc')),
        'offsets': replace(whole, bounds=_certain(estimate, 'beta')),
        'errors of bodies': replace(whole, bounds=_certain(estimate, '')),
    }


def _certain(estimate: ParameterEstimate, label: str) -> ParameterEstimate:
    """Return the same with entries of a kind known exactly; without a label, those of bodies."""
    layout, bounds = estimate.layout, estimate.bounds
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    place = layout.joint_entries(label) if label else np.arange(10 * layout.n)
    lower[place] = upper[place] = estimate.theta[place]
    return ParameterEstimate(layout, estimate.theta, Interval(lower, upper))
