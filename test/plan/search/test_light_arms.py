"""Arms without armature get plans that move, with exact sensors and 5 % on everything."""

import numpy as np
import pytest
from reach.light_arms import PANDA_HOME, UR5_HOME, panda, problem_of, ur5

from safe_sysid.plan.aims import Approach
from safe_sysid.plan.result import SearchOutcome
from safe_sysid.plan.search.best_plan import Budget, SearchSettings, search


@pytest.mark.parametrize(('arm', 'home'), [(panda, PANDA_HOME), (ur5, UR5_HOME)])
def test_a_goal_half_a_radian_away_is_reached(arm, home):
    model = arm()
    problem, goal = problem_of(model, home, 5e-4), home + 0.5 * np.resize([1.0, -1.0], model.n)
    found = search(problem, Approach(model, goal), Budget.of(60.0), SearchSettings(rounds=1), 1)
    assert found.outcome is SearchOutcome.FOUND
    assert found.certificate.holds
    assert found.certificate.error.tube is not None
    assert home + found.certificate.k == pytest.approx(goal, abs=0.05)
