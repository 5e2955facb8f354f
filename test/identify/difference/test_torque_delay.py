"""A delay of all torques is found and taken out; what looks like one on a light joint is not."""

from dataclasses import replace

from identify.difference.two_recordings import PAYLOAD, PLAIN, TwoLinks
import numpy as np
import pytest

from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.identify.difference.against_empty import empty_arm, payload_difference
from safe_sysid.identify.difference.answer_text import caution
from safe_sysid.identify.difference.rows import stretch_of
from safe_sysid.identify.difference.torque_delay import TorqueDelay, torque_delay


def late(log, seconds):
    """Report torques some time after their positions."""
    t = np.arange(len(log.tau)) / log.rate
    tau = np.column_stack([np.interp(t - seconds, t, x) for x in log.tau.T])
    return EvenLog(log.rate, log.q, tau)


@pytest.fixture(scope='module')
def recorded():
    arm = TwoLinks(np.random.default_rng(3), noise=0.01)
    return arm, arm.log(PAYLOAD), arm.log(0.0 * PAYLOAD, 40.0)


@pytest.mark.parametrize('seconds', [0.004, 0.012])
def test_a_delay_moves_the_estimate_by_itself(recorded, seconds):
    arm, loaded, empty = recorded
    on_time, delayed = (
        empty_arm(arm.problem(loaded, [log]), 5.0).delay for log in (empty, late(empty, seconds))
    )
    assert delayed.seconds - on_time.seconds == pytest.approx(seconds, abs=0.0005)


def test_a_late_recording_gives_the_payload_of_one_on_time(recorded):
    arm, loaded, empty = recorded
    found = payload_difference(arm.problem(late(loaded, 0.03), [late(empty, 0.03)]))
    assert found.delay.is_corrected
    assert found.delay.seconds == pytest.approx(0.03, abs=0.005)
    on_time = payload_difference(arm.problem(loaded, [empty]))
    assert found.error[1] < 1.3 * on_time.error[1]
    for bounds in (found.statistical_bounds, found.guaranteed_bounds):
        assert bounds.lower[0] <= PAYLOAD[0] <= bounds.upper[0]


def test_a_doubtful_delay_is_an_error_and_a_sure_one_leaves_its_deviation():
    doubtful = TorqueDelay(0.005, 0.004, np.zeros(2), 0.1)
    assert not doubtful.is_corrected
    assert doubtful.left == pytest.approx(np.hypot(0.005, 0.004))
    assert 'not corrected' in str(doubtful)
    sure = replace(doubtful, deviation=0.001)
    assert sure.is_corrected
    assert sure.left == 0.001
    assert not replace(sure, fall=0.01).is_corrected  # it does not pay


def test_a_moved_log_has_torques_of_a_moment_later_and_the_last_one_beyond_its_end():
    t = np.arange(200) / 100.0
    log = EvenLog(100.0, np.zeros((200, 2)), np.outer(t**2, [1.0, 2.0]))
    for delay in (0.005, -0.005):
        (moved,) = TorqueDelay(delay, 0.001, np.zeros(2), 0.1).moved([log])
        there = np.clip(t + delay, 0.0, t[-1])
        assert moved.q is log.q
        np.testing.assert_allclose(moved.tau, np.outer(there**2, [1.0, 2.0]), atol=1e-12)


def test_rows_of_a_moved_log_are_those_of_a_log_that_was_never_late(recorded):
    arm, _, empty = recorded
    stretch = stretch_of(arm.model, empty, 5.0, 0, loaded=False)
    back = TorqueDelay(0.02, 0.001, np.zeros(2), 0.1).moved([late(empty, 0.02)])[0]
    again = stretch.with_torque_of(back)
    assert again.filtered is stretch.filtered
    size = np.abs(stretch.tau).max()
    np.testing.assert_allclose(again.tau, stretch.tau, rtol=0.0, atol=3e-3 * size)


def test_a_refusal_names_the_delay(recorded):
    arm, loaded, empty = recorded
    halved = replace(loaded, tau=loaded.tau * np.array([0.4, 1.0]))
    found = payload_difference(arm.problem(late(halved, 0.02), [late(empty, 0.02)], PLAIN))
    assert 'torque comes about' in found.not_guaranteed


def test_a_joint_that_lacks_friction_does_not_move_the_others(rng):
    """The light joint has Stribeck friction that no column offers."""
    arm = TwoLinks(rng, noise=0.002)
    log = arm.log(0.0 * PAYLOAD, 40.0)
    qd = np.gradient(log.q, 1.0 / log.rate, axis=0)
    more = 0.5 * np.std(log.tau[:, 1]) * np.exp(-((qd[:, 1] / 0.1) ** 2)) * np.sign(qd[:, 1])
    log = replace(log, tau=log.tau + np.column_stack([0.0 * more, more]))
    delay = torque_delay(empty_arm(arm.problem(log, [log]), 5.0).rows)
    assert abs(delay.seconds) < 0.003 + delay.deviation


def test_a_delay_of_the_loaded_recording_alone_is_named(recorded):
    arm, loaded, empty = recorded
    found = payload_difference(arm.problem(late(loaded, 0.06), [empty]))
    assert found.later.seconds == pytest.approx(0.06, abs=0.012)
    assert 'with the payload torque comes' in found.withheld
    small = payload_difference(arm.problem(late(loaded, 0.012), [empty], gain_error=0.01))
    assert small.later.seconds == pytest.approx(0.012, abs=0.003)
    assert 'later after position' in (small.withheld or caution(small))


def test_a_delay_of_all_recordings_is_none_of_the_payload(recorded):
    arm, loaded, empty = recorded
    found = payload_difference(arm.problem(late(loaded, 0.03), [late(empty, 0.03)]))
    assert found.later is None
