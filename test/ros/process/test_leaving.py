"""When a node leaves that nobody needs: never so that whoever started it starts it again."""

from types import SimpleNamespace

import pytest

from safe_sysid.ros.process.leaving import ALONE, OTHERS, LeaveAsMonitor

SOON = 0.5 * OTHERS  # [s]


class Told:
    """A monitor by hand, and a clock."""

    def __init__(self, monkeypatch):
        self.now, self._callbacks = 0.0, {}
        clock = SimpleNamespace(monotonic=lambda: self.now)
        monkeypatch.setattr('safe_sysid.ros.process.leaving.time', clock)
        self.leave = LeaveAsMonitor(self)

    def create_subscription(self, _, topic, callback, __):
        self._callbacks[topic] = callback

    def hear(self, topic, said):
        self._callbacks[topic](SimpleNamespace(data=said))

    def leaves_after(self, seconds):
        self.now += seconds
        return self.leave.is_due()


@pytest.fixture
def monitor(monkeypatch):
    found = Told(monkeypatch)
    found.hear('mode', 'task')
    return found


def test_after_the_end_it_waits_to_be_told_as_all_are_then(monitor):
    monitor.hear('end_requested', '0 monitor: the task is done')
    monitor.hear('mode', 'ended')
    assert not monitor.leaves_after(0.9 * ALONE)
    monitor.leave.ask('SIGINT', 1)
    assert monitor.leaves_after(0.0)


def test_after_the_end_it_leaves_by_itself_where_nobody_tells_it(monitor):
    monitor.hear('mode', 'ended')
    assert monitor.leaves_after(1.1 * ALONE)


def test_while_nobody_ends_the_run_it_stays_however_silent_the_supervisor_is(monitor):
    assert not monitor.leaves_after(10.0 * ALONE)


@pytest.mark.parametrize('all_are', [True, False])
def test_who_was_told_alone_leaves_and_who_was_told_with_all_sees_the_end(monitor, all_are):
    monitor.leave.ask('SIGINT', 1)
    if all_are:
        monitor.hear('end_requested', '0 safe-sysid: SIGINT')
    assert not monitor.leaves_after(SOON)
    assert monitor.leaves_after(OTHERS) is not all_are
    monitor.hear('mode', 'ended')
    assert monitor.leaves_after(0.0)
