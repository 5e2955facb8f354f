"""Plots are files with the lines that were asked for."""

from xml.etree import ElementTree

import numpy as np

from safe_sysid.report.figures import Axes, line_plot


def test_plot_names_axes_and_every_series(tmp_path):
    x = np.array([1.0, 10.0, 100.0])
    path = tmp_path / 'scaling.svg'
    series = {'batched': x, 'one by one': 3.0 * x}
    line_plot(path, x, series, Axes('samples', 'seconds [s]', 'log', 'log'))
    assert ElementTree.parse(path).getroot().tag.endswith('svg')
    comments = path.read_text(encoding='utf-8')  # texts are paths, named in comments
    for text in ('samples', 'seconds [s]', 'batched', 'one by one'):
        assert f'<!-- {text} -->' in comments
