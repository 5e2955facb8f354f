"""Refuse what is stated of a recording where the way it is identified makes no use of it."""

from __future__ import annotations

from safe_sysid.errors import ConfigError
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.measure.recording_choice import RecordingChoice

# What counts only against recordings without the payload.
COMPARED = (
    'confidence',
    'gain_error',
    'gains',
    'inertia_prior',
    'sensor',
    'sensor_topic',
    'poses',
)
ONE_RECORDING = (  # what counts only where links, friction and errors are stated instead
    *('known_links', 'known_friction', 'known', 'torque_ratio', 'torque_error'),
    *('position_error', 'velocity_error', 'torque_signal', 'window', 'hold_out'),
    *('unmodelled_torque', 'slosh_force', 'library'),
)


def refuse_unused_alone(settings: RecordingSettings) -> None:
    """Refuse settings that say something of a comparison where nothing is compared."""
    given = _given(settings, COMPARED)
    if given:
        raise ConfigError(
            f'{given} {_counts(given)} only against recordings without the payload; give them '
            'with --empty'
        )


def refuse_unused_against_empty(settings: RecordingSettings, loaded: RecordingChoice) -> None:
    """Refuse settings that a comparison with empty recordings makes no use of."""
    given = _given(settings, ONE_RECORDING)
    if given:
        raise ConfigError(
            f'{given} {_counts(given)} only where nothing is compared: against recordings without '
            'the payload (--empty) links, friction and errors are unknown, and are found'
        )
    if settings.sensor is not None and settings.poses:
        raise ConfigError('--sensor and --poses exclude each other')
    if settings.sensor is None and _given(settings, ('sensor_topic',)):
        raise ConfigError('--sensor-topic is of the wrenches of a sensor; give its --sensor LINK')
    if settings.poses and loaded.columns.rate is not None:
        raise ConfigError('--rate is of a table with times; one of --poses has none')


def _given(settings: RecordingSettings, names: tuple[str, ...]) -> str:
    """Options that were stated, after commas."""
    default = RecordingSettings()
    given = [
        name
        for name in names
        if name in settings.stated or getattr(settings, name) != getattr(default, name)
    ]
    return ', '.join(f'--{name.replace("_", "-")}' for name in given)


def _counts(given: str) -> str:
    return 'count' if ',' in given else 'counts'
