"""ParameterSurvey asks again until it is answered."""

import pytest
import rclpy
from rclpy.client import Client
from rclpy.task import Future
from ros.running_node import wait_until

from safe_sysid.ros.process import parameter_survey
from safe_sysid.ros.process.distributions import single_threaded_executor
from safe_sysid.ros.process.parameter_survey import ParameterSurvey


@pytest.fixture
def asked():
    rclpy.init()
    executor = single_threaded_executor()
    nodes = [rclpy.create_node(name) for name in ('asks', 'answers')]
    for node in nodes:
        executor.add_node(node)
    yield executor, *nodes
    for node in nodes:
        node.destroy_node()
    rclpy.shutdown()


@pytest.mark.parametrize('lost', [(), (0,), (1,), (0, 1, 2, 3)])
def test_parameters_are_known_although_questions_are_lost(asked, monkeypatch, lost):
    executor, asks, answers = asked
    answers.declare_parameter('mass', 2.5)
    questions, call = [], Client.call_async

    def call_or_lose(client, request):
        if not client.service_name.startswith('/answers/'):
            return call(client, request)
        questions.append(request)
        return Future(executor=executor) if len(questions) - 1 in lost else call(client, request)

    monkeypatch.setattr(Client, 'call_async', call_or_lose)
    monkeypatch.setattr(parameter_survey, 'AGAIN', 0.05)
    found = []
    survey = ParameterSurvey(asks, found.append)

    def step():
        survey.step()
        executor.spin_once(timeout_sec=0.01)

    wait_until(lambda: any('/answers:' in text for text in found), 'the parameters', step)
    assert len(questions) >= 2 + len(lost)
    for _ in range(20):
        step()
    (text,) = [text for text in found if text.startswith('/answers:')]  # told once
    assert '  mass: 2.5' in text
