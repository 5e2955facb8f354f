"""The compiled search finds where an arm last moved, as one would by looking at each sample."""

import numpy as np

from safe_sysid.identify.last_motion import last_motion


def test_the_last_motion_is_that_of_samples_looked_at_one_by_one(rng):
    for _ in range(200):
        still, n = rng.uniform(0.5, 5.0), int(rng.integers(1, 4))
        positions = np.cumsum(rng.normal(size=(int(rng.integers(0, 30)), n)), axis=0)
        start = place = rng.normal(size=n)
        last = -1
        for k, position in enumerate(positions):
            if np.abs(position - place).max() > still:
                last, place = k, position
        assert last_motion(positions, start, still) == last
