"""A node as a program: Ctrl-C while it imports."""

import subprocess
import sys

import pytest
from tiers import slow_after

INTERRUPTED = """
import importlib.abc, os, signal, sys

class CtrlC(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == 'rclpy.executors':  # in the middle of the imports of a node
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, CtrlC())
sys.argv = ['/opt/lib/safe_sysid/monitor_node']
from safe_sysid.ros.{module} import main
sys.exit(main())
"""


@pytest.mark.parametrize('module', slow_after(1, ['process.begin', 'nodes.monitor_node']))
def test_ctrl_c_during_imports_ends_a_node_without_a_traceback(module):
    code = INTERRUPTED.replace('{module}', module)
    ended = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, timeout=300
    )
    if module == 'process.begin':
        assert (ended.returncode, ended.stderr) == (0, '')
    else:  # what the program avoids, and how this test sees it
        assert 'KeyboardInterrupt' in ended.stderr
