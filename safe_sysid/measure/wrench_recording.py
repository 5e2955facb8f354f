"""Positions of joints and the wrench of a force/torque sensor become one Recording.

Its effort has six columns: forces [N], then moments [N m], in the axes of the sensor. A table has
them beside the positions; in a bag they are a topic of their own, whose wrenches are taken at the
stamps of the positions by straight lines between neighbours.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.bag.reader import read_messages, read_positions
from safe_sysid.measure.bag.wrench_bytes import WRENCH_STAMPED, wrenches_of
from safe_sysid.measure.csv_log import read_wrench_csv
from safe_sysid.measure.recorded_file import TABLES
from safe_sysid.measure.recording import GAP, Recording, Samples, recording_of
from safe_sysid.measure.recording_choice import RecordingChoice, joint_names


def read_wrench(
    choice: RecordingChoice, joints: tuple[str, ...], topic: str | None = None
) -> Recording:
    """Return positions of these joints with wrenches for efforts."""
    names = joint_names(choice, joints)
    if choice.path.suffix.lower() in TABLES:
        return read_wrench_csv(choice.path, names, choice.columns)
    positions = read_positions(choice.path, names, choice.topic)
    stamp, wrench, remarks = _wrenches(choice, topic)
    kept, at = _at_stamps(positions.stamp, stamp, wrench)
    if np.count_nonzero(kept) < 3:
        raise MeasurementError(
            f'{choice.path}: {np.count_nonzero(kept)} positions are between two wrenches; stamps '
            'of both have to be of one clock'
        )
    velocity = None if positions.velocity is None else positions.velocity[kept]
    samples = Samples(positions.stamp[kept], positions.position[kept], velocity, at)
    return recording_of(str(choice.path), joints, samples, (*positions.remarks, *remarks))


def _wrenches(choice: RecordingChoice, topic: str | None) -> tuple[IntArray, Array, list[str]]:
    """Stamps [ns] and wrenches of the only topic, or of the one that is named."""
    by_topic = read_messages(choice.path, WRENCH_STAMPED)
    useful = {name: x for name, x in by_topic.items() if topic in (None, name)}
    if len(useful) != 1:
        what = f'{WRENCH_STAMPED} is on {sorted(by_topic)}' if by_topic else f'no {WRENCH_STAMPED}'
        raise MeasurementError(f'{choice.path}: {what}; choose one with --sensor-topic')
    (name, messages), *_ = useful.items()
    stamp, wrench, lost = wrenches_of([x.data for x in messages], [x.received for x in messages])
    fine = np.isfinite(wrench).all(axis=1)
    order = np.argsort(stamp[fine], kind='stable')
    remarks = [f'wrenches of {name}, {np.count_nonzero(fine)} of them']
    if lost:
        remarks.append(f'{lost} messages on {name} cannot be read')
    return stamp[fine][order], wrench[fine][order], remarks


def _at_stamps(wanted: IntArray, stamp: IntArray, wrench: Array) -> tuple[Array, Array]:
    """Which stamps have wrenches on both sides of them, and the wrenches there."""
    if len(stamp) < 3:
        return np.zeros(len(wanted), dtype=bool), np.zeros((0, 6))
    after = np.clip(np.searchsorted(stamp, wanted), 1, len(stamp) - 1)
    step = stamp[after] - stamp[after - 1]
    period = float(np.median(np.diff(stamp)))
    kept = (wanted >= stamp[0]) & (wanted <= stamp[-1]) & (step <= GAP * period)
    share = ((wanted - stamp[after - 1]) / np.maximum(step, 1))[:, None]
    between = (1.0 - share) * wrench[after - 1] + share * wrench[after]
    return kept, between[kept]
