"""An identifier that remembers what events had it do."""

from types import SimpleNamespace

import numpy as np

from safe_sysid.sets.interval import Interval

# What an estimate says, of what was held or, where a change was announced, of both bodies.
BOTH = SimpleNamespace(
    end_effector_bounds=Interval(np.full(10, 3.0), np.full(10, 5.0)), end_effector=np.full(10, 4.5)
)
WINDOW = 10


class Identifier:
    """Remembers what it was told."""

    longest_window = WINDOW
    has_fault = False

    def __init__(self):
        self.told, self.said, self.found = [], [], None
        self.estimate = BOTH

    @property
    def has_noticed(self):
        return self.found is not None

    def noticed(self):
        return self.found

    def announce(self, held):
        self.told.append(('announce', held))
        return SimpleNamespace(layout=None, theta=None, bounds=None)

    def change(self, after, before, held):
        self.told.append(('change', after, before, held.bounds, held.nominal))

    def trust(self):
        self.told.append(('trust',))

    def new_payload(self, since):
        self.told.append(('new payload', since))

    def doubt(self):
        self.told.append(('doubt',))
