"""Write the failsafe matrix into docs/ros.md, from what its test saw.

    python -m pytest -m "slow or nightly" test/ros/failsafe --junitxml=seen.xml
    python tools/failsafe_table.py seen.xml

Several reports count together; a fault that several arms bear alike has one row.
"""

import json
from pathlib import Path
import sys
from xml.etree import ElementTree as ET

PAGE = Path(__file__).parents[1] / 'docs' / 'ros.md'
BEGIN, END = '<!-- failsafe matrix -->\n', '<!-- end of the failsafe matrix -->\n'
HEAD = ('fault', 'arm', 'what it does', 'the cause is named', 'in words such as', 'back')


def seen_in(report: Path) -> list[list[str]]:
    """Return fault, arm, what it does, causes, words and way back of each cell that passed."""
    found = []
    for case in ET.parse(report).iter('testcase'):
        if case.find('failure') is not None or case.find('error') is not None:
            continue
        for each in case.iter('property'):
            if each.get('name') == 'cell':
                fault, robot, does, causes, words, back = json.loads(each.get('value') or '[]')
                named = ', '.join(f'`{cause}`' for cause in causes) or '–'
                found.append([fault, robot, does, named, words.replace('|', '/') or '–', back])
    return found


def merged(cells: list[list[str]]) -> list[list[str]]:
    """Return rows by fault, one of them where all arms do the same for the same reason."""
    rows: dict[tuple[str, ...], list[str]] = {}
    order = list(dict.fromkeys(fault for fault, *_ in cells))
    for cell in sorted(cells, key=lambda cell: order.index(cell[0])):
        fault, robot, does, named, _, back = cell
        row = rows.setdefault((fault, does, named, back), list(cell))
        if robot not in row[1].split(', '):
            row[1] += f', {robot}'
    return list(rows.values())


def main(reports: list[Path]) -> None:
    """Replace the table."""
    text = PAGE.read_text(encoding='utf-8')
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    rows = [HEAD, ['---'] * len(HEAD), *merged([cell for x in reports for cell in seen_in(x)])]
    table = ''.join(f'| {" | ".join(row)} |\n' for row in rows)
    PAGE.write_text(before + BEGIN + table + END + after, encoding='utf-8')


if __name__ == '__main__':
    main([Path(name) for name in sys.argv[1:]])
