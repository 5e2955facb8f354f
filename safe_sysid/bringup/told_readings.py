"""What a run tells its identifier of the readings of its simulator, by names of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from safe_sysid.config import from_mapping, nested
from safe_sysid.loop_settings import LoopSettings
from safe_sysid.parameter_files import by_full_name
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.soft_friction import softness_of
from safe_sysid.simulate.told_errors import ERRORS, SimulatedReadings, StatedErrors

OBSERVATION = 'identifier.observation.'
Parameters = Mapping[str, object]


def told_of_readings(
    loop: LoopSettings,
    bridge: tuple[str, Parameters],
    identifier: Parameters,
    chosen: Parameters,
) -> dict[str, object]:
    """Return what is true of a simulator (its name and parameters) in place of what is stated.

    `chosen` of the parameters of the identifier was given for this run.
    """
    name, asked = bridge
    is_read, is_driven = (asked.get(key) == 'described' for key in ('readings', 'actuators'))
    told: dict[str, object] = {}
    if not is_read and not is_driven:  # a sample carries the torque that was held until it
        told[f'{OBSERVATION}torque_signal'] = 'held_until'
    if is_read:  # as wrong as the arm's file says, which the identifier reads itself
        return told
    source = f"parameters of node '{name}': sensors"
    sensors = nested(by_full_name(asked)).get('sensors', {})
    bare = replace(loop, payload='', library=(), promise='none').described()
    creep = softness_of(name, bare, loop.prior.estimate(bare).bounds)
    readings = SimulatedReadings(from_mapping(SensorSettings, sensors, source), creep)
    errors = readings.to_tell(bare, _stated(identifier), _stated(chosen))
    return {**told, **{f'{OBSERVATION}{name}': value for name, value in errors.items()}}


def _stated(parameters: Parameters) -> StatedErrors:
    flat = by_full_name(parameters)
    values = {name: flat[f'{OBSERVATION}{name}'] for name in ERRORS if OBSERVATION + name in flat}
    return from_mapping(StatedErrors, values, f"parameters of node 'identifier': {OBSERVATION}")
