"""cyipopt, without loading scipy.optimize for functions of cyipopt that are not called here.

`import cyipopt` takes 0.2 to 0.3 s of a processor, all but a hundredth of it for
`cyipopt.minimize_ipopt` and what belongs to it. They are still there, and load theirs when called.
"""

from __future__ import annotations

from collections.abc import Callable
import importlib
import sys
from types import ModuleType
from typing import Any

INTERFACE = 'cyipopt.scipy_interface'


class _OnCall(ModuleType):
    """Stands for a module of functions; each loads the module when it is called."""

    __all__ = ('IpoptProblemWrapper', 'get_bounds', 'get_constraint_bounds', 'minimize_ipopt')

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a function of this name."""
        if name.startswith('__'):
            raise AttributeError(name)

        def called(*arguments: Any, **named: Any) -> Any:
            function = getattr(importlib.import_module(self.__name__), name)
            return function(*arguments, **named)

        return called


def _imported() -> ModuleType:
    """Import cyipopt; whoever imports its interface for scipy later gets the interface itself."""
    if 'cyipopt' in sys.modules:
        return sys.modules['cyipopt']
    sys.modules[INTERFACE] = _OnCall(INTERFACE)
    try:
        return importlib.import_module('cyipopt')
    finally:
        del sys.modules[INTERFACE]


cyipopt: Any = _imported()
