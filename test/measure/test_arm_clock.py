"""The clock of the arm is that of its samples, and goes on where none come any more."""

import numpy as np
import pytest

from safe_sysid.measure.arm_clock import ArmClock, standing

WALL, SIMULATED = 1_763_744_000_000_000_000, 5_000_000_000  # [ns]
MS, S = 1_000_000, 1_000_000_000  # [ns]
STEP = 1 * MS


class Told:
    """A clock of whose samples everything is told by hand; it begins with one."""

    def __init__(self, stamp=SIMULATED):
        self.steady = 70 * S
        self.clock = ArmClock(lambda: WALL, lambda: self.steady)
        assert self.clock.now() == WALL
        self.first = self.clock.note(stamp)

    def after(self, elapsed, stamp):
        self.steady += elapsed
        return self.clock.note(stamp)


def test_the_first_sample_sets_the_clock_and_later_ones_lead_it():
    told = Told()
    assert told.first == SIMULATED - WALL
    assert told.clock.now() == SIMULATED
    assert told.after(3 * STEP, SIMULATED + STEP) == 0  # a simulator that is slow
    assert told.clock.now() == SIMULATED + STEP


def test_a_clock_that_agrees_with_the_one_before_jumps_nowhere():
    assert Told(WALL - 3 * MS).first == 0


def test_it_goes_on_where_no_sample_comes_any_more_or_the_same_one_again():
    told = Told()
    told.steady += 2 * S
    assert told.clock.now() == SIMULATED + 2 * S
    for stamp in (SIMULATED, SIMULATED - STEP):
        told = Told()
        told.after(600 * MS, stamp)
        assert told.clock.now() == SIMULATED + 600 * MS


def test_in_lockstep_it_stands_between_samples():
    clock = ArmClock(lambda: WALL, standing)
    for step in range(3):
        clock.note(SIMULATED + step * STEP)
        assert clock.now() == SIMULATED + step * STEP


@pytest.mark.parametrize('jump', [-3600 * S, 3600 * S])
def test_a_jump_counts_with_the_second_sample_that_says_so(jump):
    told = Told()
    assert told.after(STEP, SIMULATED + jump) == 0
    assert told.after(STEP, SIMULATED + jump) == 0  # the same one again says nothing more
    assert told.clock.now() == SIMULATED + 2 * STEP
    assert told.after(STEP, SIMULATED + jump + STEP) == jump - 2 * STEP
    assert told.clock.now() == SIMULATED + jump + STEP


@pytest.mark.parametrize('jump', [-3600 * S, 3600 * S])
def test_single_stamps_that_are_wrong_change_nothing(jump, rng):
    told = Told()
    for step in range(1, 200):
        stamp = SIMULATED + step * STEP
        is_wrong = step % 3 == 0
        wrong = jump + int(rng.integers(-2, 3)) * 1000 * S
        assert told.after(STEP, stamp + (wrong if is_wrong else 0)) == 0
        np.testing.assert_allclose(told.clock.now() - SIMULATED, step * STEP)


def test_a_simulator_that_paused_takes_the_clock_back_with_it():
    told = Told()
    told.steady += 10 * S
    assert told.clock.now() == SIMULATED + 10 * S
    told.after(STEP, SIMULATED + STEP)
    assert told.after(STEP, SIMULATED + 2 * STEP) == -10 * S
    assert told.clock.now() == SIMULATED + 2 * STEP
