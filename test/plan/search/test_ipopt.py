"""Ipopt finds known solutions, stops when told, and gives back the best point it has seen."""

from threading import Event, Thread
import time

import numpy as np
import pytest

from safe_sysid.errors import BoundError, ConfigError
from safe_sysid.plan.search.ipopt import Evaluation, IpoptSettings, SolverOutcome, solve


class Rosenbrock:
    """In a disc |x|^2 <= 1.5; the solution is on its edge."""

    lower, upper = np.full(2, -2.0), np.full(2, 2.0)

    def __init__(self, wait=0.0):
        self.wait = wait
        self.seen = []

    def evaluate(self, x):
        time.sleep(self.wait)
        a, b = x
        value = Evaluation(
            float((1 - a) ** 2 + 100 * (b - a * a) ** 2),
            np.array([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)]),
            np.array([1.5 - a * a - b * b]),
            np.array([[-2 * a, -2 * b]]).__getitem__,
        )
        self.seen.append((value.violation, value.cost))
        return value


class ManyLines:
    """Nearest point to (3, 0) in a circle of radius 1, made of 2000 tangents."""

    lower, upper = np.full(2, -5.0), np.full(2, 5.0)

    def __init__(self):
        angle = 2 * np.pi * np.arange(2000) / 2000
        self.normals = np.stack([np.cos(angle), np.sin(angle)], axis=1)

    def evaluate(self, x):
        away = np.asarray(x) - [3.0, 0.0]
        cost, slopes = 0.5 * float(away @ away), (-self.normals).__getitem__
        return Evaluation(cost, away, 1.0 - self.normals @ x, slopes)


class Failing(Rosenbrock):
    """From the fourth evaluation on something goes wrong."""

    def __init__(self, trouble):
        super().__init__()
        self.trouble = trouble

    def evaluate(self, x):
        return super().evaluate(x) if len(self.seen) < 3 else self.trouble()


def raising(error):
    def trouble():
        raise error

    return trouble


def nan():
    return Evaluation(np.nan, np.zeros(2), np.zeros(1), np.zeros((1, 2)).__getitem__)


START = np.array([-1.0, 1.0])


def test_finds_the_solution_on_the_edge():
    result = solve(Rosenbrock(), START, 10.0)
    assert result.outcome is SolverOutcome.SOLVED
    assert result.is_feasible
    angle = np.linspace(0, 2 * np.pi, 1_000_001)
    edge = np.sqrt(1.5) * np.stack([np.cos(angle), np.sin(angle)])
    cost = (1 - edge[0]) ** 2 + 100 * (edge[1] - edge[0] ** 2) ** 2
    assert np.allclose(result.x, edge[:, cost.argmin()], atol=1e-3)
    assert result.cost == pytest.approx(cost.min(), rel=0.02)


def test_rows_that_were_left_out_hold_as_well():
    problem = ManyLines()
    result = solve(problem, [0.0, 4.0], 10.0, settings=IpoptSettings(rows=3))
    assert result.outcome is SolverOutcome.SOLVED
    assert problem.evaluate(result.x).violation == 0.0
    assert np.allclose(result.x, [1.0, 0.0], atol=2e-3)


def test_without_constraints():
    class Free(Rosenbrock):
        def evaluate(self, x):
            value = super().evaluate(x)
            none = np.zeros((0, 2)).__getitem__
            return Evaluation(value.cost, value.gradient, np.zeros(0), none)

    result = solve(Free(), START, 10.0)
    assert result.outcome is SolverOutcome.SOLVED
    assert np.allclose(result.x, 1.0, atol=1e-3)


def test_says_when_nothing_nearby_is_allowed():
    class Impossible(Rosenbrock):
        def evaluate(self, x):
            value = super().evaluate(x)
            x = np.asarray(x)
            broken, slopes = np.array([-1 - x @ x]), (-2 * x[None]).__getitem__
            return Evaluation(value.cost, value.gradient, broken, slopes)

    result = solve(Impossible(), START, 10.0)
    assert result.outcome is SolverOutcome.INFEASIBLE
    assert not result.is_feasible
    assert result.violation == pytest.approx(1.0, abs=1e-3)
    assert 'no point nearby' in str(result)


def test_gives_the_best_point_seen_when_time_is_up():
    problem = Rosenbrock(wait=0.01)
    result = solve(problem, START, 0.1)
    assert result.outcome is SolverOutcome.OUT_OF_TIME
    assert (result.violation, result.cost) == min(problem.seen)
    assert result.evaluations == len(problem.seen) <= 11


def test_without_time_nothing_is_evaluated():
    problem = Rosenbrock()
    result = solve(problem, START, 0.0)
    assert result.outcome is SolverOutcome.OUT_OF_TIME
    assert problem.seen == []
    assert not result.is_feasible
    assert np.array_equal(result.x, START)


def test_another_thread_can_cancel():
    cancelled, results, problem = Event(), [], Rosenbrock(wait=0.01)
    search = Thread(target=lambda: results.append(solve(problem, START, 60.0, cancelled)))
    search.start()
    while len(problem.seen) < 3:
        time.sleep(0.001)
    cancelled.set()
    search.join(timeout=30.0)
    assert results[0].outcome is SolverOutcome.CANCELLED
    assert results[0].cost < np.inf


@pytest.mark.parametrize(
    ('trouble', 'words'),
    [
        (raising(np.linalg.LinAlgError('did not converge')), 'did not converge'),
        (raising(BoundError('the set has no bound')), 'the set has no bound'),
        (raising(ZeroDivisionError('by zero')), 'by zero'),
        (nan, 'not finite'),
    ],
)
def test_numerical_trouble_is_a_result(trouble, words):
    result = solve(Failing(trouble), START, 10.0)
    assert result.outcome is SolverOutcome.FAILED
    assert words in result.trouble
    assert result.cost < np.inf


def test_mistakes_in_the_problem_are_raised():
    with pytest.raises(TypeError, match='misuse'):
        solve(Failing(raising(TypeError('misuse'))), START, 10.0)
    with pytest.raises(BoundError, match='finite'):
        solve(Rosenbrock(), [np.nan, 0.0], 1.0)
    with pytest.raises(ConfigError, match='iterations is 0, it has to be at least 1'):
        IpoptSettings(iterations=0)


def test_searches_in_several_threads_do_not_disturb_each_other():
    results = []
    threads = [
        Thread(target=lambda x=x: results.append(solve(Rosenbrock(1e-4), x, 60.0)))
        for x in (START, -START, 0.5 * START, 0.0 * START)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = solve(Rosenbrock(), START, 10.0)
    assert len(results) == 4
    assert all(np.allclose(result.x, alone.x, atol=1e-3) for result in results)
