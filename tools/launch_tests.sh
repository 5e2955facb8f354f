#!/usr/bin/env bash
# Runs the tests that need the real `ros2` command, where there is no ROS installation:
#
#   tools/launch_tests.sh SOURCES [...]
#
# with the repositories ros2/launch, ros2/launch_ros, ros2/ros2cli and ros2/rosidl_runtime_py cloned into the folder
# SOURCES; [...] goes to pytest. What is built of them is kept in build/launch_tests. On a ROS installation, in a
# workspace that is built and sourced, the tests find it by themselves:
#
#   python3 -m pytest -m '' test/bringup test/ros/nodes/test_ros2_commands.py
set -euo pipefail
cd -P "$(dirname "$0")/.."

root=$PWD
place=$root/build/launch_tests
packages=(launch/launch launch/launch_yaml launch/launch_xml launch_ros/launch_ros launch_ros/ros2launch
    ros2cli/ros2cli ros2cli/ros2pkg ros2cli/ros2run ros2cli/ros2topic ros2cli/ros2node ros2cli/ros2service
    ros2cli/ros2param ros2cli/ros2action ros2cli/ros2interface ros2cli/ros2lifecycle rosidl_runtime_py)

explain() {
    printf 'launch-tests: %s\n' "$1" 'clone what launches into one folder and name it:' \
        '    git clone https://github.com/ros2/launch SOURCES/launch' \
        '    git clone https://github.com/ros2/launch_ros SOURCES/launch_ros' \
        '    git clone https://github.com/ros2/ros2cli SOURCES/ros2cli' \
        '    git clone https://github.com/ros2/rosidl_runtime_py SOURCES/rosidl_runtime_py' \
        '    make launch-tests SOURCES=SOURCES' >&2
    exit 2
}

[ $# -gt 0 ] && [ -n "$1" ] || explain 'which sources?'
sources=$(realpath "$1")
shift
for package in "${packages[@]}"; do
    [ -f "$sources/$package/setup.py" ] || explain "$sources/$package is not there"
done

echo "launch-tests: launch, launch_ros, ros2cli and rosidl_runtime_py of $sources"
rm -rf "$place"
mkdir -p "$place/site/composition_interfaces"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
    --target "$place/site" osrf-pycommon "${packages[@]/#/$sources/}"
# launch_ros imports it for components, which are C++; no wheel has it
touch "$place/site/composition_interfaces/__init__.py"
printf 'class LoadNode:\n    class Request:\n        pass\n' >"$place/site/composition_interfaces/srv.py"

echo 'launch-tests: safe_sysid itself, linked, so that kernels are compiled once'
cd "$place"
export PATH=$place/site/bin:$root/.venv/bin:$PATH
python -m colcon --log-base log build --symlink-install --base-paths "$root" \
    --packages-select safe_sysid >colcon.log 2>&1 || { cat colcon.log >&2; exit 1; }
cd "$root"
set +u
# shellcheck disable=SC1091
. "$place/install/local_setup.bash"
set -u
export PYTHONPATH=$place/site${PYTHONPATH:+:$PYTHONPATH}
exec python -m pytest -q -m '' test/bringup/test_launch.py test/bringup/test_real_launch.py \
    test/ros/nodes/test_ros2_commands.py "$@"
