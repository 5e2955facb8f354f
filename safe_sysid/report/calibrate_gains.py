"""`safe-sysid calibrate-gains`: what one unit of a driver's effort is worth, joint by joint."""

from __future__ import annotations

import argparse

import numpy as np

from safe_sysid.calibrate.drive_gain import drive_gains
from safe_sysid.calibrate.excitation_quality import arm_base_parameters
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.torque_rows import joined, torque_rows
from safe_sysid.cli.output import print_to_error
from safe_sysid.model.payload import read_payload
from safe_sysid.report.calibrate_input import arm_of_options, recorded
from safe_sysid.report.figures_text import as_json, as_table

CREEP = 0.003  # [rad/s]


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid calibrate-gains`; status 1 if a sign stays undecided."""
    with print_to_error():
        arm = arm_of_options(options)
        model, sensors = arm.model, arm.model.sensors
        columns = FitColumns(model.layout, CREEP)
        without, loaded = (
            joined([torque_rows(model, columns, log, options.cutoff)
                    for log in recorded(options, [path], arm).logs])
            for path in (options.without, options.loaded)
        )  # fmt: skip
        payload = read_payload(options.payload)
        load = columns.nominal(model.with_payload(payload).theta - model.theta)
        base = arm_base_parameters(model, columns, np.random.default_rng(0))
        found = drive_gains(base, without, loaded, load)
    # the recordings were read with the signs and scales of the settings
    gain = found.gain * sensors.effort_sign * sensors.effort_scale
    deviation = found.deviation * sensors.effort_scale
    undecided = found.undecided
    figures: dict[str, object] = {
        'robot': model.name,
        'payload': payload.name,
        'cutoff_hz': options.cutoff,
        'joints': [
            {
                'joint': name,
                'effort_sign': 0 if undecided[i] else int(np.sign(gain[i])),
                'effort_scale': float(abs(gain[i])),
                'deviation': float(deviation[i]),
            }
            for i, name in enumerate(model.layout.joint_names)
        ],
    }
    print(as_json(figures) if options.json else as_table(figures))
    return int(undecided.any())
