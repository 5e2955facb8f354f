"""Outcome of the demo: what both of its runs came to, as plain figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.audit.ledger import Ledger
from safe_sysid.audit.loop_of_bag import RecordedLoop
from safe_sysid.cli.demo.belief import Claim
from safe_sysid.cli.demo.carrying import Carrying
from safe_sysid.cli.demo.runs import LINK_RATIO, ROBOT, DemoChoices
from safe_sysid.cli.demo.taught import Lesson, lessons
from safe_sysid.identify.estimate_series import EstimateSeries
from safe_sysid.identify.payload_in_frame import Body, object_of
from safe_sysid.model.arm import arm_of
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.inertia import LABELS, UNITS
from safe_sysid.sets.interval import Interval


@dataclass(frozen=True, eq=False)
class Judged:
    """What came of the errand."""

    loop: RecordedLoop
    carrying: Carrying
    truth: Array  # theta_e (10,) with what is held
    ledger: Ledger
    claim: Claim

    @property
    def known(self) -> EstimateSeries:
        """What was known of what is held."""
        return self.carrying.known(self.loop)


@dataclass(frozen=True, eq=False)
class DemoOutcome:
    """What came of both runs."""

    errand: Judged
    believed: RecordedLoop  # the run with the wrong belief

    @property
    def thing(self) -> Body:
        """What the arm holds, without its gripper, as it was known in the end."""
        last, arm = self.errand.known, arm_of(ROBOT, None)
        bounds = Interval(last.lower[-1], last.upper[-1])
        known = ArmKnowledge(links=LINK_RATIO)
        return object_of(arm, last.nominal[-1], bounds, arm.facts.tip, known)

    @property
    def lessons(self) -> list[Lesson]:
        """What each motion taught."""
        return lessons(self.errand.loop, self.errand.carrying)

    @property
    def fault(self) -> str:
        """Which ended the run with the wrong belief; empty if none did."""
        return self.believed.record.fault

    @property
    def fault_time(self) -> float:
        """When it did [s]."""
        return self.believed.record.fault_time

    @property
    def reason(self) -> str:
        """Of that fault, without its remedy."""
        return self.fault.removeprefix('fault: ').partition(';')[0]


def figures(outcome: DemoOutcome, choices: DemoChoices, seconds: float) -> dict[str, Any]:
    """For programs."""
    errand = outcome.errand
    last, claim = errand.known, errand.claim
    numbers = last.lower[-1], last.nominal[-1], last.upper[-1], errand.truth
    rows = zip(LABELS, UNITS, *numbers, strict=True)
    keys = ('name', 'unit', 'lower', 'nominal', 'upper', 'truth')
    parameters = [dict(zip(keys, map(_plain, row), strict=True)) for row in rows]
    for row in parameters:
        row['inside'] = bool(row['lower'] <= row['truth'] <= row['upper'])
    entries = errand.ledger.entries
    believed = {
        'would be certified': claim.would_hold,
        'outside': dict(zip(claim.joint_names, claim.outside.tolist(), strict=True)),
        'beyond [N m]': dict(zip(claim.joint_names, claim.beyond.tolist(), strict=True)),
    }
    return {
        'every promise held': errand.ledger.is_kept,
        'parameters': parameters,
        'object': _answer(outcome.thing),
        'what each motion taught': [_lesson(each) for each in outcome.lessons],
        'promises': [
            {'promise': e.promise, 'finding': e.finding, 'kept': e.is_kept} for e in entries
        ],
        'believing the gripper is empty': {
            'fault': outcome.fault,
            'fault at [s]': outcome.fault_time if np.isfinite(outcome.fault_time) else None,
            'motions with the dumbbell': believed,
        },
        'report': str(choices.folder / 'report.html'),
        'bag': str(choices.bag),
        'seconds': round(seconds, 1),
    }


def _lesson(lesson: Lesson) -> dict[str, Any]:
    return {
        'from [s]': round(lesson.begin, 3),
        'to [s]': round(lesson.end, 3),
        'for': lesson.kind,
        'mass before [kg wide]': float(lesson.before[0]),
        'after': float(lesson.after[0]),
        'narrowed by': dict(zip(LABELS, lesson.narrowed.tolist(), strict=True)),
    }


def _answer(thing: Body) -> dict[str, Any]:
    """Return what it is alone, and a sentence."""
    low, high = float(thing.bounds.lower[0]), float(thing.bounds.upper[0])
    return {
        'mass [kg]': {'lower': low, 'nominal': thing.mass, 'upper': high},
        'frame': thing.frame,
        'centre [m]': thing.com.tolist(),
        'sentence': thing.sentence('the dumbbell'),
    }


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else float(value)
