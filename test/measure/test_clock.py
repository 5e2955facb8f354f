"""A clock keeps nanoseconds that a float of seconds since 1970 would lose."""

from safe_sysid.measure.clock import Clock

IN_2026 = 1_780_000_000_123_456_789


def test_one_nanosecond_after_the_origin_is_one_nanosecond():
    assert Clock(IN_2026).seconds(IN_2026 + 1) == 1e-9
    assert (IN_2026 + 1) / 1e9 - IN_2026 / 1e9 == 0.0  # what is lost without an origin


def test_stamps_and_seconds_go_back_and_forth(rng):
    clock = Clock(IN_2026)
    for elapsed in rng.integers(-(10**12), 10**12, size=100):
        stamp = IN_2026 + int(elapsed)
        assert clock.stamp(clock.seconds(stamp)) == stamp
