"""`safe-sysid doctor`: looks at the machine, and at an arm, and names a remedy for what fails."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
import json
from pathlib import Path
from typing import TYPE_CHECKING

from safe_sysid.cli.inputs import add_package_path, existing, named_robot, payload
from safe_sysid.cli.output import print_wrapped

if TYPE_CHECKING:
    from safe_sysid.cli.doctor.findings import DoctorFinding

HELP = 'check this machine: libraries, Ipopt solvers, ROS 2; and the files of an arm'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which arm to check, and how to answer."""
    parser.add_argument(
        '--robot',
        metavar='NAME|YAML|URDF',
        type=named_robot,
        help='also check an arm: a name such as kinova_gen3, its settings, or a URDF',
    )
    parser.add_argument(
        '--config',
        metavar='YAML',
        type=existing,
        help='the facts of the arm, when --robot is a URDF',
    )
    parser.add_argument(
        '--payload',
        metavar='NAME|YAML',
        type=payload,
        help='what the arm holds, for the torque it needs',
    )
    add_package_path(parser)
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a list')


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid doctor`; the exit status is 1 when something failed."""
    from collections import Counter

    from safe_sysid.cli.doctor.findings import Verdict

    findings = []
    for finding in examine(options.robot, options.config, options.payload, options.package_path):
        findings.append(finding)
        if not options.json:
            print_wrapped(finding)
    count = Counter(finding.verdict for finding in findings)
    if options.json:
        print(json.dumps({'findings': [finding.as_dict() for finding in findings]}))
    else:
        print(', '.join(f'{count[verdict]} {verdict.value}' for verdict in Verdict))
    return 1 if count[Verdict.FAIL] else 0


def examine(
    robot: str | None,
    config: Path | None,
    payload: str | None = None,
    package_paths: Sequence[Path] = (),
) -> Iterator[DoctorFinding]:
    """Yield findings about the machine, then about the arm if one is given."""
    from safe_sysid.cli.doctor import machine_checks
    from safe_sysid.cli.doctor.findings import failed

    yield from machine_checks.findings()
    if robot is None:
        return
    try:
        from safe_sysid.cli.doctor import robot_checks
    except ImportError as error:
        yield failed('arm', f'not looked at: {error}', 'mend the libraries above first')
        return
    yield from robot_checks.findings(robot, config, payload, package_paths)
