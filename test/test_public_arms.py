"""The table of loops in docs/own_arm.md has the arms and columns of benchmarks/new_arms.py."""

import importlib.util
from pathlib import Path

import pytest
from test_new_user import described

import safe_sysid as ss

ROOT = Path(__file__).parent.parent


def script():
    """benchmarks/new_arms.py as a module."""
    spec = importlib.util.spec_from_file_location('new_arms', ROOT / 'benchmarks' / 'new_arms.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_loops_is_that_of_the_script():
    text = (ROOT / 'docs' / 'own_arm.md').read_text('utf-8')
    new_arms = script()
    head = '| ' + ' | '.join(new_arms.HEADER) + ' |'
    rows = text.partition(head)[2].partition('\n\n')[0].splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip('|').split('|')] for row in rows]
    assert [row[0] for row in cells] == list(new_arms.ARMS)
    for _, *said in cells:
        assert len(said) == 2
        for words in said:  # succeeds, or says by which limit it cannot, in figures
            assert words.startswith('cannot: ') or ' certified plans in ' in words
            assert any(letter.isdigit() for letter in words)
    assert new_arms.ASSUMED in ' '.join(text.split())


@pytest.mark.nightly
def test_a_loop_says_by_which_limit_it_cannot_and_succeeds_once_calibrated(tmp_path):
    urdf = tmp_path / 'my_arm.urdf'
    urdf.write_text(described(), encoding='utf-8')
    new_arms = script()
    files = ss.new_arm(urdf, ss.NewArmSettings('torque-sensor'), tmp_path / 'out', poses=0).files
    said = new_arms.said_of_loop(files)
    assert said.startswith('cannot: the armature of ')
    assert 'kg m^2 for certain would do for V_M = 0.002 J' in said
    calibrated = new_arms.said_of_loop(new_arms.as_calibrated(files, new_arms.ARMATURE))
    assert 'certified plans' in calibrated
    assert 'its load is within the bounds' in calibrated
