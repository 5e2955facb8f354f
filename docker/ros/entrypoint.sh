#!/bin/bash
set -e
. /workspace/.venv/bin/activate
. /workspace/install/setup.bash
exec "$@"
