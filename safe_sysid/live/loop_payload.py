"""The payload that a running loop has found, as `identify --json` prints one, or why none is.

Bounds are those of the loop, less the arm's own last link or all that its URDF has on the last
joint, with what the settings of the loop state of these. What may be of another payload, of none,
or was known before anything was measured is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.audit.bag_settings import parameters_by_node
from safe_sysid.config import from_mapping, nested
from safe_sysid.errors import ConfigError, ModelError
from safe_sysid.identify.change.held_next import from_library, within
from safe_sysid.identify.payload_in_frame import Body, object_of, payload_of
from safe_sysid.loop_settings import LoopSettings
from safe_sysid.model.arm import Arm, arm_of
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.sets.interval import Interval

IDENTIFIER = 'identifier'
IDLE = 'idle'  # the mode in which the loop gives no torque
SECOND = 1e9  # [ns]


@dataclass(frozen=True, eq=False)
class LoopPayload:
    """What is held, and what a person wants to know of how that was found."""

    found: Mapping[str, Any]
    mode: str  # of the loop; empty: nobody says it
    sentences: tuple[str, ...]

    def check_no_torque(self, to: str) -> None:
        """Refuse a robot that adds the load by itself, while torques of the loop may carry it."""
        if self.mode != IDLE:
            said = f'is in mode {self.mode}' if self.mode else 'does not say its mode'
            raise ConfigError(
                f'nothing is handed over: the loop {said}, in which its torques may carry the '
                f'load already, and --to {to} has the robot add it to every torque once more; '
                'supervisor/stop first'
            )

    @staticmethod
    def check_held(body: Body) -> None:
        """Refuse what may weigh nothing."""
        least, most = float(body.bounds.lower[0]), float(body.bounds.upper[0])
        if least <= 0.0:
            raise ConfigError(
                f'nothing is handed over: what is held weighs {max(least, 0.0):.3g} to '
                f'{most:.3g} kg, so it may be nothing'
            )


def loop_payload(heard: Mapping[str, Any], flange: str, usual: str = '') -> LoopPayload:
    """Return the payload in the axes of a link.

    Where none is named it is the one on the last joint with the usual name, or the arm's `tip`.
    """
    said = parameters_by_node([str(heard['parameters'])])[IDENTIFIER]
    values = nested(dict(said))
    names = {each.name for each in fields(LoopSettings)}
    shared = {name: value for name, value in values.items() if name in names}
    settings = from_mapping(LoopSettings, shared, 'parameters of the identifier')
    arm = arm_of(settings.robot, None)
    estimate = _estimate(heard, arm)
    refusal = _change(heard) or _unlearned(estimate, settings)
    if refusal:
        raise ConfigError(f'nothing is handed over: {refusal}')
    learns = bool(heard['torque']) or not said.get('waits_for_mode', True)
    empty, _ = settings.with_empty_hand()
    known = settings.prior.known(empty)
    assumed = (f'assumed: {each}' for each in known.sentences(empty))
    simulated = ('the arm of this loop is simulated, and so is what it holds',)
    sentences = (
        *(simulated if settings.simulated else ()), *_sentences(heard, learns), *assumed
    )  # fmt: skip
    found = _found(arm, known, estimate, flange or _usual_flange(arm, usual))
    return LoopPayload(found, str(heard['mode']), sentences)


def _usual_flange(arm: Arm, usual: str) -> str:
    tip, frames = arm.model.layout.tip, arm.model.frames.items()
    named = [name for name, at in frames if at.joint == tip and usual and name.endswith(usual)]
    return named[0] if len(named) == 1 else arm.facts.tip


def _estimate(heard: Mapping[str, Any], arm: Arm) -> ParameterEstimate:
    layout = arm.model.layout
    rows = np.array(heard['numbers'], dtype=np.float64)
    if heard['labels'][-1:] != [', '.join(layout.labels)] or rows.size != 3 * layout.size:
        raise ConfigError(f'the estimate of the loop is not about {arm.model.name}, its robot')
    lower, theta, upper = rows.reshape(3, -1)
    return ParameterEstimate(layout, theta, Interval(lower, upper))


def _change(heard: Mapping[str, Any]) -> str:
    """Why the estimate may be of something else than what is held; empty if it is not."""
    if heard['replays']:
        return 'a bag is replayed, and nobody knows whether what was held then is held now'
    if heard['change']:
        return f'{heard["change"]}; the loop has not answered that yet'
    if heard['announced']:
        return 'what is held is about to change, and the bounds are for what is held next as well'
    if heard['event'] > heard['stamp']:
        return (
            f'what is held changed {_seconds(heard["event"] - heard["stamp"])} after the newest '
            'sample of the estimate'
        )
    if heard['faults']:
        return f'the identifier is in a fault: {"; ".join(heard["faults"])}'
    return ''


def _unlearned(estimate: ParameterEstimate, settings: LoopSettings) -> str:
    """Why the bounds are what anything held has; empty if they are narrower."""
    prior = settings.prior
    before = Interval(np.array(prior.lower), np.array(prior.upper))
    bounds = estimate.end_effector_bounds
    if bounds.contains(before):
        return 'the estimate is the prior of the loop, nothing was learned of what is held'
    payloads = settings.payloads()
    if payloads:
        empty, own = settings.with_empty_hand()
        held = from_library(empty, payloads, settings.grasp, own)
        known = within(held, prior.estimate(empty)).bounds
        if bounds.contains(known):
            return 'nothing was learned of what is held since it changed; it is any of the library'
    return ''


def _found(
    arm: Arm, known: ArmKnowledge, estimate: ParameterEstimate, flange: str
) -> dict[str, Any]:
    what = estimate.end_effector, estimate.end_effector_bounds
    where = flange, known
    payload = payload_of(arm, *what, *where)
    try:
        alone = _told(object_of(arm, *what, *where))
    except ModelError:  # less than the URDF has there
        alone = None
    return {'payload': _told(payload), 'object': {'alone': alone}, 'unstated': []}


def _told(body: Body) -> dict[str, Any]:
    rows: dict[str, Array] = {
        'nominal': body.nominal, 'lower': body.bounds.lower, 'upper': body.bounds.upper
    }  # fmt: skip
    numbers = {name: values.tolist() for name, values in rows.items()}
    return {'frame': body.frame, 'contains': body.contains, **numbers}


def _sentences(heard: Mapping[str, Any], learns: bool) -> tuple[str, ...]:
    if heard['newest'] is None:
        age = 'no joint state was heard, so nobody knows how old the estimate is'
    else:
        age = (
            f'the estimate has samples up to {_seconds(heard["newest"] - heard["stamp"])} before '
            'the newest joint state'
        )
    mode = f'mode {heard["mode"]}' if heard['mode'] else 'no mode was heard'
    learning = (
        f'the loop still learns ({mode}), so bounds become narrower'
        if learns and heard['newest'] is not None
        else f'the loop learns nothing now ({mode}): a change of what is held that no '
        'payload_event tells goes unnoticed'
    )
    event = 'no change of what is held was told or noticed'
    if heard['event'] >= 0:
        before = _seconds(heard['stamp'] - heard['event'])
        event = f'the newest change that was told came {before} before that, and was answered'
    return age, learning, event


def _seconds(span: int) -> str:
    return f'{max(span / SECOND, 0.0):.2f} s'
