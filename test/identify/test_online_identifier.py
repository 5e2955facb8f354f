"""The identifier over a recording: bounds shrink and hold, faults can't be overlooked."""

from dataclasses import replace
import os
import signal

import numpy as np
import pytest

from safe_sysid.bench.experiments.kinova_dumbbell import kinova_trial, wrong_trial
from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.identify.change.change_test import ChangeSettings
from safe_sysid.identify.change.change_watch import ChangeWatch
from safe_sysid.identify.change.held_next import HeldNext
from safe_sysid.identify.change.looks_in_background import LooksInBackground
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.identify.online_identifier import (
    IdentificationFault,
    IdentifierSettings,
    OnlineIdentifier,
)
from safe_sysid.identify.payload_estimator import SolveSettings
from safe_sysid.identify.replay import replay
from safe_sysid.identify.solves import SolvesAtOnce, SolvesInBackground
from safe_sysid.model.inertia import is_consistent
from safe_sysid.simulate.excited_motion import fourier_motion, recorded, true_torque

SETTINGS = IdentifierSettings(
    ObservationSettings(
        window=100,
        longest_step=0.0015,
        position_error=(0.0,),
        velocity_error=(0.0,),
        torque_ratio=(0.025,),
    ),
    SolveSettings(seconds=600.0, fit_seconds=600.0),  # no clock decides
)


@pytest.fixture(scope='module')
def trial():
    return kinova_trial(np.random.default_rng(11), seconds=3.0)


@pytest.fixture
def identifier(trial):
    identifier = OnlineIdentifier(trial.model, trial.prior, SETTINGS, SolvesAtOnce)
    yield identifier
    identifier.close()


def estimates(identifier, log, count=None):
    return [identifier.step(log[i]) for i in range(len(log) if count is None else count)]


def test_bounds_shrink_contain_the_truth_and_never_widen(trial, identifier):
    seen = [*estimates(identifier, trial.log), identifier.finish()]
    different = [a for a, b in zip(seen[1:], seen[:-1], strict=True) if a is not b]
    assert 4 <= len(different) <= 7  # every half second, and at the end
    last = trial.prior
    for estimate in different:
        assert last.bounds.contains(estimate.bounds)
        assert estimate.bounds.contains(trial.model.theta)
        assert estimate.bounds.contains(estimate.theta)
        assert is_consistent(estimate.end_effector)
        last = estimate
    radius, prior = last.end_effector_bounds.radius, trial.prior.end_effector_bounds.radius
    assert (radius < prior).all()
    assert radius[0] < 0.4
    rest = trial.prior.layout.rest
    np.testing.assert_array_equal(last.bounds.lower[rest], trial.prior.bounds.lower[rest])


@pytest.mark.slow
def test_a_replay_is_what_the_identifier_says_sample_by_sample(trial, identifier):
    """Estimates, when they came, and what readings say."""
    begin = trial.log.stamp[0]
    seen, said = [trial.prior], []
    for k in range(len(trial.log)):
        estimate = identifier.step(trial.log[k])
        if estimate is not seen[-1]:
            seen.append(estimate)
            said.append((trial.log.stamp[k] - begin) * 1e-9)
    seen.append(identifier.finish())
    found = replay(trial.model, trial.prior, SETTINGS, trial.log, 1.2, lambda *_: None)
    assert found.refused is None
    np.testing.assert_array_equal(found.series.time[1:-1], said)
    np.testing.assert_array_equal(
        found.series.lower[1:], [e.end_effector_bounds.lower for e in seen[1:]]
    )
    np.testing.assert_array_equal(
        found.series.upper[1:], [e.end_effector_bounds.upper for e in seen[1:]]
    )
    before = seen[sum(time <= 1.2 for time in said)]
    np.testing.assert_array_equal(found.at_split.theta, before.theta)


def test_the_same_object_comes_back_until_the_estimate_improves(trial, identifier):
    seen = estimates(identifier, trial.log, 400)
    assert all(estimate is trial.prior for estimate in seen)


