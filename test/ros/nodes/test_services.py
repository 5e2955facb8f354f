"""What can be asked of the loop, over real processes: every mode has a way in and a way out."""

import pytest
from ros.running_loop import changed_settings, observed, running

from safe_sysid.ros.watch.activation import NEEDED


@pytest.mark.slow
def test_a_loop_of_processes_does_what_its_services_ask(tmp_path):
    settings = changed_settings(tmp_path, 'two_link', planner__mission__exciting=100)
    calm = ('-p', 'supervisor:autostart:=false', '-p', 'planner:mission.shrinking:=0.0')
    with (
        observed() as loop,
        running('builtin_sim', '--config', settings, '--lockstep', *calm) as process,
    ):
        loop.wait(lambda: loop.mode == 'idle', 'idle at first')
        refused = loop.call('supervisor/reset_fault')
        assert not refused.success
        assert 'reset_fault means nothing in mode idle; allowed are' in refused.message

        loop.wait(lambda: {*NEEDED} <= {*loop.conditions}, 'all nodes are heard')
        loop.wait(lambda: loop.call('supervisor/start').success, 'it begins')
        loop.wait(lambda: len(plans(loop)) > 1, 'a plan that moves is followed')
        assert loop.mode == 'exciting'

        assert loop.call('supervisor/brake').success
        loop.wait(lambda: loop.mode == 'holding', 'at rest after braking')
        assert loop.modes[-2] == 'braking'

        before = len(plans(loop))
        assert loop.call('supervisor/start').success
        loop.wait(lambda: len(plans(loop)) > before + 1, 'it moves again')
        answer = loop.call('supervisor/new_payload')
        assert answer.success
        assert 'the payload changed while the arm moved' in answer.message
        loop.wait(lambda: loop.mode == 'fault', 'another payload in motion is a fault')
        loop.wait(lambda: loop.conditions['supervisor'].trouble, 'it is in diagnostics')
        assert loop.conditions['supervisor'].figures['cause'] == 'PAYLOAD_CHANGED'

        loop.wait(lambda: loop.call('supervisor/reset_fault').success, 'rest, then the way back')
        assert loop.call('supervisor/stop').success
        loop.wait(lambda: loop.mode == 'idle', 'idle in the end')
    assert process.returncode == 130


def plans(loop):
    """Plans that were followed, each once."""
    return {(p.header.stamp.sec, p.header.stamp.nanosec) for p in loop.plans if p.points}
