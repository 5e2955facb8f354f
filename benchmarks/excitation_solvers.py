"""The excitation design through Ipopt and through the optimiser of this package, side by side.

Same arm, start, rows and derivatives: the LBR Med 7 with the rod, criterion rho_2. Ipopt works
with a quasi-Newton matrix, as there are no second derivatives.
"""

import argparse
import time

import cyipopt
import numpy as np

from safe_sysid.bench.experiments.excitation import tool_problem
from safe_sysid.excite.barrier_descent import Descent
from safe_sysid.excite.criteria import STAGES
from safe_sysid.excite.design import random_start


class Program:
    """The design as Ipopt wants it; contact and torque rows are >= 0."""

    def __init__(self, problem, criterion):
        self.problem, self.criterion = problem, criterion
        self.A, self.lower, self.upper = problem.limits
        self.contacts = len(problem.rows(np.zeros(problem.shape)).values)
        self._at, self._known = None, None

    def _evaluated(self, x):
        if self._at is None or not np.array_equal(x, self._at):
            self._at = x.copy()
            self._known = self.problem.criterion(self.criterion, x.reshape(self.problem.shape))
        return self._known

    def objective(self, x):
        """Criterion."""
        return self._evaluated(x)[0]

    def gradient(self, x):
        """Its derivatives."""
        return self._evaluated(x)[1].ravel()

    def constraints(self, x):
        """Linear rows, then contact and torque."""
        x = x.reshape(self.problem.shape)
        return np.concatenate([(x @ self.A.T).ravel(), self.problem.rows(x).values])

    def jacobianstructure(self):
        """Blocks of one joint each, then full rows."""
        n, m = self.problem.shape
        linear = np.arange(n * len(self.A))
        rows = np.repeat(linear, m)
        columns = (linear[:, None] // len(self.A) * m + np.arange(m)).ravel()
        dense = np.indices((self.contacts, n * m)).reshape(2, -1)
        return (
            np.concatenate([rows, dense[0] + len(linear)]),
            np.concatenate([columns, dense[1]]),
        )

    def jacobian(self, x):
        """In that order."""
        x = x.reshape(self.problem.shape)
        rows = self.problem.rows(x)
        contacts = self.problem.row_gradients(rows, np.arange(self.contacts))
        return np.concatenate([np.tile(self.A, (len(x), 1)).ravel(), contacts.ravel()])

    def solved(self, x, iterations):
        """Where Ipopt gets from x."""
        solver = cyipopt.Problem(
            n=x.size,
            m=self.lower.size + self.contacts,
            problem_obj=self,
            cl=np.append(self.lower, np.zeros(self.contacts)),
            cu=np.append(self.upper, np.full(self.contacts, 1e20)),
        )
        options = {
            'print_level': 0,
            'sb': 'yes',
            'hessian_approximation': 'limited-memory',
            'limited_memory_max_history': 30,
            'max_iter': iterations,
            'mu_strategy': 'adaptive',
        }
        for name, value in options.items():
            solver.add_option(name, value)
        found, _ = solver.solve(x.ravel())
        return found.reshape(self.problem.shape)


def with_ipopt(problem, x, steps):
    return Program(problem, STAGES['rho'][0]).solved(x, steps)


def with_ours(problem, x, steps):
    descent = Descent(problem, x)
    for _ in descent.steps(STAGES['rho'][0], steps):
        pass
    return descent.x


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--steps', type=int, default=20)
    steps = parser.parse_args().steps
    problem = tool_problem()
    x = random_start(problem, np.random.default_rng([1, 0]))
    with_ours(problem, x, 20)  # compiled, and caches filled
    for name, solve in (('ours', with_ours), ('Ipopt', with_ipopt)):
        begin = time.process_time()
        found = solve(problem, x, steps)
        spent = (time.process_time() - begin) / steps
        condition = problem.information.condition(problem.states(found))
        worst = max(0.0, -problem.rows(found).values.min())
        print(
            f'{name:6} {1e3 * spent:8.1f} ms of CPU time per step, after {steps} steps: '
            f'condition {condition:.1f}, worst contact or torque row {1e3 * worst:.2f} mm off'
        )


if __name__ == '__main__':
    main()
