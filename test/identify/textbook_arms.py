"""Arms from a textbook, integrated without anything of this project: held torque, dry friction.

`slide` is solved in closed form. `swing`, two links in a vertical plane, takes Runge-Kutta steps
that end where a joint stops or breaks away, which is found by halving.
"""

from dataclasses import replace

from numba import njit
import numpy as np

from safe_sysid.measure.joint_log import JointLog
from safe_sysid.simulate.random_arm import random_tree


def slide(m, viscous, dry, forces, period):
    """Position and velocity of a sliding mass at the ends of all periods, from rest at 0."""
    q, v = 0.0, 0.0
    found = [(q, v)]
    for force in forces:
        left = period
        while left > 0.0:
            if v == 0.0 and abs(force) <= dry:
                break
            sign = np.sign(v) if v != 0.0 else np.sign(force)
            q, v, spent = _slide_one_way(q, v, force - sign * dry, m, viscous, sign, left)
            left -= spent
        found.append((q, v))
    return np.array(found)


def _slide_one_way(q, v, push, m, viscous, sign, left):
    """Until `left` is over or it stops: v(t) = u + (v - u) exp(-rate t)."""
    if viscous == 0.0:
        a = push / m
        spent = left if sign * a >= 0.0 else min(left, -v / a)
        end = v + a * spent if spent == left else 0.0
        return q + v * spent + 0.5 * a * spent**2, end, spent
    u, rate = push / viscous, viscous / m
    spent, stops = left, False
    if sign * u < 0.0 and v != 0.0:
        until = np.log1p(-v / u) / rate
        spent, stops = (until, True) if until < left else (left, False)
    grown = -np.expm1(-rate * spent)
    return q + u * spent + (v - u) * grown / rate, 0.0 if stops else v + (u - v) * grown, spent


HARDLY = 1e-10  # [N m] more than dry friction can hold, and share of a period: no event is nearer


@njit(cache=True)
def _inertia(q, arm):
    """M of two links; arm: m1, m2, length 1, com 1, com 2, I1, I2 (about the coms), Ia1, Ia2."""
    m1, m2, l1, c1, c2, i1, i2, a1, a2 = arm
    h = m2 * l1 * c2 * np.cos(q[1])
    m11 = m1 * c1**2 + i1 + m2 * (l1**2 + c2**2) + i2 + 2 * h + a1
    m12 = m2 * c2**2 + i2 + h
    m22 = m2 * c2**2 + i2 + a2
    return m11, m12, m22


@njit(cache=True)
def _load(q, v, tau, arm, viscous):
    """Torque left after gravity (downwards along -y), velocity terms and viscous friction."""
    m1, m2, l1, c1, c2 = arm[:5]
    h = m2 * l1 * c2 * np.sin(q[1])
    second = m2 * c2 * np.cos(q[0] + q[1])
    g = 9.81
    first = (m1 * c1 + m2 * l1) * np.cos(q[0]) + second
    return (
        tau[0] - g * first + h * v[1] * (2 * v[0] + v[1]) - viscous[0] * v[0],
        tau[1] - g * second - h * v[0] ** 2 - viscous[1] * v[1],
    )


@njit(cache=True)
def _slope(state, tau, arm, viscous, dry, mode):
    """Rates of (q1, q2, v1, v2); a joint of mode 0 stands still."""
    q, v = state[:2], state[2:]
    m11, m12, m22 = _inertia(q, arm)
    f1, f2 = _load(q, v, tau, arm, viscous)
    f1, f2 = f1 - dry[0] * mode[0], f2 - dry[1] * mode[1]
    a1, a2 = 0.0, 0.0
    if mode[0] != 0.0 and mode[1] != 0.0:
        det = m11 * m22 - m12**2
        a1, a2 = (m22 * f1 - m12 * f2) / det, (m11 * f2 - m12 * f1) / det
    elif mode[0] != 0.0:
        a1 = f1 / m11
    elif mode[1] != 0.0:
        a2 = f2 / m22
    return np.array([v[0], v[1], a1, a2])


@njit(cache=True)
def _spare(state, tau, arm, viscous, dry, mode):
    """How much dry friction joints that stand still have left; 1 for those that move."""
    slope = _slope(state, tau, arm, viscous, dry, mode)
    _, m12, _ = _inertia(state[:2], arm)
    f1, f2 = _load(state[:2], state[2:], tau, arm, viscous)
    spare, need = np.ones(2), np.zeros(2)
    need[0], need[1] = f1 - m12 * slope[3], f2 - m12 * slope[2]
    for j in range(2):
        if mode[j] == 0.0:
            spare[j] = dry[j] - abs(need[j])
    return spare, need


@njit(cache=True)
def _modes(state, tau, arm, viscous, dry):
    """Signs of motion that agree with the friction they mean, tried one by one."""
    best = np.zeros(2)
    for a in (0.0, 1.0, -1.0):
        for b in (0.0, 1.0, -1.0):
            mode = np.array([a, b])
            for j in range(2):
                if state[2 + j] != 0.0:
                    mode[j] = np.sign(state[2 + j])
            slope = _slope(state, tau, arm, viscous, dry, mode)
            spare, _ = _spare(state, tau, arm, viscous, dry, mode)
            fits = True
            for j in range(2):
                starts = state[2 + j] == 0.0 and mode[j] != 0.0
                if spare[j] < -HARDLY or (starts and mode[j] * slope[2 + j] <= 0.0):
                    fits = False
            if fits:
                return mode
    return best


