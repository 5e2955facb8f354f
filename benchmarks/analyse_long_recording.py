"""Writes ten minutes of a 7-joint arm at 1 kHz as mcap, and measures `safe-sysid identify`."""

import json
from pathlib import Path
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from safe_sysid.bench.experiments.kinova_dumbbell import TORQUE_RATIO, kinova_trial
from safe_sysid.simulate.excited_motion import fourier_motion, true_torque

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
PERIOD = 0.001
SEED = 1
BEGIN = 1_700_000_000_000_000_000  # [ns]


def write_bag(path):
    """A Kinova Gen3 with a dumbbell on a random motion, torques within 2.5 %; the true theta_e."""
    rng = np.random.default_rng(SEED)
    model = kinova_trial(rng, 0.1).model
    motion = fourier_motion(rng, model.n, SECONDS, PERIOD)
    torque = np.concatenate(
        [
            true_torque(model, type(motion)(*(x[i : i + 5000] for x in motion)))
            for i in range(0, len(motion.t), 5000)
        ]
    )
    torque /= 1.0 + TORQUE_RATIO * rng.uniform(-1.0, 1.0, torque.shape)
    store = get_typestore(Stores.ROS2_KILTED)
    kinds = ('sensor_msgs/msg/JointState', 'std_msgs/msg/Header', 'builtin_interfaces/msg/Time')
    state, header, stamp = (store.types[kind] for kind in kinds)
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topic = writer.add_connection('/joint_states', kinds[0], typestore=store)
        for i, t in enumerate(BEGIN + motion.stamp):
            message = state(
                header(stamp(*divmod(int(t), 10**9)), ''),
                list(model.layout.joint_names),
                motion.q[i],
                motion.qd[i],
                torque[i],
            )
            writer.write(topic, int(t), bytes(store.serialize_cdr(message, kinds[0])))
    return model.theta[model.layout.end_effector]


with tempfile.TemporaryDirectory() as folder:
    bag = Path(folder) / 'long'
    truth = write_bag(bag)
    begin = time.monotonic()
    command = [sys.executable, '-m', 'safe_sysid.cli.main', 'identify', str(bag)]
    done = subprocess.run(
        [*command, '--robot', 'kinova_gen3', '--json'], stdout=subprocess.PIPE, check=False
    )
    seconds = time.monotonic() - begin
    found = json.loads(done.stdout)
    if found['refused'] is not None:
        sys.exit(f'no bounds: {found["refused"]}')
    inside = (found['lower'] <= truth) & (truth <= found['upper'])
    figures = {
        'recording_s': SECONDS,
        'samples': round(SECONDS / PERIOD) + 1,
        'size_mb': sum(file.stat().st_size for file in bag.iterdir()) / 1e6,
        'seconds': seconds,
        'cpu_seconds': sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]),
        'peak_memory_mb': resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3,
        'refused': found['refused'],
        'truth_inside': bool(inside.all()),
        'mass_kg': [found['lower'][0], found['nominal'][0], found['upper'][0], truth[0]],
    }
    print(json.dumps(figures, indent=2))
