"""Write docs/results.md: tables of the papers, ours beside theirs, by `safe-sysid experiment`.

    python tools/results.py build/results [NAME ...]

Rows are kept in one folder for each experiment, so that a run that was ended goes on. Names choose
which experiments are carried out now; sections of others without rows stay as the page has them.
Beside the rows comes results.html: all tables and figures of those that have rows.
"""

from dataclasses import replace
from pathlib import Path
import sys

import safe_sysid as ss
from safe_sysid.experiment.page import results_page
from safe_sysid.experiment.settings import NAMES, ExperimentSettings
from safe_sysid.report.html_page import write_page

PAGE = Path(__file__).parents[1] / 'docs' / 'results.md'
HEAD = """# Results

Tables of the papers, ours beside theirs, made by `python tools/results.py build/results`. Below
each heading is the command that makes its tables, with versions and seed. What the
papers do not say, and what was chosen here, is in [experiments.md](experiments.md).
"""
# How much of each: whole where minutes suffice, a few trials or the quick form where hours would.
MUCH = {
    'table2': ExperimentSettings(),
    'table3': ExperimentSettings(),
    'table4': ExperimentSettings(),
    'table5': ExperimentSettings(),
    'digit': ExperimentSettings(trials=2),
    'excitation': ExperimentSettings(trials=3),
    'kinematics': ExperimentSettings(trials=5),
    'neighbourhoods': ExperimentSettings(),
    'mechanisms': ExperimentSettings(),
    'falsify': ExperimentSettings(),
}


def _say(sentence: str) -> None:
    sys.stderr.write(f'{sentence}\n')


def _sections(page: str) -> dict[str, list[str]]:
    """Return the sections of a page by their headings."""
    parts = page.split('\n## ')[1:]
    return {part.split('\n', 1)[0]: [f'## {part}'] for part in parts}


def main(arguments: list[str]) -> None:
    """Carry out experiments, and write the page of all that have rows."""
    folder, chosen = Path(arguments[0]), arguments[1:] or list(MUCH)
    sections, before, results = [HEAD], _sections(PAGE.read_text(encoding='utf-8')), []
    for name in MUCH:
        rows = folder / name
        begun = (rows / 'campaign.json').exists()
        if name not in chosen and not begun:
            sections += before.get(NAMES[name], [])
            continue
        where = {'resume': rows} if begun else {'out': rows}
        found = ss.run_experiment(name, replace(MUCH[name], **where), _say)
        results.append(found.result)
        sections.append(found.as_markdown().replace('\n#', '\n##').replace('# ', '## ', 1))
    PAGE.write_text('\n'.join(sections), encoding='utf-8')
    write_page(folder / 'results.html', results_page(results))


if __name__ == '__main__':
    main(sys.argv[1:])
