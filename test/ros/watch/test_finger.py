"""A finger tells open from closed, whichever way it counts."""

import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.ros.watch.payload_events import FingerSettings


@pytest.mark.parametrize(('opened', 'closed'), [(0.0, 0.8), (0.8, 0.0), (-0.2, 0.3), (0.04, 0.0)])
def test_halfway_is_where_it_closes(opened, closed):
    finger = FingerSettings('finger', opened, closed)
    for share in (0.0, 0.3, 0.49):
        assert not finger.is_closed(opened + share * (closed - opened))
    for share in (0.51, 0.8, 1.2):
        assert finger.is_closed(opened + share * (closed - opened))


def test_a_finger_that_does_not_move_is_refused():
    with pytest.raises(ConfigError, match='these have to differ'):
        FingerSettings('finger', 0.2, 0.2)
