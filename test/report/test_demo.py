"""What the demo says is true: the figures it prints are read back and judged."""

from itertools import pairwise
import re

from safe_sysid.report.cli import main


def test_demo_prints_agreeing_torques_and_bounds_that_close_around_the_truth(capsys):
    assert main(['demo']) == 0
    text = capsys.readouterr().out
    largest, difference = re.search(r'largest torque (\S+) N m.* (\S+) N m$', text, re.M).groups()
    assert float(largest) > 50.0
    assert float(difference) < 1e-9 * float(largest)
    masses = [tuple(map(float, m)) for m in re.findall(r'kg   (\S+) to (\S+) kg$', text, re.M)]
    assert len(masses) > 10
    for (lower, upper), (next_lower, next_upper) in pairwise(masses):
        assert lower <= next_lower <= next_upper <= upper
    rows = re.findall(r'^  \w+ +(\S+) +(\S+) +(\S+) +(\S+)  kg.*  (inside|OUTSIDE)$', text, re.M)
    assert len(rows) == 10
    for lower, nominal, upper, truth, verdict in rows:
        assert float(lower) <= float(truth) <= float(upper)
        assert float(lower) <= float(nominal) <= float(upper)
        assert verdict == 'inside'
    assert float(rows[0][2]) - float(rows[0][0]) < 0.5  # kg, of 4.0 before