def test_a_new_payload_starts_from_the_prior(trial, identifier):
    estimates(identifier, trial.log, 700)
    assert identifier.step(trial.log[700]) is not trial.prior
    identifier.new_payload()
    # time may start anew as well
    again = estimates(identifier, trial.log, 400)
    assert all(estimate is trial.prior for estimate in again)
    assert identifier.finish() is not trial.prior


def grasped_while_samples_wait(trial, since):
    """Whether bounds hold for a body that is 1 kg heavier from sample 1200 on.

    At 1250 somebody says so, when samples from 1000 on still wait for the identifier.
    """
    heavy = trial.model.theta.copy()
    heavy[trial.prior.layout.end_effector.start] += 1.0
    motion = fourier_motion(np.random.default_rng(5), trial.model.n, 3.0, 0.001)
    log = recorded(motion, true_torque(trial.model, motion))
    after = recorded(motion, true_torque(trial.model.with_parameters(heavy), motion))
    identifier = OnlineIdentifier(trial.model, trial.prior, SETTINGS, SolvesAtOnce)
    estimates(identifier, log, 1000)
    identifier.new_payload(since(log.stamp[1250]))
    for i in range(1000, len(log)):
        estimate = identifier.step(log[i] if i < 1200 else after[i])
        assert i > 1250 + SETTINGS.observation.window or estimate is trial.prior
    bounds = identifier.finish().end_effector_bounds
    theta = heavy[trial.prior.layout.end_effector]
    return np.all((bounds.lower <= theta) & (theta <= bounds.upper))


def test_samples_from_before_the_grasp_never_count_for_the_new_payload(trial):
    assert grasped_while_samples_wait(trial, int)


def test_without_the_stamp_they_would(trial):
    """So the test above can fail."""
    with pytest.raises(IdentificationFault, match='contradict'):
        grasped_while_samples_wait(trial, lambda _: -1)


def test_a_contradiction_is_a_fault_at_every_step_until_the_next_payload():
    case = wrong_trial(np.random.default_rng([3, 1]), 'torque_noise_twice')
    torque = case.log.torque.copy()
    torque[1000:1600, 3] += 12.0  # an unmodelled contact
    log = replace(case.log, torque=torque)
    identifier = OnlineIdentifier(case.model, case.prior, SETTINGS, SolvesAtOnce)
    with pytest.raises(
        IdentificationFault, match=r'joint_4.*contradict the model.*fall back'
    ) as e:
        estimates(identifier, log)
    assert e.value.estimate is case.prior
    with pytest.raises(IdentificationFault):
        identifier.step(log[len(log) - 1])
    with pytest.raises(IdentificationFault):
        identifier.finish()
    identifier.new_payload()
    assert identifier.step(log[0]) is case.prior


def test_an_inverted_torque_signal_is_refused_before_any_bound(trial):
    wrong = replace(trial.log, torque=-trial.log.torque)
    identifier = OnlineIdentifier(trial.model, trial.prior, SETTINGS, SolvesAtOnce)
    with pytest.raises(IdentificationFault, match='joint_'):
        for estimate in (identifier.step(wrong[i]) for i in range(len(wrong))):
            assert estimate is trial.prior


def test_a_backward_stamp_is_a_fault(trial, identifier):
    identifier.step(trial.log[5])
    with pytest.raises(IdentificationFault, match=r'is 2000000 ns before the one'):
        identifier.step(trial.log[3])
    with pytest.raises(IdentificationFault):
        identifier.step(trial.log[6])


def test_after_a_fault_trust_gives_back_no_bounds_from_before_it(trial, identifier):
    estimates(identifier, trial.log, 700)
    prior = trial.prior
    identifier.announce(HeldNext(prior.end_effector_bounds, prior.end_effector))
    with pytest.raises(IdentificationFault):
        identifier.step(trial.log[3])
    identifier.trust()
    assert identifier.estimate is prior


