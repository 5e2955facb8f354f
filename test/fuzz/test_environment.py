"""Any combination of locale, time zone, terminal and home: commands do what they always do."""

import json
import os
import subprocess
import sys

from fuzz.limits import LONGEST, PATIENCE
from fuzz.searched import searched, some_or
from hypothesis import given
from hypothesis import strategies as st

GONE = None
VARIABLES = {
    'LC_ALL': ['C', 'POSIX', 'C.UTF-8', 'de_DE.UTF-8', 'ja_JP.eucJP', 'xx_YY.nothing', '', GONE],
    'LANG': ['C', 'tr_TR.UTF-8', 'xx', GONE],
    'PYTHONIOENCODING': ['ascii', 'latin-1', 'utf-8', 'utf-16'],
    'PYTHONUTF8': ['0', '1'],
    'TZ': ['UTC', 'Asia/Kathmandu', 'Nowhere/None', ':', '<-13>13', ''],
    'COLUMNS': ['1', '20', '0', '-5', 'wide', '999999999', ''],
    'LINES': ['1', 'x'],
    'TERM': ['dumb', 'nothing', '', GONE],
    'NO_COLOR': ['', '1'],
    'FORCE_COLOR': ['1'],
    'HOME': ['/dev/null', '/nowhere', '', GONE],
    'XDG_CACHE_HOME': ['/dev/null/cache', 'relative', ''],
    'TMPDIR': ['/nowhere'],
    'PATH': ['', '/nowhere', GONE],
    'USER': ['', GONE],
    'ROS_DOMAIN_ID': ['x', '-1', '99999', ''],
    'AMENT_PREFIX_PATH': ['/nowhere', ':', ''],
    'ROS_PACKAGE_PATH': ['/dev/null:/nowhere', ':'],
    'OMP_NUM_THREADS': ['many', '0'],
    'PYTHONWARNINGS': ['default', 'nonsense'],
}
CHANGES = st.dictionaries(st.sampled_from(sorted(VARIABLES)), st.integers(0, 7), max_size=6)
QUICK = {  # commands that load no numeric library, and their status
    ('--help',): 0,
    ('identify', '--help'): 0,
    ('--version',): 0,
    ('completion', 'bash'): 0,
    ('identfy',): 2,
    ('excite', 'nowhere.urdf'): 2,
}
ALL = {**QUICK, ('identifiability', 'two_link', '--json'): 0}


def environment(changes):
    """The one of these tests but for some variables."""
    found = {**os.environ}
    for name, number in changes.items():
        value = VARIABLES[name][number % len(VARIABLES[name])]
        if value is GONE:
            found.pop(name, None)
        else:
            found[name] = value
    return found


@some_or(8, 150)
def test_a_command_does_what_it_always_does(search, tmp_path):
    commands = ALL if search.is_nightly else QUICK

    @searched(search)
    @given(CHANGES, st.sampled_from(sorted(commands)))
    def one(changes, words):
        done = subprocess.run(
            [sys.executable, '-m', 'safe_sysid.cli', *words],
            env=environment(changes),
            cwd=tmp_path,
            capture_output=True,
            check=False,
            timeout=LONGEST + PATIENCE,
        )
        said = done.stderr.replace(b'\0', b'')
        assert done.returncode == commands[words], said
        assert b'Traceback' not in said
        if words[-1] == '--json' and 'PYTHONIOENCODING' not in changes:
            assert json.loads(done.stdout)['robot']

    one()
