"""An echo is found with every smoothing and cycle of the driver; an arm is never taken for one."""

import numpy as np
import pytest

from safe_sysid.track.position_echo import AFTER, LASTS, STEP, STILL, PositionEcho, Reported

START = np.array([0.0, 0.5, 0.0, -1.2, 0.0, 0.6, 0.0])


def share(command, target, reported, cycle):
    """Up to 2.1.2: a tenth of the way from what is reported."""
    del cycle
    return command + 0.1 * (target - reported)


def low_pass(command, target, reported, cycle):
    """Later: of first order, 0.04 s."""
    del reported
    return command + (1.0 - np.exp(-cycle / 0.04)) * (target - command)


def judged(smoothing, cycle, arm):
    """Verdict over a driver; `arm` makes a reported position of the commanded one."""
    echo, command, stamp, reported = PositionEcho(), START, 0, START
    while echo.reported is Reported.UNKNOWN:
        assert stamp < 2.5 * LASTS
        target = echo.ask(stamp, reported)
        command = smoothing(command, target, reported, cycle)
        reported = arm(command)
        stamp += round(cycle * 1e9)
    return echo.reported, np.abs(command - START).max()


@pytest.mark.parametrize('cycle', [0.002, 0.005, 0.010])
@pytest.mark.parametrize('smoothing', [share, low_pass])
def test_an_echo_is_found(smoothing, cycle):
    reported, moved = judged(smoothing, cycle, lambda command: command)
    assert reported is Reported.COMMANDED
    assert moved < 1.1 * STEP  # it does not run away


@pytest.mark.parametrize('cycle', [0.002, 0.005, 0.010])
@pytest.mark.parametrize('smoothing', [share, low_pass])
@pytest.mark.parametrize('follows', [0.0, 0.05, 0.3])
def test_an_arm_that_stands_or_gives_way_is_no_echo(rng, smoothing, cycle, follows):
    each = follows * rng.uniform(0.5, 1.5, size=7)
    arm = lambda c: START + each * (c - START) + 2e-6 * rng.uniform(-1.0, 1.0, 7)  # noqa: E731
    reported, left = judged(smoothing, cycle, arm)
    assert reported is Reported.MEASURED
    assert left < 4.0 * STEP  # of what a driver adds up while an arm does not give way


def test_an_arm_that_is_led_by_hand_is_no_echo(rng):
    place = START.copy()

    def arm(_):
        place[:] += rng.uniform(0.0, 1e-3, size=7)
        return place.copy()

    assert judged(low_pass, 0.005, arm)[0] is Reported.MEASURED


def test_under_torque_a_position_that_is_still_to_the_bit_is_an_echo():
    echo = PositionEcho()
    echo.believe()
    for k in range(STILL + 1):
        assert echo.reported is Reported.MEASURED
        echo.watch(START, np.full(7, 0.02 * k))
    assert echo.reported is Reported.COMMANDED


def test_an_arm_that_rested_long_is_no_echo_when_a_torque_jumps():
    """It takes a state or more until a position shows what a torque has done."""
    echo = PositionEcho()
    echo.believe()
    for _ in range(5 * STILL):
        echo.watch(START, np.full(7, 0.5))
    for _ in range(AFTER):
        echo.watch(START, np.full(7, 9.0))
    assert echo.reported is Reported.MEASURED
    echo.watch(START, np.full(7, 9.0))
    assert echo.reported is Reported.COMMANDED


def test_under_torque_an_arm_is_no_echo(rng):
    echo = PositionEcho()
    echo.believe()
    for _ in range(5 * STILL):  # one that stands under a constant torque
        echo.watch(START, np.full(7, 0.5))
    for k in range(5 * STILL):  # and one that moves
        echo.watch(START + 1e-7 * (k % 50 == 0) * rng.uniform(size=7), np.full(7, 0.1 * k))
    assert echo.reported is Reported.MEASURED
