from collections.abc import Iterator
from pathlib import Path
import sys

from setuptools import find_packages, setup

PACKAGE = 'safe_sysid'

# Lower bounds only; requirements.lock has the exact versions that the tests run with.
RUNTIME = [
    'numpy>=2.0',
    'scipy>=1.13',
    'numba>=0.60',
    'pin>=4.0',
    'PyYAML>=6.0.1',
    'highspy>=1.9',
    'cyipopt-wheels>=1.7.0.dev0',
    'matplotlib>=3.8',
    'clarabel>=0.9',
    'rosbags>=0.10',
    'argcomplete>=3.0',
]
# A ROS 2 without a ROS installation. On a robot these come with the distribution, hence an extra.
ROS = [
    'ros-kilted-rclpy',
    'ros-rmw-fastrtps-cpp',
    'ros-std-msgs',
    'ros-sensor-msgs',
    'ros-geometry-msgs',
    'ros-trajectory-msgs',
    'ros-visualization-msgs',
    'ros-diagnostic-msgs',
    'ros-std-srvs',
    'ros-rcl-interfaces',
    'ros-lifecycle-msgs',
    'ros-rosgraph-msgs',
]
# The second simulator, for checking the first one.
DRAKE = ['drake>=1.51.1']
# The third one, and the arm in front of which bridges are tested.
MUJOCO = ['mujoco>=3.17']
# The model for optimal control, and costs of one's own.
CASADI = ['casadi>=3.6.5']
# Descriptions that are xacro files, where there is no ROS to expand them.
XACRO = ['xacro>=2.1']
# Campaigns of experiments on many cores.
CAMPAIGN = ['distributed>=2024.1', 'pyarrow>=14']
# The documentation site, `make docs`.
DOCS = ['mkdocs-material>=9.5', 'mkdocstrings[python]>=0.27']
TEST = ['pytest>=7', 'pytest-xdist', 'hypothesis>=6', 'catkin-pkg', 'colcon-common-extensions']


def shared_files() -> Iterator[tuple[str, list[str]]]:
    """Everything below launch/, config/ and urdf/, folder by folder, for share/safe_sysid."""
    folders = [
        folder
        for top in ('launch', 'config', 'urdf')
        for folder in [Path(top), *Path(top).rglob('*')]
        if folder.is_dir() and folder.name != '__pycache__'
    ]
    for folder in sorted(folders):
        files = sorted(str(path) for path in folder.iterdir() if path.is_file())
        if files:
            yield f'share/{PACKAGE}/{folder}', files


def executables() -> dict[str, str]:
    """Console scripts and their modules: those of ros/nodes/ and ros/bridges/ that can be run."""
    folder = Path(PACKAGE, 'ros')
    modules = sorted([*folder.glob('nodes/*_node.py'), *folder.glob('bridges/*_bridge.py')])
    runnable = [path for path in modules if 'main_of(' in path.read_text(encoding='utf-8')]
    return {path.stem: '.'.join(path.with_suffix('').parts) for path in runnable}


def ros_scripts() -> list[tuple[str, list[str]]]:
    """Scripts where ROS looks for them; pip has its own in bin and ignores setup.cfg."""
    if not {'bdist_wheel', 'editable_wheel'} & set(sys.argv):
        return []
    folder = Path('build', 'ros_scripts')
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in ('safe-sysid', *executables())]
    for path in paths:
        path.write_text(
            f'#!/bin/sh\nexec "$(dirname "$(readlink -f "$0")")/../../bin/{path.name}" "$@"\n'
        )
        path.chmod(0o755)
    return [(f'lib/{PACKAGE}', [str(path) for path in paths])]


setup(
    name=PACKAGE,
    version='0.1.0',
    description='Identify what a robot arm holds, with guaranteed bounds, while it moves safely',
    long_description=Path(__file__).resolve().with_name('README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    author='The safe_sysid authors',
    author_email='maintainers@example.org',
    maintainer='The safe_sysid authors',
    maintainer_email='maintainers@example.org',
    license='Apache-2.0',
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={PACKAGE: ['py.typed', 'report/page/*']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
        *shared_files(),
        *ros_scripts(),
    ],
    zip_safe=False,
    python_requires='>=3.10',
    install_requires=RUNTIME,
    extras_require={
        'ros': ROS,
        'drake': DRAKE,
        'mujoco': MUJOCO,
        'casadi': CASADI,
        'xacro': XACRO,
        'campaign': CAMPAIGN,
        'docs': DOCS,
        'test': TEST,
    },
    entry_points={
        'console_scripts': [
            'safe-sysid = safe_sysid.cli.__main__:start',
            *(f'{name} = {PACKAGE}.ros.process.begin:main' for name in executables()),
        ]
    },
)
