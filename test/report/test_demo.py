"""What the demo says is true: the figures it prints are read back and judged."""

import re

from safe_sysid.report.cli import main


def test_demo_prints_agreeing_torques_and_the_payload(capsys):
    assert main(['demo']) == 0
    text = capsys.readouterr().out
    largest, difference = re.search(r'largest torque (\S+) N m.* (\S+) N m$', text, re.M).groups()
    assert float(largest) > 50.0
    assert float(difference) < 1e-9 * float(largest)
    true, exact, noisy = map(
        float, re.search(r'^  m +(\S+) +(\S+) +(\S+)  kg$', text, re.M).groups()
    )
    assert true == exact == 3.62874  # 8 lb
    assert 0.0 < abs(noisy - true) < 0.025 * (7.276 + true)
