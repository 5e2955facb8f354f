"""Identify what a robot arm holds, with guaranteed bounds, while it moves safely.

    measure -> identify -> plan -> track -> robot

with reach/ answering "is this safe?" for plan, and model/ and sets/ as the common vocabulary.

Names of the public API are imported when they are first used.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from safe_sysid.api.arms import load_arm
    from safe_sysid.api.calibration import CalibrationResult, calibrate_arm
    from safe_sysid.api.closed_chain import ClosedChainResult, calibrate_closed_chain
    from safe_sysid.api.excitation import ExcitationResult, design_excitation
    from safe_sysid.api.experiment import ExperimentTables, run_experiment
    from safe_sysid.api.identifiability import IdentifiabilityResult, identifiable_parameters
    from safe_sysid.api.largest_payload import LargestPayload, largest_payload
    from safe_sysid.api.model_export import export_model
    from safe_sysid.api.motion import CertifiedMotion, MotionProof, certify, plan
    from safe_sysid.api.new_arm import NewArm, NewArmSettings, new_arm
    from safe_sysid.api.online import OnlineIdentifier
    from safe_sysid.api.payload import PayloadResult, RecordingSettings, identify_payload
    from safe_sysid.api.payload_difference import DifferenceResult
    from safe_sysid.api.simulated_recording import simulate_recording
    from safe_sysid.api.simulation import SimulatedRun, simulate
    from safe_sysid.api.symbolic import casadi_model, own_cost
    from safe_sysid.errors import SafeSysidError

_HOMES = {  # name: module
    'CalibrationResult': 'safe_sysid.api.calibration',
    'CertifiedMotion': 'safe_sysid.api.motion',
    'ClosedChainResult': 'safe_sysid.api.closed_chain',
    'DifferenceResult': 'safe_sysid.api.payload_difference',
    'ExcitationResult': 'safe_sysid.api.excitation',
    'ExperimentTables': 'safe_sysid.api.experiment',
    'IdentifiabilityResult': 'safe_sysid.api.identifiability',
    'LargestPayload': 'safe_sysid.api.largest_payload',
    'MotionProof': 'safe_sysid.api.motion',
    'NewArm': 'safe_sysid.api.new_arm',
    'NewArmSettings': 'safe_sysid.api.new_arm',
    'OnlineIdentifier': 'safe_sysid.api.online',
    'PayloadResult': 'safe_sysid.api.payload',
    'RecordingSettings': 'safe_sysid.api.payload',
    'SafeSysidError': 'safe_sysid.errors',
    'SimulatedRun': 'safe_sysid.api.simulation',
    'calibrate_arm': 'safe_sysid.api.calibration',
    'calibrate_closed_chain': 'safe_sysid.api.closed_chain',
    'casadi_model': 'safe_sysid.api.symbolic',
    'certify': 'safe_sysid.api.motion',
    'design_excitation': 'safe_sysid.api.excitation',
    'export_model': 'safe_sysid.api.model_export',
    'identifiable_parameters': 'safe_sysid.api.identifiability',
    'identify_payload': 'safe_sysid.api.payload',
    'largest_payload': 'safe_sysid.api.largest_payload',
    'load_arm': 'safe_sysid.api.arms',
    'own_cost': 'safe_sysid.api.symbolic',
    'new_arm': 'safe_sysid.api.new_arm',
    'plan': 'safe_sysid.api.motion',
    'run_experiment': 'safe_sysid.api.experiment',
    'simulate': 'safe_sysid.api.simulation',
    'simulate_recording': 'safe_sysid.api.simulated_recording',
}

__all__ = [
    'CalibrationResult',
    'CertifiedMotion',
    'ClosedChainResult',
    'DifferenceResult',
    'ExcitationResult',
    'ExperimentTables',
    'IdentifiabilityResult',
    'LargestPayload',
    'MotionProof',
    'NewArm',
    'NewArmSettings',
    'OnlineIdentifier',
    'PayloadResult',
    'RecordingSettings',
    'SafeSysidError',
    'SimulatedRun',
    'calibrate_arm',
    'calibrate_closed_chain',
    'casadi_model',
    'certify',
    'design_excitation',
    'export_model',
    'identifiable_parameters',
    'identify_payload',
    'largest_payload',
    'load_arm',
    'new_arm',
    'own_cost',
    'plan',
    'run_experiment',
    'simulate',
    'simulate_recording',
]


def __getattr__(name: str) -> Any:
    """Import a name of the public API at its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'safe_sysid' has no attribute '{name}'")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


class _Front(ModuleType):
    """Type of this module, whose function `plan` its folder of that name must not hide."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Front
