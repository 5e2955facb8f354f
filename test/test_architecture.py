"""The import table of docs/architecture.md, enforced on the syntax trees of the package."""

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from package_statements import written, written_in
import pytest

PACKAGE = Path(__file__).parent.parent / 'safe_sysid'
MODULES = sorted(PACKAGE.rglob('*.py'))
FILES = set(MODULES)

EVERYONE = {
    'arrays',
    'config',
    'errors',
    'input_file',
    'interruption',
    'ipopt_library',
    'output_file',
    'own_python',
    'own_domain',
    'parameter_files',
    'share',
    'versions',
    'worker',
    'yaml_loader',
}  # files beside the folders
OFFLINE = {'identifiability', 'calibrate', 'excite'}
STAGES = {'identify', 'track', 'reach', 'plan', 'simulate'} | OFFLINE
VOCABULARY = {'sets', 'trajectory', 'measure', 'model'}
ABOVE = {
    *('closed_loop', 'changing_loop', 'loop_settings', 'audit', 'report', 'export'),
    *('bringup', 'bench', 'experiment', 'live', 'api'),
}
MAY_IMPORT = {  # folder: the folders it may import besides itself and EVERYONE
    'sets': set(),
    'trajectory': {'sets'},
    'measure': {'sets'},
    'model': {'sets'},
    'simulate': {'sets', 'model', 'measure'},
    'identify': {'sets', 'model', 'measure', 'calibrate'},
    'track': {'sets', 'model', 'measure', 'trajectory'},
    'reach': {'sets', 'model', 'trajectory', 'track'},
    'plan': {'sets', 'model', 'measure', 'trajectory', 'track', 'reach'},
    'identifiability': {'sets', 'model'},
    'calibrate': {'sets', 'model', 'measure', 'identifiability'},
    'excite': {'sets', 'model', 'trajectory', 'identifiability'},
    'audit': VOCABULARY | {'identify', 'track', 'reach', 'plan', 'closed_loop', 'loop_settings'},
    'export': {'sets', 'model', 'identify', 'calibrate', 'report'},
    'bringup': {'sets', 'simulate', 'loop_settings'},
    'bench': VOCABULARY
    | STAGES
    | {'closed_loop', 'changing_loop', 'loop_settings', 'report', 'bringup'},
    'experiment': VOCABULARY
    | STAGES
    | {'closed_loop', 'changing_loop', 'loop_settings', 'report', 'bench'},
    'api': VOCABULARY | STAGES | ABOVE - {'bringup', 'bench', 'live', 'api'},
    'cli': VOCABULARY | STAGES | ABOVE,
    'report': VOCABULARY | STAGES | {'closed_loop', 'loop_settings', 'audit'},
    'live': VOCABULARY | {'identify', 'plan', 'reach', 'audit', 'report', 'loop_settings'},
    'ros': VOCABULARY | STAGES - OFFLINE | {'loop_settings'},
    'loop_settings.py': {'sets', 'model', 'track'},
    'closed_loop.py': VOCABULARY | STAGES - {'identifiability'},
    'changing_loop.py': {'closed_loop', 'sets', 'trajectory', 'measure', 'model'}
    | {'identify', 'track', 'plan'},
}
FRONT = {'__init__.py': {'api'}}  # of the package itself, where types are checked
ONLY_IN = {  # library: the folders or files that may know it
    'rclpy': ('ros/',),
    'launch': (),
    'launch_ros': (),
    'pinocchio': (
        'model/',
        'identifiability/mechanism_regressor.py',
        'identifiability/urdf_kinematics.py',
    ),
    'casadi': ('model/symbolic/library.py',),
    'xacro': ('model/description/xacro_process.py',),
    'rosbags': ('measure/bag/',),
    'pydrake': ('simulate/drake.py',),
    'mujoco': ('simulate/mujoco.py',),
    'highspy': ('identify/linear_programs.py',),
    'cyipopt': (
        'plan/search/ipopt.py',
        'plan/search/linear_solvers.py',
        'identify/log_cholesky_fit.py',
        'calibrate/neighbourhood_fit.py',
    ),
    'clarabel': ('calibrate/sdp_fit.py',),
    'matplotlib': ('report/figures.py',),
    'dask': ('experiment/campaign.py',),
    'distributed': ('experiment/campaign.py',),
    'pyarrow': ('experiment/store.py',),
    'argparse': ('cli/',),
    'yaml': ('config.py', 'yaml_loader.py'),
}


def place(path):
    """Folder of a module, or the file itself when it stands beside the folders."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0]


def imports(nodes):
    """Dotted names that statements import; relative ones with their dots."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            module = '.' * node.level + (node.module or '')
            yield module
            if module == 'safe_sysid':
                yield from (f'safe_sysid.{alias.name}' for alias in node.names)


def complaints(path, nodes):
    """Sentences about every import of a module that the table does not allow."""
    here, name = place(path), path.relative_to(PACKAGE).as_posix()
    for imported in imports(nodes):
        top, _, rest = imported.partition('.')
        if not top:
            yield f'{name} imports {imported}: imports are absolute'
        elif top == 'safe_sysid' and rest:
            folder = rest.partition('.')[0]
            allowed = (MAY_IMPORT | FRONT).get(here, set())
            if folder not in EVERYONE | allowed | {here}:
                yield f'{name} imports {folder}; {here} may import {sorted(allowed)}'
        elif not any(name.startswith(known) for known in known_places(top)):
            yield f'{name} imports {top}, which only {known_places(top)} may know'


