"""From an arm to a payload file for its controller: excite, record, identify, hand over."""

import safe_sysid as ss
from safe_sysid.excite.settings import Effort, ExcitationAim
from safe_sysid.identify.recording_settings import RecordingSettings

arm = ss.load_arm('kinova_gen3')
aim = ExcitationAim('kappa', payload_only=True)  # only what the last joint moves has to show
effort = Effort(seconds=300.0, starts=1, processes=1, seed=2)  # the same on every machine
motion = ss.design_excitation(arm, payload='dumbbell_8lb', aim=aim, effort=effort)

ss.simulate_recording('grasped.csv', arm, payload='dumbbell_8lb', motion=motion)
known = RecordingSettings(  # what the user states
    known_links=(0.02, 0.0), payload_mass=6.0, torque_ratio=(0.02,)
)
result = ss.identify_payload('grasped.csv', arm, known)

print(result)
result.report('grasped.html')
for controller in ('ur', 'franka', 'kuka', 'mjcf', 'urdf'):
    result.export(controller, f'payload.{controller}', undetermined='compact')
