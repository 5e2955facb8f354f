"""Plan with costs of your own: energy, manipulability, a camera, a preferred elbow."""

import casadi as cs

import safe_sysid as ss

ARM, CAMERA, TIP = 'kinova_gen3', 'wrist_camera_link', 'gen3_end_effector_link'
SHELF = [0.55, 0.0, 0.4]  # [m]
GOAL = [0.2, 0.35, 0.1, 1.0, 0.2, 0.9, 0.0]  # [rad]

model = ss.casadi_model(ARM)
q, qd, tau = (cs.SX.sym(name, model.n) for name in ('q', 'qd', 'tau'))
R, p = cs.SX.sym('R', 3, 3), cs.SX.sym('p', 3)

power = cs.sum1(cs.fmax(tau * qd, 0.0))  # [W] that motors give; brakes give nothing back
J = model.jacobian(TIP)(q)
reach = -0.5 * cs.log(cs.det(cs.mtimes(J, J.T)))
toward = (cs.DM(SHELF) - p) / cs.norm_2(cs.DM(SHELF) - p)
aside = 1.0 - cs.dot(R[:, 2], toward)  # 0 where the camera looks at the shelf

costs = [
    ss.own_cost(
        ARM, cs.Function('energy', [qd, tau], [power], ['qd', 'tau'], ['W']), 0.1, unit='W'
    ),
    ss.own_cost(ARM, cs.Function('manipulability', [q], [reach], ['q'], ['cost']), 0.1),
    ss.own_cost(ARM, cs.Function('camera', [R, p], [aside], ['R', 'p'], ['cost']), link=CAMERA),
    ss.own_cost(ARM, cs.Function('elbow', [q], [q[2] ** 2], ['q'], ['cost']), unit='rad^2'),
]
for cost in costs:
    print(ss.plan(ARM, goal=GOAL, payload='dumbbell_4lb', seconds=4.0, cost=cost))
