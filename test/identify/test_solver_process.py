"""The process that computes bounds keeps nothing of the solves it has done."""

from dataclasses import replace
import gc
from itertools import islice, product
import pickle
import socket
from types import SimpleNamespace

import numpy as np
import pytest

from safe_sysid.bench.experiments.kinova_dumbbell import kinova_trial
from safe_sysid.identify import log_cholesky_fit, solves
from safe_sysid.identify.linear_programs import Ending
from safe_sysid.identify.momentum_observation import MomentumObserver, ObservationSettings
from safe_sysid.identify.payload_estimator import PayloadEstimator, SolveSettings

OBSERVATION = ObservationSettings(
    window=100, longest_step=0.0015, position_error=(0.0,), velocity_error=(0.0,)
)
SETTINGS = SolveSettings(row_budget=100, seconds=1e6, fit_seconds=1e6)
PER_SOLVE = 5  # windows


@pytest.fixture(scope='module')
def trial():
    return kinova_trial(np.random.default_rng(11), seconds=3.0)


@pytest.fixture(scope='module')
def rows(trial):
    observer = MomentumObserver(trial.model, trial.prior.bounds, OBSERVATION)
    found = (observer.add(trial.log[i]) for i in range(len(trial.log)))
    return [each for each in found if each is not None]


def requests(rows, count):
    """Windows of each of some solves, over and over."""
    every = (each for _, each in product(range(PER_SOLVE * count), rows))
    for _ in range(count):
        yield list(islice(every, PER_SOLVE))


@pytest.mark.parametrize(
    ('seconds', 'ending'), [(1e-9, Ending.CLOCK), (SolveSettings().fit_seconds, Ending.ALL_DONE)]
)
def test_a_nominal_value_that_the_clock_ended_is_said(trial, rows, seconds, ending):
    settings = replace(SETTINGS, fit_seconds=seconds)
    estimator = PayloadEstimator(trial.model, trial.prior, settings)
    for each in rows[:PER_SOLVE]:
        estimator.add(each)
    assert estimator.solve().ending is ending


def test_ipopt_is_loaded_before_the_first_solve(trial, monkeypatch):
    made = []

    def counted(*args, **options):
        made.append(problem := real(*args, **options))
        return problem

    real = log_cholesky_fit.cyipopt.Problem
    monkeypatch.setattr(log_cholesky_fit, 'cyipopt', SimpleNamespace(Problem=counted))
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, solves.LONGEST_MESSAGE)
    with theirs:
        ours.send(pickle.dumps(('prior', trial.model, trial.prior, SETTINGS)))
        ours.close()
        solves.serve(theirs)
    assert len(made) == 1


@pytest.mark.slow
def test_an_estimator_keeps_as_many_objects_after_many_solves(trial, rows):
    estimator = PayloadEstimator(trial.model, trial.prior, SETTINGS)
    kept = []
    for number, windows in enumerate(requests(rows, 60)):
        for each in windows:
            estimator.add(each)
        assert estimator.solve().contradiction is None
        if number in (29, 59):
            gc.collect()
            kept.append(len(gc.get_objects()))
    assert kept[1] - kept[0] < 30  # less than one for each solve
