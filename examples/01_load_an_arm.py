"""Load an arm and look at its joints, limits and inertial parameters."""

import safe_sysid as ss

arm = ss.load_arm('kinova_gen3')  # or: ss.load_arm('arm.urdf', config='arm.yaml')
model = arm.model
for j, name in enumerate(model.layout.joint_names):
    mass = model.theta[model.layout.inertial(j)][0]
    print(f'{name}: moves {mass:.3f} kg, torque limit {model.limits.torque[j]:g} N m')
