"""An effort that is scaled in the loaded recording alone shows in what the arm itself takes."""

from dataclasses import replace

from identify.difference.test_block_errors import PRIOR, exact_rows
from identify.difference.two_recordings import PAYLOAD, TwoLinks
import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.identify.difference.against_empty import payload_difference
from safe_sysid.identify.difference.block_errors import block_errors
from safe_sysid.identify.difference.loaded_gain import LoadedGain, loaded_gain
from safe_sysid.identify.difference.shared_fit import shared_fit


def scaled(rows, share, joints):
    """Rows with efforts of these joints larger by a share while the payload is held."""
    factor = np.ones(rows.tau.shape)
    factor[np.ix_(rows.loaded, joints)] += share
    return replace(rows, tau=rows.tau * factor)


@pytest.mark.parametrize(('joints', 'column'), [([0, 1], 2), ([0], 0), ([1], 1)])
def test_a_change_is_found_and_what_it_does_to_the_payload(rng, joints, column):
    """Against fits of rows whose efforts are scaled, which know nothing of the projection."""
    _, rows = exact_rows(rng, noise=0.001)
    fits = [shared_fit(scaled(rows, share, joints), PRIOR) for share in (0.04, 0.05)]
    at = scaled(rows, 0.05, joints)
    found = loaded_gain(at, fits[1], block_errors(at, fits[1]))
    assert found.change[column] == pytest.approx(0.05, abs=0.006)
    assert np.abs(found.z[column]) > 5.0
    moved = (fits[1].phi - fits[0].phi) / 0.01
    assert found.moves[column, :4] == pytest.approx(moved[:4], rel=0.2, abs=0.2)


def difference(arm, scale):
    """What is said of a payload if efforts of the loaded recording are scaled."""
    loaded = arm.log(PAYLOAD)
    loaded = replace(loaded, tau=loaded.tau * scale)
    empty = [arm.log(0.0 * PAYLOAD, 40.0)]
    return payload_difference(arm.problem(loaded, empty, gain_error=0.01))


@pytest.mark.slow
@pytest.mark.parametrize('seed', slow_after(1, [1, 2]))
def test_another_unit_with_the_payload_is_counted(seed):
    for scale in (1.05, 0.95):
        found = difference(TwoLinks(np.random.default_rng(seed)), scale)
        assert 'effort of all joints is ' in found.statistical.unlike
        for bounds in (found.statistical_bounds, found.guaranteed_bounds):
            assert bounds.lower[0] <= PAYLOAD[0] <= bounds.upper[0]
    plain = difference(TwoLinks(np.random.default_rng(seed)), 1.0)
    assert plain.statistical.unlike is None
    radius = [x.statistical_bounds.radius[0] for x in (plain, found)]
    assert radius[0] < 0.6 * radius[1]


@pytest.mark.parametrize(
    ('change', 'deviation', 'stated', 'is_refused'),
    [(0.12, 0.005, 0.01, True), (0.12, 0.005, 0.2, False), (0.12, 0.02, 0.01, False),
     (0.045, 1e-4, 0.01, False), (-0.5, 0.02, 0.1, True)],
)  # fmt: skip
def test_only_a_change_beyond_friction_and_what_was_stated_forbids(
    change, deviation, stated, is_refused
):
    found = LoadedGain(np.array([0.0, 0.0, change]), np.full(3, deviation), np.ones((3, 10)))
    check = found.judged(np.full(3, 2.0), 9.0, 0.95)
    assert (check.doubt(('a', 'b'), stated) is not None) is is_refused
    assert check.is_seen.tolist() == [False, False, abs(change) > check.half[2]]
    assert np.all(check.widening == (abs(change) if check.is_seen[2] else 0.0))
