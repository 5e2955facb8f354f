"""Calibrate an arm from recordings with an empty gripper, then identify a payload with it."""

import safe_sysid as ss

recordings = ['empty_1.csv', 'empty_2.csv', 'empty_3.csv']
for seed, path in enumerate(recordings):
    ss.simulate_recording(path, 'kinova_gen3', motion=20.0, seed=seed)
fit = ss.calibrate_arm(recordings[:2], 'kinova_gen3', validate=recordings[2:])
print(f'error of the predicted torque: {100 * fit.relative_error:.1f} %')
fit.export('calibrated')
fit.report('calibrated')

arm = ss.load_arm('calibrated/kinova_gen3.yaml')
ss.simulate_recording('loaded.csv', 'kinova_gen3', payload='dumbbell_8lb')
print(ss.identify_payload('loaded.csv', arm))
