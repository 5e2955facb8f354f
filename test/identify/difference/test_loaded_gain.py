"""An effort that is scaled in the loaded recording alone shows in what the arm itself takes."""

from dataclasses import replace

from identify.difference.test_block_errors import PRIOR, exact_rows
from identify.difference.two_recordings import PAYLOAD, TwoLinks
import numpy as np
import pytest

from safe_sysid.identify.difference.against_empty import payload_difference
from safe_sysid.identify.difference.block_errors import block_errors
from safe_sysid.identify.difference.loaded_gain import loaded_gain
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


@pytest.mark.parametrize('seed', [1, 2])
def test_another_unit_with_the_payload_is_refused_or_counted(seed):
    found = difference(TwoLinks(np.random.default_rng(seed)), 1.08)
    assert found.statistical is None
    assert found.guaranteed_bounds is None
    assert 'effort of all joints is +' in found.refused
    for scale in (1.05, 0.95):
        found = difference(TwoLinks(np.random.default_rng(seed)), scale)
        for bounds in (found.statistical_bounds, found.guaranteed_bounds):
            assert bounds is None or bounds.lower[0] <= PAYLOAD[0] <= bounds.upper[0]
    plain = difference(TwoLinks(np.random.default_rng(seed)), 1.0)
    assert plain.statistical.unlike is None
    assert plain.guaranteed_bounds is not None
