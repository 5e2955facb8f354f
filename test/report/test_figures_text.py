"""Figures as text: a table that shows groups, JSON that keeps full precision."""

import json

import numpy as np

from safe_sysid.report.figures_text import as_json, as_table


def test_table_shows_groups_and_lists_below_their_name():
    table = as_table(
        {
            'law_us': 12.34567,
            'scaling': [{'samples': 10, 'seconds': 0.5}, {'samples': 20, 'seconds': 1.0}],
            'half_widths': {'linear': np.array([1.0, 2.0])},
            'worst': float('inf'),
        }
    )
    assert table.splitlines() == [
        'law_us       12.35',
        'scaling',
        '  samples 10  seconds 0.5',
        '  samples 20  seconds 1',
        'half_widths',
        '  linear  1  2',
        'worst        -',
    ]


def test_json_keeps_full_precision():
    assert json.loads(as_json({'x': np.float64(0.1) + 0.2}))['x'] == 0.1 + 0.2
