"""Look up the known vulnerabilities of every package in requirements.lock.

    tools/audit.py [LOCK]

Ends with 1 when a locked version has one, and with 0 and a sentence where their list can not be
reached.
"""

from __future__ import annotations

from collections.abc import Sequence
import json
from pathlib import Path
import subprocess
import sys
from typing import Any

PATIENCE = 300.0  # [s] for an index that does not answer
LOCK = Path(__file__).parents[1] / 'requirements.lock'
AUDIT = ('-m', 'uv', 'tool', 'run', '--quiet', '--from', 'pip-audit==2.10.1', 'pip-audit')
OPTIONS = ('--no-deps', '--disable-pip', '--progress-spinner=off', '--format=json')


def verdict(dependencies: Sequence[dict[str, Any]]) -> tuple[int, str]:
    """Return the exit status and what to print for pip-audit's answer about each package."""
    audited = [one for one in dependencies if 'skip_reason' not in one]
    if not audited:
        return 0, 'audit: the list of vulnerabilities can not be reached, nothing was audited'
    found = [
        f'audit: {one["name"]} {one["version"]} has {vulnerability["id"]}, '
        f'mended in {", ".join(vulnerability["fix_versions"]) or "no version yet"}'
        for one in audited
        for vulnerability in one['vulns']
    ]
    looked_up = f'{len(audited)} of {len(dependencies)} packages looked up'
    return int(bool(found)), '\n'.join(
        [*found, f'audit: {looked_up}, {len(found)} vulnerabilities']
    )


def main(lock: Path = LOCK) -> int:
    """Ask pip-audit about the lock."""
    try:
        asked = subprocess.run(
            [sys.executable, *AUDIT, *OPTIONS, '--requirement', str(lock)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        dependencies = json.loads(asked.stdout)['dependencies']
    except subprocess.TimeoutExpired:
        dependencies = []
    except (ValueError, KeyError):
        dependencies = []
        sys.stdout.write(asked.stderr[-500:])
    status, sentence = verdict(dependencies)
    sys.stdout.write(f'{sentence}\n')
    return status


if __name__ == '__main__':
    sys.exit(main(*map(Path, sys.argv[1:2])))
