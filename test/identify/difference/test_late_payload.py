"""A delay that all rows share: what it is enclosed by, and attacks on the bounds with it."""

from dataclasses import replace

from identify.difference.promised_rows import Promised
from identify.difference.two_recordings import PAYLOAD, TwoLinks
import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from safe_sysid.identify.difference import guaranteed
from safe_sysid.identify.difference.against_empty import payload_difference
from safe_sysid.identify.difference.guaranteed import Promise
from safe_sysid.identify.difference.late_payload import LatePayload
from safe_sysid.identify.difference.spectral_blocks import block_seconds

LATE = 0.03  # [s]


@pytest.mark.parametrize('seconds', [0.01, LATE, 0.2])  # 0.2 s: beyond the next row
def test_a_delay_is_within_the_columns_and_the_remainder(rng, seconds):
    given = Promised(rng)
    rows, blocks = given.rows, given.blocks
    late = LatePayload.of(blocks, rows, seconds)
    here = rows.loaded
    curve = CubicSpline(rows.t[here], rows.Y_L[here])
    used = 0.0
    for d in [-seconds, seconds, *rng.uniform(-seconds, seconds, 10)]:
        moved = np.zeros(rows.Y_L.shape)
        moved[here] = curve(rows.t[here] - d) - rows.Y_L[here]
        left = blocks.of(moved) - (d / seconds) * late.columns
        assert np.all(np.abs(left) <= late.largest * (1.0 + 1e-9) + 1e-12)
        used = max(used, float((np.abs(left) / np.maximum(late.largest, 1e-9)).max()))
    assert used > 0.6  # not much wider than it has to be


class Attack:
    """Late torques and errors at the vertices of a promise."""

    def __init__(self, rng):
        self.given, self.rng = Promised(rng), rng
        self.shape = (len(self.given.blocks.rows), len(self.given.blocks.transform), 2)
        self.delta = np.full(self.shape[1:], 0.02)

    def margin(self, late, signs, promised=LATE):
        """How far inside its bounds the mass is, in their half-width; less than 0 is a loss."""
        given = self.given
        rows = given.with_errors(guaranteed.FACTOR * signs * self.delta, given.late(late))
        found = given.bounds(rows, Promise(self.delta, 10, 5.0, late=promised))
        if found.bounds is None:
            return -np.inf
        lower, upper = found.bounds.lower[0], found.bounds.upper[0]
        return 2.0 * min(PAYLOAD[0] - lower, upper - PAYLOAD[0]) / (upper - lower)

    def pulls(self):
        """Signs with which rows pull the mass most, as it is and as it changes."""
        given = self.given
        late = LatePayload.of(given.blocks, given.rows, LATE).columns
        held = given.rows.Y_L * given.rows.loaded[:, None, None]
        for pull in (given.blocks.of(held)[..., 0], late @ PAYLOAD, -(late @ PAYLOAD)):
            yield np.sign(pull) + (pull == 0.0)

    def signs(self):
        return self.rng.choice([-1.0, 1.0], self.shape)


@pytest.mark.slow
def test_no_delay_within_the_promise_loses_the_payload(rng):
    """Random ones and signs, corners against what pulls the mass, and a climb from the worst."""
    attack = Attack(rng)
    corners = [(d, s) for d in (-LATE, LATE) for s in attack.pulls()]
    tried = [*corners, *((rng.uniform(-LATE, LATE), attack.signs()) for _ in range(3))]
    margins = [attack.margin(*each) for each in tried]
    worst, (late, signs) = min(zip(margins, tried, strict=True), key=lambda pair: pair[0])
    for _ in range(6):
        flipped = np.where(rng.uniform(size=attack.shape) < 0.2, -signs, signs)
        margin = attack.margin(late, flipped)
        if margin < worst:
            worst, signs = margin, flipped
    assert 0.0 <= worst < 0.9


def test_a_delay_that_nobody_promised_loses_it_or_is_refused(rng):
    attack = Attack(rng)
    attack.delta[:] = 0.004
    assert attack.margin(2.0 * LATE, attack.signs(), promised=0.0) < 0.0
    assert attack.margin(LATE, attack.signs()) >= 0.0


def test_the_remainder_counts_for_any_payload_in_the_box(rng):
    """Without errors of torque and with a delay of several rows only the remainder is left."""
    attack = Attack(rng)
    attack.delta[:] = 1e-5
    late = 0.15
    assert attack.margin(late, attack.signs(), promised=late) >= 0.0


def test_pieces_between_gaps_shorten_blocks(rng):
    """Blocks of 8 s fit into none of these pieces: the payload would be in no row at all."""
    arm = TwoLinks(rng)
    whole = arm.log(PAYLOAD, 24.0)
    pieces = [whole.part(i / 4, (i + 0.97) / 4) for i in range(4)]
    problem = replace(arm.problem(whole, [arm.log(0.0 * PAYLOAD, 40.0)]), loaded=pieces)
    found = payload_difference(problem)
    assert 1.0 < found.guaranteed.promise.seconds < 6.0
    sure = found.guaranteed_bounds
    assert sure.lower[0] <= PAYLOAD[0] <= sure.upper[0]
    assert sure.radius[0] < 1.0


def test_blocks_are_as_long_as_pieces_allow(rng):
    rows = Promised(rng).rows
    assert block_seconds(rows) == 8.0
