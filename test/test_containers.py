"""Container files say what the Makefile and the README say; they are read here, not built."""

import json
from pathlib import Path
import re
import shlex
import subprocess

import pytest

ROOT = Path(__file__).parents[1]
FILES = ('Dockerfile', 'docker/ros/Dockerfile')
INSTRUCTIONS = {'ARG', 'FROM', 'SHELL', 'RUN', 'WORKDIR', 'COPY', 'ENTRYPOINT', 'CMD'}


def instructions(name):
    """Instructions and what they say, lines that are continued put together."""
    text = re.sub(r'^ *#.*\n', '', (ROOT / name).read_text(), flags=re.MULTILINE)
    lines = text.replace('\\\n', ' ').splitlines()
    return [tuple(line.split(maxsplit=1)) for line in lines if line.strip()]


def targets():
    rules = re.findall(r'^([a-z-]+):', (ROOT / 'Makefile').read_text(), flags=re.MULTILINE)
    return set(rules)


def made(command):
    """Targets of a command line of make."""
    return [word for word in shlex.split(command)[1:] if '=' not in word]


@pytest.mark.parametrize('name', FILES)
def test_a_container_file_is_well_formed_and_says_from_which_image(name):
    told = instructions(name)
    assert {each[0] for each in told} <= INSTRUCTIONS
    (image,) = [said for word, said in told if word == 'FROM']
    assert ':' in image
    assert not image.endswith(':latest')
    for word, said in told:
        if word in ('CMD', 'ENTRYPOINT', 'SHELL'):
            assert json.loads(said)
        if word == 'RUN':
            subprocess.run(['bash', '-n', '-c', said], check=True)
        if word == 'RUN' and 'apt-get install' in said:
            assert '--no-install-recommends' in said
        if word == 'COPY':
            source = said.split()[0]
            assert (ROOT / source).exists()


def test_the_container_of_the_tests_uses_targets_of_the_makefile():
    commands = [said for word, said in instructions('Dockerfile') if said.startswith('make ')]
    assert [made(each) for each in commands] == [['kernels'], ['interfaces']]
    container = json.loads((ROOT / '.devcontainer/devcontainer.json').read_text())
    assert (ROOT / '.devcontainer' / container['build']['dockerfile']).resolve().is_file()
    for target in ('kernels', 'interfaces', *made(container['postCreateCommand'])):
        assert target in targets()


def test_the_container_on_a_ros_installation_has_the_commands_of_the_readme():
    readme = (ROOT / 'README.md').read_text()
    said = ' '.join(said for _, said in instructions('docker/ros/Dockerfile'))
    libraries = re.search(r'^pip install (highspy .+)$', readme, flags=re.MULTILINE).group(1)
    assert libraries in said
    assert 'rosdep install --from-paths src --ignore-src' in said
    build = re.search(
        r'`(colcon build [^`]+interfaces)`', (ROOT / 'docs/ros.md').read_text()
    ).group(1)
    assert f'python3 -m {build}' in said
    script = ROOT / 'docker/ros/entrypoint.sh'
    assert script.stat().st_mode & 0o111
    subprocess.run(['bash', '-n', script], check=True)
