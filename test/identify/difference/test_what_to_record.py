"""What to record next halves the interval where it says so, and names what is in the way."""

from identify.difference.two_recordings import PAYLOAD, TwoLinks
import numpy as np
import pytest

from safe_sysid.identify.difference.against_empty import payload_difference
from safe_sysid.identify.difference.what_limits import Shares
from safe_sysid.identify.difference.what_to_record import Recorded, what_to_record

FLOORS = (2.0, 1.5, 1.0)


def by_load(loaded, without):
    return (0.97 / loaded + 0.03 / without) ** 0.5


def recorded(recordings=3, kappa=1.0, spread=lambda a, b: (0.7 / a + 0.3 / b) ** 0.5, **given):
    every = dict.fromkeys(('noise', 'friction', 'links'), np.full(10, 1 / 3))
    every |= dict.fromkeys(('residuals', 'before', 'delay', 'unit', 'calibrated'), np.zeros(10))
    shares = Shares(**(every | {name: np.full(10, x) for name, x in given.items()}))

    def enlarged(count):
        return max(kappa, FLOORS[min(count, 3) - 1])

    return Recorded(shares, 0.95, recordings, (20.0, 30.0), kappa, spread, enlarged)


def test_the_least_recording_that_halves_is_told_with_its_width():
    one = what_to_record(recorded(recordings=1, residuals=0.5))
    assert one.startswith('record the empty arm twice more for 30 s')
    assert one.endswith('instead of ± 0.5 kg')
    held = what_to_record(recorded(residuals=0.5, spread=by_load))
    assert '40 s' not in held
    assert '80 s with the payload instead of 20 s' in held
    both = what_to_record(recorded(residuals=0.5))
    assert 'with the payload' in both
    assert 'empty arm' in both


def test_what_no_recording_makes_less_is_named():
    assert 'known mass' in what_to_record(recorded(unit=1.0, residuals=0.5))
    assert 'delay' in what_to_record(recorded(residuals=0.1, delay=0.6))
    assert 'reversals' in what_to_record(recorded(kappa=2.5, residuals=0.5))
    some = what_to_record(recorded(residuals=0.5, unit=0.3))
    assert 'instead of' in some
    assert '0.3 kg are by the unit' in some


@pytest.mark.slow
def test_recordings_made_as_told_halve_the_interval():
    told, ratios = set(), []
    for seed in range(4):
        arm = TwoLinks(np.random.default_rng(seed), noise=0.05)
        loaded, empty = arm.log(PAYLOAD, 10.0), arm.log(0.0 * PAYLOAD, 20.0)
        short = payload_difference(arm.problem(loaded, [empty]))
        told.add(short.next_recording.split(':')[0])
        more = [empty, *(arm.log(0.0 * PAYLOAD, 20.0) for _ in range(4))]
        longer = arm.log(PAYLOAD, 40.0)
        long = payload_difference(arm.problem(longer, more))
        widths = [x.statistical_bounds.radius[0] for x in (long, short)]
        ratios.append(widths[0] / widths[1])
    assert all('record' in sentence for sentence in told)
    assert np.median(ratios) < 0.5
