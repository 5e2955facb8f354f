"""Prints how many messages of several topics at 1 kHz the recorder loses, and its processor time.

python benchmarks/record_topics.py [topics] [seconds]
"""

import array
from pathlib import Path
import resource
import signal
import subprocess
import sys
from tempfile import TemporaryDirectory
import time

import rclpy
from rosbags.rosbag2 import Reader
from sensor_msgs.msg import JointState

from safe_sysid.share import share_directory

PERIOD = 1e-3  # [s]
LOOP = share_directory() / 'config' / 'loop' / 'kinova_gen3.yaml'


def publish(topics, seconds):
    """Publish joint states of seven joints once somebody listens; how many on each topic."""
    node = rclpy.create_node('publisher')
    publishers = [node.create_publisher(JointState, f'states_{i}', 1000) for i in range(topics)]
    while not all(publisher.get_subscription_count() for publisher in publishers):
        time.sleep(0.01)
    zeros = array.array('d', bytes(56))
    msg = JointState(name=[f'joint_{i}' for i in range(7)], position=zeros)
    msg.velocity = msg.effort = zeros
    begin, count = time.monotonic(), 0
    while (elapsed := time.monotonic() - begin) < seconds:
        if elapsed < count * PERIOD:
            time.sleep(PERIOD / 4)
            continue
        for publisher in publishers:
            publisher.publish(msg)
        count += 1
    time.sleep(0.5)
    return count


def main(topics, seconds):
    """Record for a while and count."""
    rclpy.init()
    with TemporaryDirectory() as folder:
        bag = Path(folder) / 'bag'
        command = [sys.executable, '-m', 'safe_sysid.ros.nodes.recorder_node', '--ros-args']
        command += ['--params-file', str(LOOP), '-p', f'folder:={bag}', '-p', 'topics:=/states_.*']
        recorder = subprocess.Popen(command)
        while not (bag / 'metadata.yaml').exists():
            time.sleep(0.05)
        published = publish(topics, seconds)
        recorder.send_signal(signal.SIGINT)
        recorder.wait()
        with Reader(bag) as reader:
            counts = {c.topic: c.msgcount for c in reader.connections if 'states' in c.topic}
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f'{topics} topics, {published / seconds:.0f} messages per second on each, {seconds} s')
    print(f'lost: {topics * published - sum(counts.values())} of {topics * published}')
    print(f'processor time with start and end: {used.ru_utime + used.ru_stime:.1f} s')


if __name__ == '__main__':
    given = [float(word) for word in sys.argv[1:]]
    main(int(given[0]) if given else 4, given[1] if len(given) > 1 else 5.0)
