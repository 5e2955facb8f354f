"""ProbedDriver: whose commands pass, before and after it is known that a driver obeys them."""

from __future__ import annotations

from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.track.gains import Gains
from safe_sysid.track.guarded_torque import Command
from safe_sysid.track.obey_probe import Obedience, ObeyProbe, ProbeSettings
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.track.supervisor import Mode

WITH_PLANS = (Mode.EXCITING, Mode.IDENTIFIED, Mode.TASK, Mode.CHANGING)
TRUSTED = ProbeSettings(driver='trusted')


class ProbedDriver:
    """The probe commands in its mode; the controller in others, once the driver has obeyed."""

    def __init__(self, model: RobotModel, gains: Gains, settings: ProbeSettings) -> None:
        self._model, self._gains, self._settings = model, gains, settings
        self._probe: ObeyProbe | None = None

    @property
    def obedience(self) -> Obedience:
        """Whether the driver does what it is told; unknown until it was asked, or trusted."""
        if self._settings.driver == 'trusted':
            return Obedience.OBEYS
        return Obedience.UNKNOWN if self._probe is None else self._probe.obedience

    @property
    def is_wild(self) -> bool:
        """Whether the arm moves otherwise than it is told, so that no torque of ours holds it."""
        return self._probe is not None and self._probe.is_wild

    @property
    def is_doubted(self) -> bool:
        """Whether no probe has seen the driver obey; one of a process before does not count."""
        return self.obedience is not Obedience.OBEYS

    def command(
        self,
        mode: Mode | None,
        measurement: JointMeasurement | None,
        estimate: ParameterEstimate,
        commanded: Command | None,
    ) -> Command | None:
        """Return what may be asked of the arm: the controller's command, the probe's, or none."""
        if mode is not Mode.PROBING:
            return commanded if self.obedience is Obedience.OBEYS else None
        if measurement is None:
            return None
        if self._probe is None:
            clock = Clock(measurement.stamp)
            law = RobustPassivityController(self._model, self._gains, clock)
            self._probe = ObeyProbe(self._model, self._settings, clock, law)
        return Command(self._probe.step(measurement, estimate), measurement.stamp)

    def leave(self) -> None:
        """Take note that the mode of the probe is over."""
        if self._probe is not None:
            self._probe.leave()

    def complaint(self, mode: Mode | None) -> str:
        """Why torques must not be taken to act; empty where they may."""
        if self._probe is not None and self._probe.reason:
            return f'{self._probe.reason}. Correct it and start the bridge again'
        if self.obedience is Obedience.UNKNOWN and mode in WITH_PLANS:
            return (
                'nobody has found out yet whether the driver does what it is told; brake, then '
                'start, or set probe.driver to trusted'
            )
        return ''
