"""Loops in simulation with arms that `new-arm` made of public descriptions, as a table.

Every arm as its files are, nothing edited, and as a calibration leaves it: what is put in its
place then is printed below the table.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
import re
import sys
import tempfile

import numpy as np

import safe_sysid as ss
from safe_sysid.bench.arms import ARMS, PublicArm, installed
from safe_sysid.closed_loop import LoopFault
from safe_sysid.errors import SafeSysidError

SECONDS = 3.0  # of each loop [s]
HEADER = ('arm', 'the loop, as `new-arm` wrote it', 'as a calibration leaves it')
ARMATURE, WIDTH = 0.1, 0.05  # [kg m^2] of every joint, and the share that it is off at most
SERVO_ARMATURE = 0.028  # [kg m^2] of SO-101, as public models have it
LINKS, DRIVES = 0.01, 0.02  # shares that links and torques are off
DRY, OFFSET = 0.005, 0.002  # friction and offsets are known to these shares of the torque limit
ASSUMED = (
    f'As a calibration leaves it: armatures of {ARMATURE:g} kg m² (SO-101: {SERVO_ARMATURE:g}) '
    f'to {WIDTH:.0%}, links to {LINKS:.0%}, friction to {DRY:.1%} and offsets to {OFFSET:.1%} of '
    f'the torque limit, torques to {DRIVES:.0%} and {DRY:.1%} of it.'
)
FAULT = re.compile(
    r'(?:nothing can be planned|no plan satisfies every constraint): (.*?); without'
)


def rows(folder: Path, out: Path, names: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield what became of the loops of these arms."""
    for name in names:
        files = made(folder, ARMS[name], out / name.replace(' ', '_'))
        armature = SERVO_ARMATURE if name == 'SO-101' else ARMATURE
        yield name, said_of_loop(files), said_of_loop(as_calibrated(files, armature))


def made(folder: Path, public: PublicArm, out: Path) -> dict[str, Path]:
    """Files of an arm; those that are there are taken as they are."""
    if not out.is_dir():
        settings = ss.NewArmSettings(public.kind, **public.choices)
        return ss.new_arm(folder / public.file, settings, out, poses=0).files
    (loop,) = out.glob('*_loop.yaml')
    stem = loop.name.removesuffix('_loop.yaml')
    kinds = ('loop', 'payload', 'world')
    return {'settings': out / f'{stem}.yaml', **{x: out / f'{stem}_{x}.yaml' for x in kinds}}


def as_calibrated(files: dict[str, Path], armature: float) -> dict[str, Path]:
    """Return the same files with what a calibration finds in the place of what is unknown."""
    arm = ss.load_arm(files['settings'])
    limits = arm.model.limits
    dry, viscous = DRY * limits.torque, DRY * limits.torque / limits.velocity
    known = f"""
uncertainty:
  coulomb: {{absolute: {listed(dry)}}}
  viscous: {{absolute: {listed(viscous)}}}
  armature: {{ratio: [{WIDTH}]}}
  offset: {{absolute: {listed(OFFSET * limits.torque)}}}
actuation:
"""
    for joint, most in zip(arm.facts.joints, limits.torque, strict=True):
        known += f'  {joint}: {{ratio: {DRIVES}, absolute: {DRY * most:.6g}}}\n'
    text = files['settings'].read_text(encoding='utf-8')
    text = re.sub(r'^actuation:.*\n(?:  .*\n)+', '', text, flags=re.MULTILINE)
    text = text.replace('armature: 0.0 ', f'armature: {armature} ') + known
    out = files['settings'].parent / 'calibrated'
    out.mkdir(exist_ok=True)
    settings, loop = out / files['settings'].name, out / files['loop'].name
    settings.write_text(text, encoding='utf-8')
    urdf = files['settings'].with_suffix('.urdf')
    settings.with_suffix('.urdf').write_bytes(urdf.read_bytes())
    for beside in (files['payload'], files['world']):
        (out / beside.name).write_bytes(beside.read_bytes())
    text = files['loop'].read_text(encoding='utf-8').replace('ratio: 0.05 ', f'ratio: {LINKS} ')
    loop.write_text(re.sub('robot: .*', f'robot: {settings}', text), encoding='utf-8')
    return {**files, 'settings': settings, 'loop': loop}


def listed(values: np.ndarray) -> str:
    """Numbers as YAML has a list."""
    return '[' + ', '.join(f'{value:.6g}' for value in values) + ']'


def said_of_loop(files: dict[str, Path]) -> str:
    """Simulate the loop with its payload; say what it learned, or by which limit it cannot."""
    try:
        run = ss.simulate(
            files['settings'],
            str(files['payload']),
            SECONDS,
            world=str(files['world']),
            loop=files['loop'],
        )
    except (LoopFault, SafeSysidError) as error:
        said = FAULT.search(str(error))
        words = str(error) if said is None else said.group(1)
        limit = words.rpartition('bounds of theta: ')[2]
        return 'cannot: ' + limit.replace(' (joints: armature, uncertainty: armature)', '')
    if run.fault:
        return f'braked: {run.fault}'
    inside = np.all((run.lower <= run.truth) & (run.truth <= run.upper))
    return (
        f'{len(run.plans)} certified plans in {run.record.time[-1]:.1f} s; its load '
        f'{"is" if inside else "IS NOT"} within the bounds, {run.lower[0]:.2f} to '
        f'{run.upper[0]:.2f} kg'
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--data', type=Path, help='folder `robots` of example-robot-data')
    parser.add_argument('--out', type=Path, help='folder for the files of the arms')
    parser.add_argument('names', nargs='*', metavar='ARM', help=', '.join(ARMS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print('| ' + ' | '.join(HEADER) + ' |\n' + '|---' * len(HEADER) + '|')
        names = options.names or list(ARMS)
        for row in rows(options.data or installed(), options.out or Path(folder), names):
            print('| ' + ' | '.join(row) + ' |', flush=True)
    print(f'\n{ASSUMED}')


if __name__ == '__main__':
    sys.exit(main())