def test_a_sample_that_is_no_measurement_is_refused_and_the_next_is_taken(trial, identifier):
    for i in range(250):
        if i == 120:
            bad = replace(trial.log[i], velocity=np.full(7, np.nan))
            with pytest.raises(MeasurementError, match='velocity of joint_1 is nan'):
                identifier.step(bad)
        else:
            identifier.step(trial.log[i])
    assert identifier.finish().bounds.contains(trial.model.theta)


@pytest.mark.slow
def test_the_background_finds_what_is_found_at_once(trial, identifier):
    behind = OnlineIdentifier(trial.model, trial.prior, SETTINGS, SolvesInBackground)
    try:
        for i in range(900):
            identifier.step(trial.log[i])
            behind.step(trial.log[i])
        at_once, later = identifier.finish(), behind.finish()
        assert later.bounds.contains(trial.model.theta)
        np.testing.assert_allclose(
            later.end_effector_bounds.radius, at_once.end_effector_bounds.radius, rtol=0.05
        )
        behind.new_payload()
        assert behind.step(trial.log[0]) is trial.prior
    finally:
        behind.close()


def test_samples_that_are_always_too_far_apart_are_a_fault_and_not_silence(trial, identifier):
    with pytest.raises(IdentificationFault, match=r'0\.002 s apart .* longest_step = 0\.0015 s'):
        for i in range(0, 600, 2):
            identifier.step(trial.log[i])


class CountedSolves(SolvesAtOnce):
    """Counts what it is asked to do."""

    asked = 0

    def add(self, rows):
        self.asked += 1
        super().add(rows)

    def request(self):
        self.asked += 1
        super().request()

    def poll(self):
        self.asked += 1
        return super().poll()


def test_no_sample_waits_for_two_things(trial):
    identifier = OnlineIdentifier(trial.model, trial.prior, SETTINGS, CountedSolves)
    solves, observer = identifier._solves, identifier._observer
    count, close, closes = [], observer._close, []
    observer._close = lambda: (closes.append(len(count)), close())[1]
    estimate, learnt = trial.prior, []
    for i in range(1300):
        before = solves.asked
        last, estimate = estimate, identifier.step(trial.log[i])
        if estimate is not last:
            learnt.append(i)
        count.append(solves.asked - before)
    assert max(count) == 1
    assert len(closes) == 12 and not any(count[i] for i in closes)
    assert len(learnt) == 2 and not any(count[i] for i in learnt)
    identifier.close()


def test_a_dead_solver_process_is_a_fault_and_close_leaves_no_process(trial):
    identifier = OnlineIdentifier(trial.model, trial.prior, SETTINGS, SolvesInBackground)
    worker = identifier._solves._worker.process
    pid = worker.pid
    os.kill(pid, signal.SIGKILL)
    worker.wait()
    with pytest.raises(IdentificationFault, match='process that computes bounds has ended'):
        for i in range(3000):
            identifier.step(trial.log[i])
    identifier.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_dead_process_that_looks_for_changes_is_a_fault(trial):
    """Nobody would notice a change any more."""
    watch = ChangeWatch(
        trial.model, trial.prior, SETTINGS.observation, ChangeSettings(), LooksInBackground
    )
    identifier = OnlineIdentifier(trial.model, trial.prior, SETTINGS, SolvesAtOnce, watch)
    try:
        worker = watch._looks._worker.process
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        with pytest.raises(IdentificationFault, match=r'looks for changes .* has ended'):
            estimates(identifier, trial.log, 500)
        with pytest.raises(IdentificationFault, match=r'looks for changes .* has ended'):
            identifier.step(trial.log[500])
    finally:
        identifier.close()


def test_settings_out_of_range_are_named():
    with pytest.raises(ConfigError, match='solve_period is 0'):
        IdentifierSettings(solve_period=0.0)
    with pytest.raises(ConfigError, match='window is 4; online it has to be 5 samples or more'):
        IdentifierSettings(ObservationSettings(window=4))
    with pytest.raises(ConfigError, match='row_budget is 0'):
        SolveSettings(row_budget=0)
    with pytest.raises(ConfigError, match='reach is -1'):
        SolveSettings(reach=-1.0)
