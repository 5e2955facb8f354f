"""Python modules of an interface package, generated from its files and compiled, without ROS.

The wheels of ROS have the generators and the headers, and a C++ compiler does the rest in about
ten seconds. The result is kept in a cache folder, under a name that changes with the messages, the
generators and the Python it is for.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
import hashlib
from importlib.metadata import version
import os
from pathlib import Path
import shutil
import subprocess
import sys
import sysconfig
import tempfile

import numpy as np
import pytest

GENERATORS = ('generator-c', 'generator-py', 'typesupport-c', 'typesupport-fastrtps-c')
ROOT = Path(__file__).parents[2]
DATA = ROOT / 'test' / 'data'
KINDS = ('msg', 'srv', 'action')
PREFIX = Path(sys.prefix)
LIBRARIES = (
    'fastcdr',
    'rcutils',
    'rmw',
    'rosidl_runtime_c',
    'rosidl_typesupport_c',
    'rosidl_typesupport_fastrtps_c',
    'rosidl_typesupport_fastrtps_cpp',
)
# Packages whose messages stand inside those that are made.
INSIDE = ('builtin_interfaces', 'service_msgs')
INSIDE_ACTIONS = (
    'action_msgs',
    'unique_identifier_msgs',
    'std_msgs',
    'geometry_msgs',
    'sensor_msgs',
    'trajectory_msgs',
)
PARTS = (
    'rosidl_generator_c',
    'rosidl_generator_py',
    'rosidl_typesupport_c',
    'rosidl_typesupport_fastrtps_c',
)
GENERATE = """
from pathlib import Path
import sys
from rosidl_generator_c.cli import GenerateC
from rosidl_generator_py.cli import GeneratePython
from rosidl_typesupport_c.cli import GenerateCTypesupport
from rosidl_typesupport_fastrtps_c.cli import GenerateFastRTPSCTypesupport
package, output, *files = sys.argv[1:]
shares = sorted(str(path.parent) for path in Path(sys.prefix).glob('share/*/msg'))
only = {'typesupport_implementations': ['rosidl_typesupport_fastrtps_c']}
for generator in (
    GenerateC('c'),
    GeneratePython('py', **only),
    GenerateCTypesupport('typesupport', **only),
    GenerateFastRTPSCTypesupport('fastrtps'),
):
    generator.generate(package, files, shares, Path(output))
"""


def missing_tool() -> str:
    """Sentence about what is missing to compile messages; empty if nothing is."""
    if shutil.which('g++') is None:
        return 'g++ is missing, with which the messages of another package are compiled'
    if not (PREFIX / 'include' / 'rosidl_runtime_c').is_dir():
        return 'ROS is not installed from wheels, whose generators make messages here'
    return ''


@contextmanager
def importable(package: str, home: Path = DATA) -> Iterator[None]:
    """A package can be imported, here and in processes that are started from here."""
    if missing_tool():
        pytest.skip(missing_tool())
    modules = str(modules_of(package, home / package))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(modules)
        patch.setenv('PYTHONPATH', modules, prepend=os.pathsep)
        yield


def modules_of(package: str, folder: Path) -> Path:
    """Folder for `sys.path` that has a package with the interfaces in `folder`."""
    files = sorted(path for kind in KINDS for path in folder.glob(f'{kind}/*.{kind}'))
    home = os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'
    done = Path(home) / 'safe_sysid' / 'messages' / f'{package}-{_key(files)}'
    if done.exists():
        return done
    done.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=done.parent) as scratch:
        code = Path(scratch) / package
        _generate(package, folder, files, code)
        _compile(package, code)
        try:
            Path(scratch).rename(done)
            Path(scratch).mkdir()  # to be deleted
        except OSError:
            assert done.exists(), f'{done} could not be made'  # by another run it can
    return done


def _key(files: list[Path]) -> str:
    """Changes whenever what is made would change."""
    versions = [version(f'ros-rosidl-{name}') for name in GENERATORS]
    parts = [Path(__file__).read_text(), *versions, sysconfig.get_config_var('SOABI'), sys.prefix]
    parts += [file.name + file.read_text() for file in files]
    return hashlib.blake2b('\0'.join(parts).encode(), digest_size=8).hexdigest()


def _generate(package: str, folder: Path, files: list[Path], code: Path) -> None:
    interfaces = [f'{folder}:{file.parent.name}/{file.name}' for file in files]
    environment = {**os.environ, 'AMENT_PREFIX_PATH': str(PREFIX)}
    _run([sys.executable, '-c', GENERATE, package, code, *interfaces], environment)
    (code / '__init__.py').write_text('')


def _compile(package: str, code: Path) -> None:
    """One library with everything, named as the Python module that loads it."""
    module = f'{package}_s__rosidl_typesupport_c'
    include = PREFIX / 'include'
    folders = [include, *include.iterdir(), code.parent, np.get_include()]
    folders.append(sysconfig.get_path('include'))
    flags = [
        '-O0',
        '-fPIC',
        '-w',
        f'-DPyInit_{package}_s__rosidl_typesupport_fastrtps_c=PyInit_{module}',
    ]
    flags += [f'-I{folder}' for folder in folders]
    sources = [*code.rglob('*.c'), *code.rglob('*.cpp')]
    objects = [source.with_suffix('.o') for source in sources]
    environment = {k: v for k, v in os.environ.items() if k != 'LD_LIBRARY_PATH'}
    commands = [
        ['g++' if source.suffix == '.cpp' else 'gcc', *flags, '-c', source, '-o', made]
        for source, made in zip(sources, objects, strict=True)
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda command: _run(command, environment), commands))
    library = [code / f'{module}.so', f'-L{PREFIX}/lib', f'-Wl,-rpath,{PREFIX}/lib']
    others = INSIDE_ACTIONS if (code / 'action').is_dir() else ()
    if not others and (code / 'srv').is_dir():
        others = ('geometry_msgs', 'std_msgs')
    inside = [f'{name}__{part}' for name in (*INSIDE, *others) for part in PARTS]
    names = [f'-l{name}' for name in (*LIBRARIES, *inside)]
    _run(['g++', '-shared', *objects, '-o', *library, *names], environment)


def _run(command: list, environment: dict[str, str]) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f'{command[0]}: {done.stderr[-3000:]}'
