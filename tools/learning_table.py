"""Print what the loop learnt over MuJoCo, seed by seed, from what its test saw.

python -m pytest -m nightly test/ros/nodes/test_learning_over_mujoco.py --junitxml=seen.xml
python tools/learning_table.py seen.xml
"""

import json
from pathlib import Path
import sys
from xml.etree import ElementTree as ET

HEAD = ('seed', 'holds', 'mass at least [kg]', 'it is', 'at most', 'done after [s]')


def seen_in(report: Path) -> tuple[list[list[object]], int]:
    """Return a row for each seed that passed, and how many there were."""
    rows, count = [], 0
    for case in ET.parse(report).iter('testcase'):
        count += 1
        if case.find('failure') is None and case.find('error') is None:
            found = [each for each in case.iter('property') if each.get('name') == 'learned']
            rows += [json.loads(each.get('value') or '[]') for each in found]
    return rows, count


def main(reports: list[Path]) -> None:
    """Print the table of all reports, and the count."""
    seen = [seen_in(report) for report in reports]
    rows = sorted(row for found, _ in seen for row in found)
    for row in [HEAD, ['---'] * len(HEAD), *rows]:
        sys.stdout.write(f'| {" | ".join(map(str, row))} |\n')
    count = sum(count for _, count in seen)
    sys.stdout.write(f'\n{len(rows)} of {count}: task done, truth inside, no fault\n')


if __name__ == '__main__':
    main([Path(name) for name in sys.argv[1:]])
