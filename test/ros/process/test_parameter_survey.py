"""ParameterSurvey asks again until it is answered."""

import pytest
from rcl_interfaces.srv import GetParameters, ListParameters
import rclpy
from rclpy.client import Client
from rclpy.parameter import Parameter
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


def test_a_node_that_leaves_all_out_for_one_that_was_never_set_is_asked_one_by_one(asked):
    """As rclcpp answers: no value at all where one of the names has none."""
    executor, asks, _ = asked
    values = {'mass': 2.5, 'unset': None, 'name': 'left'}
    other = rclpy.create_node('cpp', start_parameter_services=False)
    executor.add_node(other)

    def listed(_, answer):
        answer.result.names = list(values)
        return answer

    def got(request, answer):
        told = [values[name] for name in request.names]
        if None not in told:
            answer.values = [Parameter('', value=v).get_parameter_value() for v in told]
        return answer

    other.create_service(ListParameters, '/cpp/list_parameters', listed)
    other.create_service(GetParameters, '/cpp/get_parameters', got)
    found = []
    survey = ParameterSurvey(asks, found.append)

    def step():
        survey.step()
        executor.spin_once(timeout_sec=0.01)

    wait_until(lambda: any('/cpp:' in text for text in found), 'the parameters', step)
    (text,) = [text for text in found if text.startswith('/cpp:')]
    assert '  mass: 2.5' in text
    assert '  name: "left"' in text
    assert 'unset' not in text
    other.destroy_node()
