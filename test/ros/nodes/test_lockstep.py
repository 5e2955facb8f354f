"""In lockstep a loop of processes does what the loop in one process does, to rounding."""

import numpy as np
import pytest
from ros.reference_loop import moments
from ros.running_loop import changed_settings, observed, running

from safe_sysid.ros.bridges.simulation_bridge import START

# Slow motions, sampled slowly: what is searched for and solved for is found long before its
# budget, which is one of real time, also on a machine that is busy with other things.
SLOW = {
    'planner__planner__duration': 8.0,
    'planner__planner__switch': 4.0,
    'planner__planner__budget': 3.9,
    'planner__planner__search__rounds': 0,
    'identifier__identifier__solve__seconds': 20.0,
    'identifier__identifier__solve_period': 2.0,
    'identifier__identifier__observation__longest_step': 0.0075,
    'identifier__identifier__observation__torque_signal': 'held_until',  # as simulators are run
    'identifier__identifier__observation__position_error': [0.0],
    'identifier__identifier__observation__velocity_error': [0.0],
    'identifier__identifier__observation__torque_error': [0.0],
    'all__period': 0.005,
}
SECONDS = 10.0  # standing still, a plan that teaches, and the beginning of its successor
STEPS = 2000


@pytest.mark.slow
@pytest.mark.parametrize('option', [(), ('--one-process',)], ids=''.join)
def test_lockstep_over_middleware_equals_the_loop_without_it(tmp_path, option):
    settings = changed_settings(tmp_path, 'two_link', **SLOW)
    expected = moments(settings, SECONDS)
    line = ('builtin_sim', '--config', settings, '--lockstep', *option)
    with observed() as observer, running(*line, '-p', 'supervisor:autostart:=false'):
        is_heard = lambda: observer.samples and observer.count_publishers('torque_command')  # noqa: E731
        observer.wait(is_heard, 'nothing moves before somebody looks')
        observer.wait(lambda: observer.call('supervisor/start').success, 'all nodes are there')
        observer.wait(lambda: len(observer.torques) > STEPS, f'{STEPS} samples are answered')
    samples = {stamp(msg.header.stamp): msg for msg in observer.samples}
    torques = {(msg.data[0], msg.data[1]): msg.data[2:] for msg in observer.torques}
    compared = 0
    for i, moment in enumerate(expected):
        here = START + moment.measurement.stamp
        if here not in samples or divmod(here, 10**9) not in torques:
            continue  # nobody waits for the observer
        compared += 1
        msg = samples[here]
        assert np.allclose(msg.position, moment.measurement.position, rtol=0.0, atol=1e-9), i
        assert np.allclose(msg.velocity, moment.measurement.velocity, rtol=0.0, atol=1e-9), i
        torque = torques[divmod(here, 10**9)]
        assert np.allclose(torque, moment.torque, rtol=0.0, atol=1e-7), i
    assert compared > 0.8 * len(expected)  # each follows from all that was before it
    assert len({id(moment.result.plan) for moment in expected}) == 3
    assert len({id(moment.estimate) for moment in expected}) > 2
    moved = np.ptp([moment.measurement.position for moment in expected], axis=0)
    assert moved.max() > 0.2


def stamp(time):
    return time.sec * 10**9 + time.nanosec
