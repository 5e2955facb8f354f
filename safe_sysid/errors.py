"""The errors a user can meet; every message says what, which value, where and what is allowed."""


class SafeSysidError(Exception):
    """The parent of every error that safe_sysid raises on purpose."""


class ConfigError(SafeSysidError):
    """A settings file has an unknown key, a missing key or a value out of range."""


class ModelError(SafeSysidError):
    """A robot description can't be used: file, joint types, inertias, names."""


class MeasurementError(SafeSysidError):
    """A measurement is not what it has to be: wrong length, not finite, out of order."""


class BoundError(SafeSysidError):
    """A bound can't be given for what was asked, because an assumption it needs does not hold."""


class SimulationError(SafeSysidError):
    """A simulated arm was asked for what it can't do, or its equations can't be integrated."""


class MessageError(SafeSysidError):
    """A ROS message is not what it has to be: about another arm, incomplete, out of range."""


class RecordingError(SafeSysidError):
    """A recording can't be begun, or can't go on; what was recorded before stays."""
