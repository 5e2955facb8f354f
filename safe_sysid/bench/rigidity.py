"""`safe-sysid bench rigidity`: which payloads that swing are named, and rigid ones wrongly."""

from __future__ import annotations

import numpy as np
from scipy.stats import binomtest

from safe_sysid.bench.experiments.sloshing_payload import judged, outward, recorded_motion
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.identify.change.rigidity import Rigidity
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.mujoco import Swinging

ARMS = ('kinova_gen3', 'lbr_med7', 'ur5e')
SECONDS = 8.0
UNMODELLED = (0.1, 0.3)  # [N m]
FREQUENCY = {True: 2.0, False: 3.0}  # [Hz] of pendulums, and of springs
SWINGING = (0.1, 0.2, 0.5)  # [kg]
RIGID = 1.0  # [kg] held beside it


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Share of swinging payloads that are named, by mass and kind; alarms for rigid ones."""
    motions = settings.trials or (3 if settings.quick else 12)
    named, rigid = [], []
    for unmodelled in UNMODELLED:
        alarms, largest = 0, 0.0
        for number in range(motions):
            progress(f'{unmodelled} N m unmodelled: rigid payload {number + 1} of {motions}')
            found = _judged(settings.seed, number, unmodelled, None)
            alarms += found.rejects
            largest = max(largest, found.tone / found.tone_threshold)
        rigid.append({
            'unmodelled_Nm': unmodelled,
            'recordings': motions,
            'called_not_rigid': alarms,
            'at_most': float(binomtest(alarms, motions).proportion_ci(method='wilson').high),
            'largest_share_of_threshold': largest,
        })  # fmt: skip
        for is_pendulum, frequency in FREQUENCY.items():
            for mass in SWINGING:
                progress(f'{unmodelled} N m unmodelled: {mass} kg at {frequency} Hz')
                swinging = [
                    _judged(settings.seed, number, unmodelled, (mass, frequency, is_pendulum))
                    for number in range(motions)
                ]
                ends = binomtest(sum(x.rejects for x in swinging), motions).proportion_ci(
                    method='wilson'
                )
                right = [abs(x.frequency - frequency) < 0.5 for x in swinging if x.rejects]
                named.append({
                    'unmodelled_Nm': unmodelled,
                    'kind': 'pendulum' if is_pendulum else 'springs',
                    'mass_kg': mass,
                    'named': sum(x.rejects for x in swinging) / motions,
                    'at_least': float(ends.low),
                    'at_most': float(ends.high),
                    'frequency_within_0.5_Hz': sum(right) / max(len(right), 1),
                })  # fmt: skip
    return {
        'motions': motions,
        'arms': list(ARMS[: min(motions, len(ARMS))]),
        'seconds': SECONDS,
        'rigid_kg': RIGID,
        'stated_false_alarms': 1e-3,
        'rigid': rigid,
        'swinging': named,
    }


def _judged(
    seed: int, number: int, unmodelled: float, kind: tuple[float, float, bool] | None
) -> Rigidity:
    robot = ARMS[number % len(ARMS)]
    swinging = None
    if kind is not None:
        mass, frequency, is_pendulum = kind
        x, y, z = outward(RobotModel.named(robot)).tolist()
        swinging = Swinging(mass, frequency, (x, y, z), pendulum=is_pendulum)
    rng = np.random.default_rng([seed, number])
    held = recorded_motion(rng, robot, SECONDS, unmodelled, swinging, RIGID)
    return judged(held, unmodelled)
