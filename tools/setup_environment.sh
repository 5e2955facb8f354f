#!/usr/bin/env bash
# Makes .venv what requirements.lock and setup.py say, and does nothing when it already is.
# PYTHON=python3.12 chooses the interpreter; without it .venv keeps the one it has, and a new .venv
# gets the first suitable one.
set -euo pipefail
cd -P "$(dirname "$0")/.."

venv=.venv
log=log/setup_environment.log
stamp=$venv/safe_sysid.stamp
supported='import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))'

fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

find_python() {
    local candidate of_venv
    of_venv=$("$venv/bin/python" -c 'import sys; print(sys._base_executable)' 2>/dev/null) || true
    for candidate in ${PYTHON:-$of_venv python3 python3.13 python3.12 python3.11 python3.10}; do
        if "$candidate" -c "$supported" 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    if [ -n "${PYTHON:-}" ]; then
        fail "PYTHON=$PYTHON is no Python 3.10, 3.11, 3.12 or 3.13: $("$PYTHON" --version 2>&1)"
    fi
    fail 'no Python 3.10 to 3.13 found; install one: sudo apt install python3 python3-venv' \
        'or name yours: make PYTHON=/path/to/python3.12 ...'
}

# One line for the person, everything else into the log.
step() {
    local sentence=$1
    shift
    echo "setup: $sentence"
    "$@" >>"$log" 2>&1 </dev/null || explain_failure "$sentence"
}

explain_failure() {
    tail -n 15 "$log" | sed 's/^/    /' >&2
    printf 'setup: failed while: %s\n' "$1" "the whole log is in $log" >&2
    if grep -q 'No space left' "$log"; then
        fail 'the disk is full: the environment takes about 1.5 GB'
    elif grep -q 'DO NOT MATCH THE HASHES' "$log"; then
        fail 'a downloaded package is not the file that requirements.lock was made with; nothing of it was installed:' \
            'the log says which; behind a mirror that repacks files, ask its keeper'
    elif grep -q 'No matching distribution' "$log"; then
        fail 'a package has no wheel for this machine, or the package index can not be reached:' \
            'wheels of everything exist for x86-64 Linux with glibc 2.34 or newer and Python 3.10 to 3.13;' \
            'behind a proxy set HTTPS_PROXY, for a mirror PIP_INDEX_URL'
    elif grep -qiE 'connection|timed out|name resolution|SSLError' "$log"; then
        fail 'the package index can not be reached; behind a proxy set HTTPS_PROXY, for a mirror PIP_INDEX_URL'
    fi
    exit 1
}

check_venv_module() {
    local version
    if ! "$1" -c 'import venv, ensurepip' 2>/dev/null; then
        version=$("$1" -c 'import sys; print("python3.%d" % sys.version_info[1])')
        fail "$1 can not make virtual environments; install the module that does:" \
            "sudo apt install python3-venv    (or ${version}-venv)"
    fi
}

wanted_stamp() {
    "$1" -c 'import os, sys; print(sys.version, os.getcwd())'
    sha256sum requirements.lock setup.py setup.cfg
}

install() {
    "$venv/bin/python" -m pip --disable-pip-version-check "$@"
}

python=$(find_python)
wanted=$(wanted_stamp "$python")
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    exit 0
fi

check_venv_module "$python"
mkdir -p log
: >"$log"
version=$("$python" -c 'import platform; print(platform.python_version())')
same_python='import os, sys; sys.exit([sys.version, sys.prefix] != sys.argv[1:])'
if ! "$venv/bin/python" -c "$same_python" "$("$python" -c 'import sys; print(sys.version)')" \
    "$PWD/$venv" 2>/dev/null; then
    rm -rf "$venv"
    step "new environment $venv with Python $version" "$python" -m venv "$venv"
fi
rm -f "$stamp"
# The build tools first: the few packages without a wheel are then built with the pinned ones.
build_tools=$(mktemp)
trap 'rm -f "$build_tools"' EXIT
sed -nE '/^(setuptools|wheel|packaging)==/,/[^\\]$/p' requirements.lock >"$build_tools"
step 'pinned build tools' install install --no-deps --require-hashes -r "$build_tools"
step 'pinned packages of requirements.lock (about 500 MB the first time)' \
    install install --no-deps --no-build-isolation --require-hashes -r requirements.lock
step 'safe_sysid itself, editable' install install --no-deps --no-build-isolation -e .
printf '%s\n' "$wanted" >"$stamp"
