"""In lockstep a loop of processes does what the loop in one process does, to rounding."""

import numpy as np
from reference_loop import moments
from running_loop import changed_settings, observed, running

SECONDS = 2.4  # standing still, a plan that teaches, and the beginning of its successor
STEPS = round(SECONDS * 1000)


def test_lockstep_over_middleware_equals_the_loop_in_one_process(tmp_path):
    settings = changed_settings(tmp_path, 'two_link')
    expected = moments(settings, SECONDS)
    with observed() as observer, running('builtin_sim', '--config', settings, '--lockstep'):
        observer.wait(lambda: len(observer.torques) > STEPS, f'{STEPS} samples are answered')
    samples = {stamp(msg.header.stamp): msg for msg in observer.samples}
    torques = {(msg.data[0], msg.data[1]): msg.data[2:] for msg in observer.torques}
    first = min(samples)
    moved = 0.0
    for i, moment in enumerate(expected):
        here = first + moment.measurement.stamp
        msg = samples[here]
        assert np.allclose(msg.position, moment.measurement.position, rtol=0.0, atol=1e-9), i
        assert np.allclose(msg.velocity, moment.measurement.velocity, rtol=0.0, atol=1e-9), i
        torque = torques[divmod(here, 10**9)]
        assert np.allclose(torque, moment.torque, rtol=0.0, atol=1e-7), i
        moved = max(moved, np.abs(msg.position - expected[0].measurement.position).max())
    assert moved > 0.1


def stamp(time):
    return time.sec * 10**9 + time.nanosec
