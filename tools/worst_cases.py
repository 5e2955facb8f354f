"""Write the smallest margins of a falsification campaign where tests replay them.

    python tools/worst_cases.py DIR

DIR is what `safe-sysid experiment falsify --out DIR` has filled. Cases that the file has already
are kept; of each cell and promise it keeps the smallest.
"""

import json
from pathlib import Path
import sys

from safe_sysid.experiment.falsify.loops import PROMISES
from safe_sysid.experiment.falsify.trials import cell_of
from safe_sysid.experiment.store import read_rows

CASES = Path(__file__).parents[1] / 'test' / 'experiment' / 'falsify' / 'worst_cases.json'
MOST = 50
REPLAYED = ('V', 'r', 'e', 'de', 'torque', 'position', 'velocity', 'self', 'obstacle', 'rows')


def main(folder: Path) -> None:
    """Merge what is there with what was found."""
    known = json.loads(CASES.read_text(encoding='utf-8')) if CASES.exists() else []
    least = {(case['cell'], case['promise']): case for case in known}
    for row in read_rows(folder):
        for promise in PROMISES:
            if row.get(f'least_{promise}') is None or promise not in REPLAYED:
                continue
            case = {
                'cell': cell_of(row).name,
                'promise': promise,
                'margin': row[f'least_{promise}'],
                'draw': row[f'draw_{promise}'],
            }
            key = case['cell'], promise
            if key not in least or case['margin'] < least[key]['margin']:
                least[key] = case
    cases = sorted(least.values(), key=lambda case: case['margin'])[:MOST]
    CASES.write_text(json.dumps(cases, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main(Path(sys.argv[1]))
