"""Trials that leave a mark when they run, and a campaign of them as a program of its own."""

import os
from pathlib import Path
import sys
import time

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


def main():
    folder, count, workers = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    with Store(folder) as store:
        carry_out(store, square, trials(count), Workers(count=workers), print)


if __name__ == '__main__':
    main()
