"""Costs against time: what is promised is there, and no way undoes what it had reached."""

import numpy as np
import pytest

from safe_sysid.bench import runner as bench
from safe_sysid.bench import search
from safe_sysid.bench.settings import BenchSettings
from safe_sysid.plan.result import SearchFinding, SearchOutcome


@pytest.mark.nightly
def test_the_promised_figures_are_there(tmp_path):
    settings = BenchSettings(trials=2, quick=True, plots=tmp_path)
    figures = bench.run('search', settings, lambda _: None)
    assert figures['starts'] == 2
    assert figures['searched'] >= 1
    for costs in figures['cost_below_standing_still'].values():
        assert np.all(np.diff(costs) <= 0.0)
        assert costs[-1] <= 1e-9
    assert figures['cpu_s_by_joints'].keys() == {7, 12}
    assert figures['cpu_of_12_to_7_joints'] > 0.0
    assert figures['pair_of_arms']['joints'] == 14
    assert figures['pair_of_arms']['plans_that_move'] >= 1
    assert [path.name for path in tmp_path.iterdir()] == ['search_cost.svg']


def test_until_its_first_plan_a_search_has_reached_what_standing_still_costs():
    improved = ((0.12, -1.0), (0.4, -3.0))
    finding = SearchFinding(SearchOutcome.FOUND, cost=-3.0, improved=improved)
    reached = search._reached([finding], np.array([-0.5]))
    expected = {0.1: 0.0, 0.15: -0.5, 0.3: -0.5, 0.5: -2.5, 4.0: -2.5}
    for limit, cost in expected.items():
        assert reached[search.AT.index(limit)] == pytest.approx(cost)
