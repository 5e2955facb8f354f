"""The block of docs/python.md and that of the README run as they are printed."""

from pathlib import Path
import re

from measure.bag.bags import BEGIN, Bag
import numpy as np
import pytest

import safe_sysid as ss

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r'^```python\n(.*?)^```', re.MULTILINE | re.DOTALL)


def block(page):
    return BLOCK.search((ROOT / page).read_text(encoding='utf-8'))[1]


def recorded(name, payload, seed):
    """Write a bag of the Kinova in motion; rows t, q, qd, tau."""
    ss.simulate_recording('table.csv', 'kinova_gen3', payload, motion=20.0, seed=seed)
    table = np.loadtxt('table.csv', delimiter=',', skiprows=1)
    joints = ss.load_arm('kinova_gen3').model.layout.joint_names
    bag = Bag()
    for t, *row in table:
        bag.add(BEGIN + round(t * 1e9), joints, *np.split(np.array(row), 3))
    (file,) = bag.write(Path(f'{name}_folder'), 'mcap').glob('*.mcap')
    file.rename(f'{name}.mcap')
    return [(t, *np.split(np.array(row), 3)) for t, *row in table]


@pytest.mark.nightly
def test_the_block_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stream = recorded('recording', 'dumbbell_8lb', seed=1)
    recorded('empty_1', None, seed=2)
    recorded('empty_2', None, seed=3)
    start = [-0.48, 0.05, -0.12, 0.17, 3.12, 0.13, -1.39]
    names = {'stream': stream, 'start': start, 'goal': [*start[:6], -1.0]}
    exec(compile(block('docs/python.md'), 'docs/python.md', 'exec'), names)
    assert names['result'].refused is None
    assert names['plan'].is_complete
    assert names['run'].fault == ''
    assert names['fit'].refused is None
    assert not names['motion'].warnings
    assert (tmp_path / 'payload.script').is_file()
    names['identifier'].close()


@pytest.mark.slow
def test_the_block_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(block('README.md'), 'README.md', 'exec'), names)
    assert names['result'].refused is None
    assert names['motion'].is_complete
