"""Who holds an arm, as the controller manager lists it."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from safe_sysid.ros.bridges import controller_switch
from safe_sysid.ros.bridges.controller_switch import ControllerSwitch, Switched

EFFORT, HOLD = 'effort', 'position'


class Manager:
    """Answers when it is told to."""

    def __init__(self):
        self.asked, self.is_there = [], True

    def client(self, kind, topic):
        del kind
        client = MagicMock()
        client.service_is_ready = lambda: self.is_there
        client.call_async = lambda _: self._call(topic)
        return client

    def _call(self, topic):
        future = MagicMock()
        self.asked.append((topic, future))
        return future

    def list(self, *active):
        """Answer the oldest question for a list."""
        place = next(i for i, (topic, _) in enumerate(self.asked) if 'list' in topic)
        _, future = self.asked.pop(place)
        names = [(name, 'active' if name in active else 'inactive') for name in (HOLD, EFFORT)]
        said = [SimpleNamespace(name=name, state=state) for name, state in names]
        future.result.return_value = SimpleNamespace(controller=said)
        (done,) = future.add_done_callback.call_args.args
        done(future)


@pytest.fixture
def manager():
    return Manager()


@pytest.fixture
def switch(manager, monkeypatch):
    monkeypatch.setattr(controller_switch, '_services', lambda: (MagicMock(), MagicMock()))
    node = MagicMock(create_client=manager.client)
    return ControllerSwitch(node, '/manager', Switched(EFFORT, HOLD))


@pytest.mark.parametrize('active', [EFFORT, HOLD])
def test_a_torque_is_at_work_while_the_effort_controller_is_on_and_looking_changes_nothing(
    switch, manager, active
):
    switch.look()
    assert [topic for topic, _ in manager.asked] == ['/manager/list_controllers']
    assert switch.has_torque is None
    manager.list(active)
    assert switch.has_torque is (active == EFFORT)
    assert switch.holds is (active == HOLD)


def test_nothing_is_known_where_the_manager_is_not_there_or_was_asked_for_something_else(
    switch, manager
):
    manager.is_there = False
    switch.look()
    assert switch.has_torque is None
    assert manager.asked == []
    manager.is_there = True
    switch.look()
    switch.give()
    manager.list(HOLD)
    assert switch.has_torque is None
    assert not switch.holds