def known_places(library):
    """Where a library may be imported; everywhere when nothing is said about it."""
    if library.endswith(('_msgs', '_srvs', '_interfaces')):
        return ONLY_IN['rclpy']
    return ONLY_IN.get(library, ('',))


def test_imports_are_those_of_the_table():
    found = [complaints(path, written(path).imports) for path in MODULES]
    assert [complaint for of_file in found for complaint in of_file] == []


@pytest.mark.parametrize(
    ('file', 'source', 'complaint'),
    [
        ('sets/bad.py', 'from safe_sysid.plan import x', 'sets may import []'),
        ('model/bad.py', 'import safe_sysid.identify.fit', 'model may import'),
        ('model/bad.py', 'from safe_sysid import report', 'model may import'),
        ('plan/bad.py', 'def f():\n    from safe_sysid.ros import x', 'plan may import'),
        ('report/bad.py', 'from safe_sysid.ros import x', 'report may import'),
        ('errors.py', 'from safe_sysid.model import x', 'errors.py may import []'),
        ('model/bad.py', 'import rclpy.node', "only ('ros/',) may know"),
        ('report/bad.py', 'from std_msgs.msg import String', "only ('ros/',) may know"),
        ('plan/bad.py', 'import highspy', "only ('identify/linear_programs.py',) may know"),
        ('cli/main.py', 'import matplotlib.pyplot', "only ('report/figures.py',) may know"),
        ('sets/bad.py', 'from .interval import Interval', 'imports are absolute'),
    ],
)
def test_the_table_refuses(file, source, complaint):
    (found,) = complaints(PACKAGE / file, written_in(source).imports)
    assert complaint in found


def test_the_table_has_no_circle():
    rows = {folder.removesuffix('.py'): allowed for folder, allowed in MAY_IMPORT.items()}
    assert len(list(TopologicalSorter(rows).static_order())) == len(rows)


@cache
def modules_imported(path):
    """Files of the package that a file imports, at any depth."""
    found = []
    for node in written(path).imports:
        if isinstance(node, ast.ImportFrom) and node.module.startswith('safe_sysid'):
            folder = PACKAGE.parent.joinpath(*node.module.split('.'))
            for name in node.names:
                file = (folder / name.name).with_suffix('.py')
                found.append(file if file.exists() else folder.with_suffix('.py'))
    return found


def test_files_do_not_import_each_other_in_circles():
    files = {path: set(modules_imported(path)) & FILES for path in MODULES}
    assert sum(map(len, files.values())) > len(files)
    assert len(list(TopologicalSorter(files).static_order())) == len(files)


CONTROL_PATH = [
    path
    for path in MODULES
    if path.parent.name == 'bridges' or path.stem in ('controller_node', 'supervisor_node')
]
CASADI = PACKAGE / 'model' / 'symbolic' / 'library.py'


def reached(path):
    """Files that a file imports, and that those import, at any depth."""
    found, left = set(), [path]
    while left:
        file = left.pop()
        if file not in found and file in FILES:
            found.add(file)
            left.extend(modules_imported(file))
    return found


@pytest.mark.parametrize('path', CONTROL_PATH, ids=lambda path: path.stem)
def test_the_control_path_never_imports_casadi(path):
    assert CASADI not in reached(path)


def test_an_import_of_casadi_in_a_function_far_away_is_seen():
    assert CASADI in reached(PACKAGE / 'ros' / 'nodes' / 'planner_node.py')


def test_every_folder_is_in_the_table():
    folders = {path.parent.name for path in PACKAGE.glob('*/__init__.py')}
    assert folders <= MAY_IMPORT.keys()


def docstring_complaints(path):
    """Sentences about the docstring of a module."""
    first, _, rest = written(path).docstring.partition('\n')
    if len(first) <= 15:
        yield f'{path} does not say what it is for'
    if rest and not rest.startswith('\n'):
        yield f'{path}: the first line of the docstring runs on'


def test_every_module_says_in_one_line_what_it_is_for():
    assert [complaint for path in MODULES for complaint in docstring_complaints(path)] == []


def test_the_table_in_the_document_is_this_one():
    document = (PACKAGE.parent / 'docs' / 'architecture.md').read_text(encoding='utf-8')
    rows = [line.split('|') for line in document.splitlines() if line.startswith('| `')]
    table = {row[1].strip().strip('`'): row[2].strip() for row in rows}
    everyone = {folder.removesuffix('.py') for folder in MAY_IMPORT}
    for folder, allowed in MAY_IMPORT.items():
        name = folder.removesuffix('.py')
        row = table[name]
        listed = {word.strip(' `') for word in row.removeprefix('everything but').split(',')}
        if row.startswith('everything but'):
            assert everyone - listed - {name} == allowed - {name}, name
        else:
            assert listed - {'–'} == allowed, name
