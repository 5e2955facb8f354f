"""Which versions of what are installed, and how many cores this process may use."""

import os
import platform

PACKAGES = {  # import name: the distributions that can provide it
    'safe_sysid': ('safe_sysid',),
    'numpy': ('numpy',),
    'scipy': ('scipy',),
    'numba': ('numba',),
    'pinocchio': ('pin', 'pinocchio'),
    'yaml': ('PyYAML',),
    'highspy': ('highspy',),
    'cyipopt': ('cyipopt-wheels', 'cyipopt'),
    'matplotlib': ('matplotlib',),
    'rclpy': ('ros-rclpy', 'rclpy'),
}


def versions() -> dict[str, str | None]:
    """Version of Python and of each package by import name, none where it isn't installed."""
    return {'python': platform.python_version()} | {name: version(name) for name in PACKAGES}


def version(name: str) -> str | None:
    """Version of a package by its import name."""
    from importlib import metadata  # not above: who counts cores has no use for it

    for distribution in PACKAGES[name]:
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return None


def cpu_count() -> int:
    """Cores this process may run on."""
    return len(os.sched_getaffinity(0))
