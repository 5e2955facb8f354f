"""Where readings alone break the promise of a law that takes them as exact, somebody says so."""

from dataclasses import replace
import re

import numpy as np
import pytest
from ros.reference_loop import settings_of

from safe_sysid.errors import ConfigError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.sensing import reading_errors
from safe_sysid.ros.bridges.builtin_sim_bridge import BuiltinSimSettings
from safe_sysid.share import share_directory
from safe_sysid.track.exact_readings import why_not_exact
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

LOOPS = share_directory() / 'config'


def settings_for(robot, folder='loop', **changes):
    path = LOOPS / folder / f'{robot}.yaml'
    return replace(
        settings_of(path, 'builtin_sim_bridge', BuiltinSimSettings), simulated=True, **changes
    )


def energy_seen(settings, wrong):
    """Least energy that the controller sees, of an arm at rest on its plan and read wrong."""
    arm, q = settings.arm(), np.array(settings.start)
    rest = np.zeros(arm.model.n)
    curve = Bezier(q, rest, rest, 1.0)
    plan = Plan(0.0, 0.5, curve, rest, arm.prior.bounds, None, arm.prior.theta)
    law = RobustPassivityController(arm.model, arm.gains, Clock(0))
    law.step(JointMeasurement(0, q, wrong, rest), plan, arm.prior)
    return law.least_energy


@pytest.mark.parametrize('robot', ['two_link', 'lbr_med7'])
def test_a_loop_that_would_lose_an_arm_as_it_is_read_is_refused(robot):
    exact = settings_for(robot)
    arm, q = exact.arm(), np.array(exact.start)
    errors = reading_errors(arm.model, exact.period).velocity
    seen = [energy_seen(exact, each) for each in np.diag(errors)]
    assert max(seen) > 1.1 * arm.gains.V_M  # a fault, though the arm is where it should be
    said = f'at least {max(seen):.3g} J for a law that takes readings as exact'
    with pytest.raises(ConfigError, match=re.escape(said)):
        replace(exact, readings='described').arm()
    for V_M, is_refused in ((0.999 * max(seen), True), (1.001 * max(seen), False)):
        said = why_not_exact(arm.model, arm.prior.bounds, V_M, exact.period, q)
        assert bool(said) is is_refused


def test_a_loop_that_is_certified_for_what_its_simulator_reads_is_not():
    settings = settings_for('two_link', 'described')
    assert settings.readings == 'described'
    assert settings.arm().sampling is not None
