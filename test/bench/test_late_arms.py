"""`safe-sysid bench track --arms`: loops of arms that are read late, and what they break."""

from types import SimpleNamespace

import numpy as np
import pytest

from safe_sysid.bench import late_arms
from safe_sysid.bench.experiments.late_loops import CLAIMS, KINDS, LateLoop, figures_of
from safe_sysid.bench.experiments.late_shipped_arms import late_problem, truth_within
from safe_sysid.bench.late_arms import WITHOUT, loops_of_arms
from safe_sysid.bench.late_readings import WHOLE
from safe_sysid.track.seen_law import Sampling


def loop(clearance=0.1, refusal='', **shares):
    used = dict.fromkeys(KINDS, 0.5) | shares, clearance, refusal, np.ones(1)
    return LateLoop(*used, dict.fromkeys(CLAIMS, 0.5))


def test_broken_promises_are_named():
    found = figures_of(
        WITHOUT[0],
        [
            loop(energy=1.01, velocity=1.2),
            loop(energy=1.001),
            loop(clearance=-0.001),
            loop(refusal='no motion fits'),
            loop(),
        ],
    )
    assert found['broken'] == 4
    assert found['what'] == {'energy': 2, 'velocity': 1, 'clearance': 1, 'no torque any more': 1}
    assert found['energy'] == 1.01


def test_an_arm_at_its_worst_is_within_its_bounds(rng):
    problem = late_problem('fr3', np.array([0.0, -0.78, 0.0, -2.36, 0.0, 1.57, 0.79]), 0.002)
    bounds = problem.bounds.bounds
    theta = truth_within(problem, rng).theta
    assert np.all((bounds.lower <= theta) & (theta <= bounds.upper))
    n = problem.model.n
    chosen = [*range(0, 10 * n, 10), *range(10 * n, len(theta))]  # masses, and all of the joints
    ends = np.stack([bounds.lower, bounds.upper])[:, chosen]
    assert np.all(np.isclose(theta[chosen], ends, rtol=1e-9).any(axis=0))


def test_a_run_that_is_interrupted_tells_of_what_was_run(monkeypatch):
    sampling = Sampling(np.full(7, 1e-5), 1e-3, 2e-4)
    problem = SimpleNamespace(sampling=sampling, gains=SimpleNamespace(V_M=0.002))

    def one(name, _pair, _rng, added):
        if sum(found.values()) == 30:
            raise KeyboardInterrupt
        found[name] += 1
        added[1].append(late_arms._Ran(WHOLE, 'built in', problem, loop()))

    found = dict.fromkeys(('fr3', 'ur5e'), 0)
    monkeypatch.setattr(late_arms, 'ARMS', ('fr3', 'iiwa14', 'ur5e'))
    monkeypatch.setattr(late_arms, '_pair', lambda name, _: None if name == 'iiwa14' else 1)
    monkeypatch.setattr(late_arms, '_one', one)
    said = []
    figures = loops_of_arms(1, 1000, said.append)
    assert figures['loops'] == 30
    assert {name: each['loops'] for name, each in figures['late_arms'].items()} == found
    assert found['ur5e'] == late_arms.LOOPS_EACH  # arms take turns
    assert said[-1] == 'stopped'
    assert not any('zeros' in words for words in figures['late_assumed'])  # signals say it


@pytest.mark.slow
def test_an_fr3_keeps_every_promise_in_three_simulators(monkeypatch):
    monkeypatch.setattr(late_arms, 'ARMS', ('fr3', 'iiwa14'))
    monkeypatch.setattr(late_arms, 'STEPS', (1e-5,))
    monkeypatch.setattr(late_arms, 'STARTS', 2)
    figures = loops_of_arms(1, 3, lambda _: None)
    assert figures['without_certificates'] == ['iiwa14']
    assert figures['loops'] == 3
    assert figures['simulators'] == {'built in': 1, 'Drake': 1, 'MuJoCo': 1}
    assert figures['violations'] == 0
    assert 0.99 < figures['largest_shares']['energy'] <= 1.0
    assert {row['law'] for row in figures['changed_laws']} == set(WITHOUT)
    assert figures['late_arms']['fr3']['loops'] == 3
    (signals,) = figures['signals']
    assert signals.startswith('zeros within 0.0001 rad, base within 0.0002 rad')
