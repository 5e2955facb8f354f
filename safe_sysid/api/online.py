"""OnlineIdentifier: samples in, one after the other; bounds on what the arm holds out."""

from __future__ import annotations

from dataclasses import replace
from types import TracebackType

import numpy as np
import numpy.typing as npt

from safe_sysid.api.arguments import finite_numbers, number, settings_or_default
from safe_sysid.api.arms import ArmLike, load_arm
from safe_sysid.arrays import Array
from safe_sysid.config import Range
from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.identify.from_recording import observation_settings, prior_settings
from safe_sysid.identify.online_identifier import IdentifierSettings
from safe_sysid.identify.online_identifier import OnlineIdentifier as PayloadIdentifier
from safe_sysid.identify.payload_estimator import SolveSettings
from safe_sysid.identify.payload_prior import prior_of
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.identify.solves import SolvesInBackground
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.sensing import reading_errors

FIRST = 20  # samples from which the period is learned, and kept until then
TIMES = Range(at_least=-9e9, at_most=9e9)  # [s] as 64 bits of nanoseconds hold them
SOLVE_PERIOD = 0.5  # [s] of measurements between two solves


class OnlineIdentifier:
    """Identify what an arm holds while it moves.

    Use it as a context manager: bounds are computed in a process of its own, which ends with it.

        with ss.OnlineIdentifier('kinova_gen3') as identifier:
            for t, q, qd, tau in stream:
                estimate = identifier.step(t, q, qd, tau)

    Args:
        arm: what `load_arm` returns or takes.
        settings: what is known before and how wrong measurements may be, as for
            `identify_payload`; what is left open has the same defaults.
        period: of the samples [s]; None: learned from the first ones.

    """

    def __init__(
        self,
        arm: ArmLike,
        settings: RecordingSettings | None = None,
        period: float | None = None,
    ) -> None:
        self._arm = load_arm(arm)
        self._known = settings_or_default(settings, RecordingSettings)
        self._prior = prior_of(self._arm.model, prior_settings(self._known, self._arm))
        self._estimate = self._prior
        self._first: list[JointMeasurement] = []
        self._identifier, self._is_closed = None, False
        if period is not None:
            self._identifier = self._made(number('period', period, Range(above=0.0)))

    def step(
        self, t: float, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike
    ) -> ParameterEstimate:
        """Take a sample and return the best estimate so far.

        Args:
            t: time of the sample [s], growing.
            q: joint positions [rad], (n,).
            qd: joint velocities [rad/s], (n,).
            tau: measured joint torques [N m], gravity included, (n,).

        Returns:
            `end_effector` and `end_effector_bounds` are about everything the last joint moves;
            the same object until the estimate improves.

        Raises:
            MeasurementError: this is no sample of this arm, and it is not taken.
            IdentificationFault: a promise about the measurements was broken; `new_payload` is
                the way back.

        """
        self._check_open()
        sample = self._sample(t, q, qd, tau)
        if self._identifier is None:
            self._first.append(sample)
            if len(self._first) < FIRST:
                return self._estimate
            steps = np.diff([first.stamp for first in self._first])
            self._identifier = self._made(float(np.median(steps)) * 1e-9)
            for first in self._first:
                self._estimate = self._identifier.step(first)
            self._first = []
        else:
            self._estimate = self._identifier.step(sample)
        return self._estimate

    @property
    def nominal(self) -> Array:
        """Best estimate of what the last joint moves, (10,)."""
        return self._estimate.end_effector

    @property
    def lower(self) -> Array:
        """Guaranteed lower bounds, (10,)."""
        return self._estimate.end_effector_bounds.lower

    @property
    def upper(self) -> Array:
        """Guaranteed upper bounds, (10,)."""
        return self._estimate.end_effector_bounds.upper

    def finish(self) -> ParameterEstimate:
        """Return the estimate from everything taken so far, however long it takes to compute."""
        self._check_open()
        if self._identifier is not None:
            self._estimate = self._identifier.finish()
        return self._estimate

    def new_payload(self) -> None:
        """Forget the payload: something else is held from the next sample on."""
        self._check_open()
        self._first, self._estimate = [], self._prior
        if self._identifier is not None:
            self._identifier.new_payload()

    def close(self) -> None:
        """End the process that computes bounds; the last estimate stays."""
        self._is_closed = True
        if self._identifier is not None:
            self._identifier.close()
            self._identifier = None

    def __enter__(self) -> OnlineIdentifier:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ConfigError('this identifier is closed; make a new one for more samples')

    def _sample(
        self, t: float, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike
    ) -> JointMeasurement:
        """Return a sample that can be taken, so that a bad one costs no others."""
        n, given = self._arm.model.n, {'q': q, 'qd': qd, 'tau': tau}
        rows = [finite_numbers(name, x, n, MeasurementError) for name, x in given.items()]
        try:
            stamp = round(1e9 * number('t', t, TIMES))
        except ConfigError as error:
            raise MeasurementError(str(error)) from error
        if self._first and stamp <= self._first[-1].stamp:
            raise MeasurementError(
                f't is {t} s, not after the sample before, {1e-9 * self._first[-1].stamp} s'
            )
        return JointMeasurement(stamp, *rows)

    def _made(self, period: float) -> PayloadIdentifier:
        """Return the identifier of the loop, for samples of this period [s]."""
        known = self._known
        readings = reading_errors(
            self._arm.model, period, known.position_error, known.velocity_error
        )
        observation = observation_settings(known, period, readings)
        solve = replace(SolveSettings(), reach=self._known.payload_reach)
        settings = IdentifierSettings(observation, solve, SOLVE_PERIOD)
        return PayloadIdentifier(self._arm.model, self._prior, settings, SolvesInBackground)
