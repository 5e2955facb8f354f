#!/usr/bin/env bash
# Runs the tests of nodes and of starting them on rclpy 7.1 of Jazzy, from wheels:
#
#   tools/jazzy_tests.sh [...]
#
# [...] goes to pytest. build/jazzy gets what requirements.lock says but for its wheels of ROS, which are those of
# Kilted, and is made once. Actions are left out: what `make interfaces` compiles is refused there.
set -euo pipefail
cd -P "$(dirname "$0")/.."

place=build/jazzy
if [ ! -e "$place/made" ]; then
    echo "jazzy: an environment of its own in $place, about two minutes"
    rm -rf "$place"
    mkdir -p build
    .venv/bin/python -m venv "$place"
    # versions of the lock, without hashes: they are said of wheels that are not taken
    sed -nE '/^ros-/d; s/^([a-zA-Z0-9._-]+==[^ \\]+( *;[^\\]*)?).*/\1/p' requirements.lock >"$place/rest.txt"
    "$place/bin/python" -m pip install --quiet --disable-pip-version-check -r "$place/rest.txt"
    "$place/bin/python" -m pip install --quiet --disable-pip-version-check -r tools/jazzy_wheels.txt
    touch "$place/made"
fi

# another environment of ROS wheels would be loaded in place of this one
unset _ROS_WHEELS_BOOTSTRAP_COMPLETE LD_LIBRARY_PATH
export PYTHONPATH=$PWD PYTEST_ADDOPTS="${PYTEST_ADDOPTS:-}"
"$place/bin/python" -m safe_sysid.cli warm-up
exec "$place/bin/python" -m pytest -q test/ros test/bringup "$@"
