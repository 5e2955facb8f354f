"""`safe-sysid bench track --arms`: closed loops of every arm that has late certificates.

Of each arm pairs of certified plans from random starts, the second one taking over in motion;
loops as in `experiments/late_loops.py`, from V = 0.999 V_M, all that is unknown at an end of its
bounds, in every simulator that is installed. The Kinova is as its described loop has it. Of what
that loop assumes of stamps, zeros, base and jitter, every other arm has the largest of SHARES with
which a pair is certified, and then the coarsest of STEPS. With a share of 0 all of these are
exact, and only steps, a constant delay, drives and bounds are attacked. Some loops are run again
with laws that lack what late readings need: these break promises, which are named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from safe_sysid.bench.experiments.calibrated_arms import ARMS, CalibratedArm
from safe_sysid.bench.experiments.lacking_laws import NOTHING_LACKS, TERMS
from safe_sysid.bench.experiments.late_loops import LateLoop, figures_of, largest, late_loop
from safe_sysid.bench.experiments.late_plans import LatePlans, plans_from, random_pair
from safe_sysid.bench.experiments.late_shipped_arms import (
    late_problem,
    of_drives_and_links,
    signals_of,
    truth_within,
)
from safe_sysid.bench.late_readings import DRIVES, WHOLE, simulators
from safe_sysid.bench.settings import Progress
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.problem import Problem
from safe_sysid.simulate.simulated_arm import Dynamics
from safe_sysid.track.seen_law import Sampling

KINOVA = 'kinova_gen3'
LOOPS_EACH = 12  # of one pair of plans
CHANGED_EACH = 2  # of these are run with every changed law, too
STARTS = 6  # that are tried to find a pair
SHARES = (1.0, 0.2, 0.0)  # of what the loop of the Kinova assumes of signals
STEPS = (3e-5, 1e-5, 1e-6)  # [rad] of encoders
ENERGIES = (0.004, 0.002)  # [J] of every step
WITHOUT = ('r_hat for r', 'from two readings')  # laws that lack terms
REACH = 0.1  # [rad] that plans lead to at most, in every joint

Simulator = Callable[[RobotModel], Dynamics]


class _Ran(NamedTuple):
    """One loop."""

    law: str
    simulator: str
    problem: Problem
    loop: LateLoop


def loops_of_arms(seed: int, trials: int, progress: Progress) -> dict[str, object]:
    """Return figures of every arm and of all of them together; Ctrl-C: of what was run so far."""
    rngs = {name: np.random.default_rng([seed, 13, n]) for n, name in enumerate(ARMS)}
    pairs: dict[str, LatePlans] = {}
    for name, rng in rngs.items():
        progress(f'late certificates of {name}')
        pair = _pair(name, rng)
        if pair is not None:
            pairs[name] = pair
    ran: dict[str, list[_Ran]] = {name: [] for name in pairs}
    try:
        _run(pairs, rngs, ran, (trials, progress))
    except KeyboardInterrupt:
        progress('stopped')
    return {
        **_figures([each for of_arm in ran.values() for each in of_arm]),
        'late_arms': {name: _figures(of_arm) for name, of_arm in ran.items()},
        'without_certificates': [name for name in ARMS if name not in pairs],
        'late_assumed': [f'of all but {KINOVA}: {each}' for each in of_drives_and_links()],
    }


def _run(
    pairs: dict[str, LatePlans],
    rngs: dict[str, np.random.Generator],
    ran: dict[str, list[_Ran]],
    settings: tuple[int, Progress],
) -> None:
    """Run so many loops, of one arm after the other, and add them to what was run."""
    (trials, progress), done = settings, 0
    while done < trials and pairs:
        for name, rng in rngs.items():
            if name not in pairs or done >= trials:
                continue
            pairs[name] = (_pair(name, rng) if ran[name] else None) or pairs[name]
            for i in range(min(LOOPS_EACH, trials - done)):
                _one(name, pairs[name], rng, (i, ran[name]))
                done += 1
            every = [each for of_arm in ran.values() for each in of_arm if each.law == WHOLE]
            broken = sum(each.loop.is_broken for each in every)
            progress(f'{done} of {trials} late loops, {broken} broken; now of {name}')


def _one(
    name: str, pair: LatePlans, rng: np.random.Generator, added: tuple[int, list[_Ran]]
) -> None:
    """Run one loop, the first ones of a pair with changed laws as well."""
    (i, ran), found = added, simulators()
    which = list(found)[i % len(found)]
    begin, problem = int(rng.integers(2**31)), pair.described
    for law in (WHOLE, *WITHOUT) if i < CHANGED_EACH else (WHOLE,):
        each, lack = np.random.default_rng(begin), TERMS.get(law, NOTHING_LACKS)
        truth = None if name == KINOVA else truth_within(problem, each)
        loop = late_loop(pair, each, lack.change, found[which], truth)
        ran.append(_Ran(law, which, problem, loop))


def _pair(name: str, rng: np.random.Generator) -> LatePlans | None:
    if name == KINOVA:
        drives = DRIVES[int(rng.integers(len(DRIVES)))]
        pairs = (random_pair(rng, drives) for _ in range(STARTS))
        return next((pair for pair in pairs if pair is not None), None)
    arm = CalibratedArm.holding(name, '')
    for _ in range(STARTS):
        q = arm.start(rng)
        for share, step, V_M in product(SHARES, STEPS, ENERGIES):
            problem = late_problem(name, q, V_M, share)
            assert problem.sampling is not None
            coarse = replace(problem.sampling, step=np.full(arm.model.n, step))
            pair = plans_from(
                replace(problem, sampling=coarse),
                lambda: rng.uniform(-REACH, REACH, arm.model.n),
            )
            if pair is not None:
                return pair
    return None


def _figures(ran: list[_Ran]) -> dict[str, object]:
    """Count loops and what they broke, with the law as it is and with changed ones."""
    whole = [each for each in ran if each.law == WHOLE]
    kept = [each.loop for each in whole]
    return {
        'loops': len(kept),
        'plans': 2 * len({id(each.problem) for each in whole}),
        'simulators': dict(Counter(each.simulator for each in whole)),
        'steps_rad': sorted({float(np.max(_sampling(each).step)) for each in whole}),
        'signals': sorted({signals_of(_sampling(each)) for each in whole}),
        'V_M': sorted({each.problem.gains.V_M for each in whole}),
        'violations': sum(loop.is_broken for loop in kept),
        'largest_shares': largest(kept),
        'least_clearance_m': min((loop.clearance for loop in kept), default=float('nan')),
        'changed_laws': [
            figures_of(law, [each.loop for each in ran if each.law == law]) for law in WITHOUT
        ],
    }


def _sampling(ran: _Ran) -> Sampling:
    assert ran.problem.sampling is not None
    return ran.problem.sampling
