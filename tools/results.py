"""Write docs/results.md: tables of the papers, ours beside theirs, by `safe-sysid experiment`.

    python tools/results.py build/results [NAME ...]

Rows are kept in one folder for each experiment, so that a run that was ended goes on. Names choose
which experiments are carried out now; the page has all that are there.
"""

from dataclasses import replace
from pathlib import Path
import sys

import safe_sysid as ss
from safe_sysid.experiment.settings import NAMES, ExperimentSettings

PAGE = Path(__file__).parents[1] / 'docs' / 'results.md'
HEAD = """# Results

Tables of the papers, ours beside theirs, made by `python tools/results.py build/results`. Below
each heading is the command that makes its tables, with versions and seed. What the
papers do not say, and what was chosen here, is in [experiments.md](experiments.md).
"""
# How much of each: whole where minutes suffice, a few trials or the quick form where hours would.
MUCH = {
    'table2': ExperimentSettings(),
    'table3': ExperimentSettings(quick=True),
    'table4': ExperimentSettings(),
    'table5': ExperimentSettings(quick=True),
    'digit': ExperimentSettings(trials=2),
    'excitation': ExperimentSettings(trials=3),
    'kinematics': ExperimentSettings(trials=5),
    'mechanisms': ExperimentSettings(),
}


def _say(sentence: str) -> None:
    sys.stderr.write(f'{sentence}\n')


def main(arguments: list[str]) -> None:
    """Carry out experiments, and write the page of all that have rows."""
    folder, chosen = Path(arguments[0]), arguments[1:] or list(NAMES)
    sections = [HEAD]
    for name in NAMES:
        rows = folder / name
        begun = (rows / 'campaign.json').exists()
        if name not in chosen and not begun:
            continue
        where = {'resume': rows} if begun else {'out': rows}
        found = ss.run_experiment(name, replace(MUCH[name], **where), _say)
        sections.append(found.as_markdown().replace('\n#', '\n##').replace('# ', '## ', 1))
    PAGE.write_text('\n'.join(sections), encoding='utf-8')


if __name__ == '__main__':
    main(sys.argv[1:])
