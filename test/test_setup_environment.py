"""What `make` says when the machine lacks something, with stand-ins for Python."""

from pathlib import Path
import shutil
import subprocess
import sys

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def sources(tmp_path):
    """The files that the set-up reads, in a folder where nothing is set up."""
    for name in ('tools/setup_environment.sh', 'requirements.lock', 'setup.py', 'setup.cfg'):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def set_up(sources, stand_in):
    """Run the set-up with a shell script in place of Python."""
    python = sources / 'stand_in_python'
    python.write_text(f'#!/bin/sh\n{stand_in}\n', encoding='utf-8')
    python.chmod(0o755)
    return subprocess.run(
        ['tools/setup_environment.sh'],
        cwd=sources,
        env={'PATH': '/usr/bin:/bin', 'PYTHON': str(python)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_python_that_is_too_old_is_named_with_what_is_supported(sources):
    process = set_up(sources, 'echo Python 3.8.10; [ "$1" = --version ]')
    assert process.returncode == 1
    assert 'is no Python 3.10, 3.11, 3.12 or 3.13: Python 3.8.10' in process.stderr


WITHOUT_VENV = f'case "$2" in *ensurepip*) exit 1 ;; esac\nexec {sys.executable} "$@"'


def test_without_the_venv_module_it_says_what_to_install(sources):
    process = set_up(sources, WITHOUT_VENV)
    assert process.returncode == 1
    assert 'sudo apt install python3-venv' in process.stderr
    assert not (sources / '.venv').exists()


def test_a_failed_step_keeps_its_log_and_leaves_no_mark_of_success(sources):
    no_venv = (
        'if [ "$2" = venv ]; then echo "No space left on device"; exit 1; fi\n'
        f'exec {sys.executable} "$@"'
    )
    process = set_up(sources, no_venv)
    assert process.returncode == 1
    assert 'failed while: new environment' in process.stderr
    assert 'the disk is full' in process.stderr
    assert 'No space left' in (sources / 'log/setup_environment.log').read_text(encoding='utf-8')
    assert not (sources / '.venv/safe_sysid.stamp').exists()


def test_nothing_is_done_until_the_lock_changes(sources):
    stamped = (
        f'{sys.executable} -c "import os, sys; print(sys.version, os.getcwd())"'
        ' && sha256sum requirements.lock setup.py setup.cfg'
    )
    stamp = subprocess.check_output(stamped, shell=True, cwd=sources)
    (sources / '.venv').mkdir()
    (sources / '.venv/safe_sysid.stamp').write_bytes(stamp)
    process = set_up(sources, WITHOUT_VENV)
    assert (process.returncode, process.stdout, process.stderr) == (0, '', '')
    (sources / 'requirements.lock').write_text('setuptools==1\n', encoding='utf-8')
    assert 'sudo apt install python3-venv' in set_up(sources, WITHOUT_VENV).stderr
