"""Trials that leave a mark when they run, and a campaign of them as a program of its own."""

import os
from pathlib import Path
import sys
import time

import numpy as np

from safe_sysid.experiment.campaign import Workers, carry_out
from safe_sysid.experiment.store import Store
from safe_sysid.experiment.trial import Trial

SECONDS = 0.03


def trials(count, **settings):
    return [Trial('counted', {'number': i, **settings}, seed=i) for i in range(count)]


def square(trial):
    time.sleep(SECONDS)
    return {'square': trial.settings['number'] ** 2}


def ends_workers(trial):
    """Trial 3 ends its process once, as the system does when memory is short; trial 7 always."""
    number, mark = trial.settings['number'], Path(trial.settings['folder'], 'has_ended_one')
    if number == 7 or (number == 3 and not mark.exists()):
        if number == 3:
            mark.touch()
        os._exit(9)
    return square(trial)


def does_everything_wrong(trial):
    """Trial 1 ends its process, 2 never ends, 3 is no number, 4 raises."""
    number = trial.settings['number']
    if number == 1:
        os._exit(9)
    while number == 2:
        pass
    return {'square': {3: float('nan'), 4: 0.0}.get(number, number**2) / (number != 4)}


def bits(trial):
    """Linear algebra on random numbers, and on what another trial came to."""
    x = np.random.default_rng(trial.seed).normal(size=(60, 60))
    given = 0.0 if trial.given is None else trial.given['trace']
    return {'trace': float(np.trace(np.linalg.inv(x @ x.T))) + given}


def main():
    folder, count, workers = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    try:
        with Store(folder) as store:
            carry_out(store, square, trials(count), Workers(count=workers), print)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == '__main__':
    main()
