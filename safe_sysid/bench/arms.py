"""Arms made of public descriptions: capsules, gaps, pairs, contacts, time; no vertex outside."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
import sys
import time
from typing import Any

import numpy as np

from safe_sysid.bench.arm_plans import plans_from
from safe_sysid.bench.experiments.calibrated_arms import CalibratedArm, assumptions
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.errors import ConfigError, SafeSysidError
from safe_sysid.model.description.described_arm import (
    DescribedArm,
    NewArmSettings,
    described_arm,
)
from safe_sysid.model.description.refined_covers import (
    contacts_called_apart,
    overlaps_by_body,
    random_poses,
)

POSES, QUICK_POSES = 100_000, 2_000  # at which pairs called apart are looked at
USED = 1000  # poses for the share in contact
STARTS, PLANS = 9, 3  # poses at which plans may begin, and plans that are enough
SAMPLES = 2000  # of each plan, that look for a broken limit
SHIPPED = Path('share') / 'example-robot-data' / 'robots'


@dataclass(frozen=True)
class PublicArm:
    """A description of the package example-robot-data, and how an arm is made of it."""

    file: str
    kind: str = 'current'
    choices: dict[str, Any] = field(default_factory=dict)


# Of the servo STS3215: stall torque at 7.4 V of 19.5 kg cm, and 45 turns a minute without load
# (at 12 V; 52 at 7.4 V). The URDF has 10 N m and 10 rad/s.
SERVOS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll')
SERVO_TORQUE, SERVO_SPEED = dict.fromkeys(SERVOS, 1.91), dict.fromkeys(SERVOS, 4.7)

ARMS = {
    'UR3': PublicArm('ur_description/urdf/ur3_robot.urdf'),
    'UR5': PublicArm('ur_description/urdf/ur5_robot.urdf'),
    'UR10': PublicArm('ur_description/urdf/ur10_robot.urdf'),
    'Panda': PublicArm(
        'panda_description/urdf/panda.urdf', 'torque-sensor', {'tip': 'panda_hand'}
    ),
    # 180 degrees a second are those of the manufacturer's manual, Technical Specifications; if
    # they are those of Z1 too, nobody has found in print.
    'xArm7': PublicArm(
        'xarm_description/urdf/xarm7.urdf', 'current', {'trust': ('velocity-half-turn',)}
    ),
    'Z1': PublicArm(
        'z1_description/urdf/z1.urdf',
        'direct',
        {'tip': 'gripperStator', 'trust': ('velocity-half-turn',)},
    ),
    'SO-101': PublicArm(
        'so_arm_description/urdf/so101.urdf',
        'direct',
        {'tip': 'gripper_link', 'effort': SERVO_TORQUE, 'velocity': SERVO_SPEED},
    ),
    'Jaco 2': PublicArm('kinova_description/robots/kinova.urdf'),
    'TIAGo arm': PublicArm(
        'tiago_description/robots/tiago.urdf',
        'current',
        {'base': 'torso_lift_link', 'tip': 'arm_7_link'},
    ),
    'Talos arm': PublicArm(
        'talos_data/robots/talos_left_arm.urdf',
        'torque-sensor',
        {'tip': 'arm_left_7_link', 'trust': ('effort-weak',)},
    ),
    'Baxter arm': PublicArm(
        'baxter_description/urdf/baxter.urdf',
        'current',
        {'tip': 'right_wrist', 'trust': ('effort-weak',)},
    ),
}
QUICK = ('Jaco 2',)


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Make every arm, and look for vertices outside and contacts among pairs called apart."""
    folder = settings.data or installed()
    names = QUICK if settings.quick else tuple(ARMS)
    count = settings.trials or (QUICK_POSES if settings.quick else POSES)
    rows: dict[str, object] = {}
    for name in names:
        rows[name] = _row(folder / ARMS[name].file, ARMS[name], count, settings.seed)
        progress(f'{name}: {rows[name]}')
    return {'poses': count, 'plans_assume': assumptions(), 'arms': rows}


def installed() -> Path:
    """Folder of the robots where pip has put them."""
    tops = [Path(entry) / 'cmeel.prefix' for entry in sys.path if entry]
    for top in (*tops, Path(sys.prefix)):
        if (top / SHIPPED).is_dir():
            return top / SHIPPED
    raise ConfigError(
        'the descriptions are not installed: pip install example-robot-data (420 MB), or name '
        'their folder `robots` with --data'
    )


def _row(source: Path, public: PublicArm, count: int, seed: int) -> dict[str, object]:
    begin, cpu = time.monotonic(), time.process_time()
    try:
        arm = described_arm(source, NewArmSettings(public.kind, **public.choices))
    except SafeSysidError as error:
        return {'refused': str(error)}
    figures = figures_of(arm)
    spent = {'seconds': time.monotonic() - begin, 'cpu_seconds': time.process_time() - cpu}
    poses = random_poses(arm.model.limits, count, np.random.default_rng(seed))
    surfaces = {cover.surface.joint: cover.surface.triangles for cover in arm.found.covers}
    wrong = contacts_called_apart(arm.model, surfaces, poses)
    return {
        **figures,
        **spent,
        'contacts_called_apart': sum(wrong.values()),
        'first_plans': plans_from(
            CalibratedArm.known(arm.model), poses[1 : 1 + STARTS], PLANS, SAMPLES
        ),
    }


def figures_of(arm: DescribedArm) -> dict[str, object]:
    """Capsules, gaps, pairs and contacts of an arm."""
    covers, capsules = arm.found.covers, arm.model.capsules
    gaps = [cover.gap.largest for cover in covers]
    worst = covers[int(np.argmax(gaps))].surface.link
    poses = random_poses(arm.model.limits, USED, np.random.default_rng(1))
    shares = overlaps_by_body(arm.found, poses).values()
    return {
        'joints': arm.model.n,
        'vertices': sum(3 * len(cover.surface.triangles) for cover in covers),
        'outside': sum(cover.outside for cover in covers),
        'capsules': len(capsules.names),
        'worst_gap_mm': 1e3 * max(gaps),
        'worst_gap_of': worst,
        'median_gap_mm': 1e3 * float(np.median(gaps)),
        'volume_ratio_median': float(np.median([cover.gap.ratio for cover in covers])),
        'pairs_looked_at': len(capsules.pairs),
        'pairs_apart': len(capsules.apart),
        'pairs_left_out': len(capsules.left_out),
        'poses_in_contact_capsules': float(np.any([x.poses for x in shares], axis=0).mean()),
        'poses_in_contact_hulls': float(np.any([x.in_contact for x in shares], axis=0).mean()),
        'doubtful_figures': len(arm.doubts),
    }
