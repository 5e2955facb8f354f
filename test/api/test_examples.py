"""Every example and notebook runs as a reader has it, in a folder of its own."""

import json
from pathlib import Path
import runpy

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / 'examples').glob('*.py'))
NOTEBOOKS = sorted((ROOT / 'examples').glob('*.ipynb'))
SHORT = 20  # lines, of the first five
SLOW = (
    '02_identifiable_parameters',
    '03_simulate_the_loop',
    '04_identify_a_payload',
    '06_certify_for_other_payloads',
    '07_identify_online',
    '08_design_an_excitation',
    '11_own_costs',
    '12_nonlinear_mpc',
    'nonlinear_mpc',
)
NIGHTLY = ('09_calibrate_an_arm', '10_excite_identify_hand_over', 'identify_a_payload')


def each(paths):
    """Return examples as parameters; the long ones are slow or nightly tests."""
    marks = {
        **dict.fromkeys(SLOW, pytest.mark.slow),
        **dict.fromkeys(NIGHTLY, pytest.mark.nightly),
    }
    return [pytest.param(p, id=p.stem, marks=marks.get(p.stem, ())) for p in paths]


@pytest.mark.parametrize('path', each(EXAMPLES))
def test_an_example_runs(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name='__main__')
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize('path', each(NOTEBOOKS))
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = json.loads(path.read_text(encoding='utf-8'))['cells']
    namespace: dict[str, object] = {}
    for cell in cells:
        if cell['cell_type'] == 'code':
            exec(compile(''.join(cell['source']), path.name, 'exec'), namespace)
    assert namespace['result']._repr_html_().startswith('<pre>')


def test_examples_are_numbered_and_the_first_five_are_short():
    assert [path.stem[:2] for path in EXAMPLES] == [f'{i:02}' for i in range(1, 13)]
    assert len(NOTEBOOKS) == 3
    for path in EXAMPLES[:5]:
        assert len(path.read_text(encoding='utf-8').splitlines()) < SHORT
