"""Figures of the reachable sets: what is promised is there, and nothing leaves a set."""

import pytest

from safe_sysid.bench import reach as bench_reach
from safe_sysid.bench import runner as bench
from safe_sysid.bench.settings import BenchSettings

KEYS = {
    *('samples', 'escapes', 'sets_ms', 'evaluate_ms', 'certify_ms', 'width_ratio', 'scaling'),
    *('cpu_ms', 'search_sets_ms', 'certify_ms_by_joints', 'certify_ms_by_boxes'),
    *('evaluate_ms_by_boxes', 'certify_ms_voxels', 'median_slack_torque', 'load'),
}


@pytest.fixture
def few_sizes(monkeypatch):
    monkeypatch.setattr(bench_reach, 'FEW_JOINTS', (2, 3))
    monkeypatch.setattr(bench_reach, 'INTERVALS', (8, 16))
    monkeypatch.setattr(bench_reach, 'FEW_OBSTACLES', (0, 10, 200))
    monkeypatch.setattr(bench_reach, 'VOXELS', 20)
    monkeypatch.setattr(bench_reach, 'WIDTH_CHUNKS', 10)


@pytest.mark.nightly
@pytest.mark.usefixtures('few_sizes')
def test_the_promised_figures_are_there(tmp_path):
    settings = BenchSettings(trials=8000, seed=1, quick=True, plots=tmp_path)
    figures = bench.run('reach', settings, lambda _: None)
    assert figures.keys() >= KEYS
    assert (figures['samples'], figures['escapes']) == (8000, 0)
    assert figures['sets_ms'].keys() == {1, 2, 3}
    assert set(figures['width_ratio']) == {f'joint_{i}' for i in range(1, 8)}
    assert all(ratio >= 1.0 for ratio in figures['width_ratio'].values())
    assert figures['occupancy_radius_mm']['plan'] < figures['occupancy_radius_mm']['range']
    assert all(slack > 0.0 for slack in figures['median_slack_torque'].values())
    by = {'degree', 'joints', 'intervals', 'obstacles', 'boxes_apart'}
    assert figures['scaling'].keys() == by
    assert figures['certify_ms_by_joints'].keys() == {2, 3}
    for scene in ('boxes', 'boxes_apart'):
        assert all(ratio > 0.0 for ratio in figures[f'cpu_of_200_to_10_{scene}'].values())
    assert [row['joints'] for row in figures['scaling']['joints']] == [2, 3]
    assert {path.name for path in tmp_path.iterdir()} == {
        f'reach_{name}.svg' for name in figures['scaling']
    }
