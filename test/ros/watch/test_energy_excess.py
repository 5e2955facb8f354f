"""An error that no plan is certified for is said once it lasts, with the way back."""

import numpy as np
from track.test_takeover import ARM as KINOVA
from track.test_takeover import AT, KNOWN, REST, measured, plan_at

from safe_sysid.model.dynamics.kinetic_energy import kinetic_energy
from safe_sysid.ros.watch.energy_excess import LASTS, EnergyExcess
from safe_sysid.track.plan_succession import PlanSuccession, SuccessionSettings
from safe_sysid.trajectory.plan import Plan

V_M = 0.02
STEP = 10_000_000  # [ns]


def after(energies):
    """What is said after samples with these energies, and how often it began to be."""
    watch = EnergyExcess()
    new = [watch.step((1 + i) * STEP, energy, V_M) for i, energy in enumerate(energies)]
    return watch.trouble, sum(new)


def test_an_energy_between_what_is_certified_and_what_is_a_fault_is_said_once():
    said, times = after([1.05 * V_M] * 200)
    assert times == 1
    assert said.startswith(
        'the energy of the tracking error has been above V_M = 0.02 J for 2.0 s'
    )
    assert 'at least 0.021 J; plans that go on from the one in force are refused: rest on' in said
    assert 'brake and start' in said
    assert 'with `sampling: ideal`, for period, delay and encoder steps' in said
    assert 'guard.rate' in said


def test_neither_noise_nor_what_has_decayed_is_said(rng):
    noisy = V_M * rng.uniform(0.9, 1.09, 2000)
    assert after(noisy) == ('', 0)
    assert after([V_M] * 200) == ('', 0)
    assert after([1.05 * V_M] * 100 + [V_M]) == ('', 1)
    assert after([1.05 * V_M] * int(LASTS * 1e9 / STEP)) == ('', 0)


def test_the_way_back_leads_on_where_the_next_plan_is_refused():
    """At 1.05 V_M: what goes on is refused, and what stands still where the arm is begins."""
    off = np.zeros(7)
    off[1] = 0.01
    least = float(kinetic_energy(KINOVA.model, KNOWN.bounds, AT, 5.0 * off).lower)
    off *= np.sqrt(1.05 * V_M / least)
    succession = PlanSuccession(KINOVA, SuccessionSettings())
    first = plan_at(AT)
    succession.offer(first)
    assert succession.step(0.0, measured(), KNOWN) is first
    on = Plan(4.0, 4.0, first.curve_from(4.0, 3.0), REST, KNOWN.bounds, '', KNOWN.theta)
    succession.offer(on)
    assert succession.step(4.0, measured(AT - off), KNOWN) is first
    assert 'the tracking error has at least 0.021 J' in succession.refusal
    anew = plan_at(AT - off, 5.0)
    succession.offer(anew)
    assert succession.step(5.0, measured(AT - off), KNOWN) is anew