@njit(cache=True)
def _runge_kutta(state, h, tau, arm, viscous, dry, mode):
    a = _slope(state, tau, arm, viscous, dry, mode)
    b = _slope(state + h / 2 * a, tau, arm, viscous, dry, mode)
    c = _slope(state + h / 2 * b, tau, arm, viscous, dry, mode)
    d = _slope(state + h * c, tau, arm, viscous, dry, mode)
    return state + h / 6 * (a + 2 * b + 2 * c + d)


@njit(cache=True)
def _is_over(state, tau, arm, viscous, dry, mode):
    """Which joint's mode has ended: it reversed, or friction does not hold it any more; or -1."""
    spare, _ = _spare(state, tau, arm, viscous, dry, mode)
    for j in range(2):
        if dry[j] > 0.0 and (mode[j] * state[2 + j] < 0.0 or spare[j] < -HARDLY):
            return j
    return -1


@njit(cache=True)
def swing(start, torques, period, steps, arm, viscous, dry):
    """States (periods + 1, 4) at the ends of all periods of held torque."""
    found = np.zeros((len(torques) + 1, 4))
    found[0] = start
    state = start.copy()
    for k in range(len(torques)):
        tau = torques[k]
        left = period
        mode = _modes(state, tau, arm, viscous, dry)
        while left > 1e-12 * period:
            h = min(left, period / steps)
            after = _runge_kutta(state, h, tau, arm, viscous, dry, mode)
            j = _is_over(after, tau, arm, viscous, dry, mode)
            if j >= 0:
                low, high = 0.0, h
                for _ in range(50):
                    middle = 0.5 * (low + high)
                    after = _runge_kutta(state, middle, tau, arm, viscous, dry, mode)
                    if _is_over(after, tau, arm, viscous, dry, mode) >= 0:
                        high = middle
                    else:
                        low = middle
                h = max(high, HARDLY * period)
                after = _runge_kutta(state, h, tau, arm, viscous, dry, mode)
                for i in range(2):
                    if dry[i] > 0.0 and mode[i] * after[2 + i] < 0.0:
                        after[2 + i] = 0.0
            state = after
            left -= h
            if j >= 0:
                mode = _modes(state, tau, arm, viscous, dry)
        found[k + 1] = state
    return found


def sliding_log(states, forces, period):
    """Recording of `slide` whose force is held from a stamp on."""
    stamp = np.arange(len(forces)) * round(period * 1e9)
    return JointLog(stamp, states[:-1, :1], states[:-1, 1:], np.asarray(forces)[:, None])


def swinging_log(states, torques, period):
    """Recording of `swing` whose torque is held from a stamp on."""
    stamp = np.arange(len(torques)) * round(period * 1e9)
    return JointLog(stamp, states[:-1, :2].copy(), states[:-1, 2:].copy(), torques)


def two_links(rng, arm, viscous, dry):
    """The model of the project of the same arm: both axes along z, links along x."""
    m1, m2, l1, c1, c2, i1, i2, a1, a2 = arm
    model = random_tree(rng, 2, serial=True)
    tree = model.tree._replace(
        parent=np.array([-1, 0]),
        R_parent_joint=np.array([np.eye(3)] * 2),
        p_parent_joint=np.array([[0.0, 0.0, 0.0], [l1, 0.0, 0.0]]),
        axis=np.array([[0.0, 0.0, 1.0]] * 2),
        is_prismatic=np.array([False, False]),
        gravity=np.array([0.0, -9.81, 0.0]),
    )
    theta = np.zeros(28)
    for place, (m, c, inertia) in zip((0, 10), ((m1, c1, i1), (m2, c2, i2)), strict=True):
        about = inertia + m * c**2
        # along x; the small moment about x keeps the body consistent
        theta[place : place + 10] = [m, m * c, 0, 0, 0.1 * inertia, 0, about, 0, 0, about]
    theta[20:] = [*dry, *viscous, a1, a2, 0.0, 0.0]
    return replace(model, tree=tree).with_parameters(theta)


def random_links(rng):
    """Figures of an arm for `swing`: (arm, viscous)."""
    m1, m2, l1 = rng.uniform(0.3, 4.0), rng.uniform(0.3, 4.0), rng.uniform(0.1, 0.5)
    c1, c2 = rng.uniform(0.05, 0.4, size=2)
    i1, i2 = m1 * rng.uniform(0.005, 0.05), m2 * rng.uniform(0.005, 0.05)
    a1, a2 = rng.choice([0.0, 0.1, 1.0], size=2)
    viscous = rng.choice([0.0, 0.5, 5.0], size=2) * rng.uniform(0.5, 2.0, size=2)
    return np.array([m1, m2, l1, c1, c2, i1, i2, a1, a2]), viscous
