"""A loop whose friction is what `calibrate` says of it, and not a share of figures."""

from dataclasses import replace
from pathlib import Path

from identify.difference.two_recordings import PAYLOAD, TwoLinks
import numpy as np
import pytest
import yaml

from safe_sysid.api.loop_file import read_loop
from safe_sysid.api.simulation import simulate
from safe_sysid.cli.main import main
from safe_sysid.identify.online_identifier import OnlineIdentifier
from safe_sysid.identify.payload_estimator import SolveSettings
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.model.arm import arm_of
from safe_sysid.share import share_directory

HEADER = ','.join(['time', 'q_0', 'q_1', 'tau_0', 'tau_1'])
SECONDS = 6.0
SOON = 2000  # samples until the first motion has said something
PACE = 100.0  # seconds that a search may take in one of the arm: time waits


def calibrated(folder: Path) -> Path:
    """Settings of an arm that was recorded twice, empty."""
    arm = TwoLinks(np.random.default_rng(1))
    arm.truth = arm.model
    files = [folder / 'empty.csv', folder / 'again.csv']
    for file in files:
        log = arm.log(0.0 * PAYLOAD, 40.0)
        table = np.column_stack([np.arange(len(log.q)) / log.rate, log.q, log.tau])
        np.savetxt(file, table, '%.9g', ',', header=HEADER, comments='')
    out = ['--robot', 'two_link', '--out', str(folder / 'out'), '--cutoff', '5']
    assert main(['calibrate', *map(str, files), *out]) == 0
    return folder / 'out' / 'two_link.yaml'


@pytest.mark.slow
@pytest.mark.parametrize('promise', ['guaranteed', 'statistical'])
def test_the_loop_moves_on_calibrated_friction_and_learns_what_it_holds(tmp_path, promise):
    robot = calibrated(tmp_path)
    blocks = yaml.safe_load((share_directory() / 'config/loop/two_link.yaml').read_text('utf-8'))
    common = blocks['/**']['ros__parameters']
    common |= {'robot': str(robot), 'promise': promise}
    blocks['/**/planner']['ros__parameters']['planner']['pace'] = PACE
    file = tmp_path / 'loop.yaml'
    file.write_text(yaml.safe_dump(blocks), 'utf-8')
    radius = read_loop(arm_of(str(robot), None), file).prior.bounds.radius
    layout = arm_of(str(robot), None).model.layout
    if promise == 'guaranteed':  # [N m], where 5 % are 0.025 and 0.015
        assert (radius[layout.joint_entries('Fc')] > [0.1, 0.05]).all()
    else:  # those of repetitions
        assert (np.abs(radius[layout.joint_entries('Fc')] - [0.025, 0.015]) > 1e-4).all()
    found = simulate(str(robot), seconds=SECONDS, loop=file)
    assert found.fault == ''
    assert len(found.plans) >= 3  # standing still, and two that teach
    position = found.measurements.position
    assert np.ptp(position, axis=0).max() > 0.2
    assert ((found.lower <= found.truth) & (found.truth <= found.upper)).all()
    assert found.upper[0] - found.lower[0] < 0.5  # [kg], of 0.8
    if promise == 'guaranteed':
        with_rows, without = (replayed(found, x) for x in (found.loop.calibrated, None))
        assert (with_rows.lower <= found.truth).all() and (found.truth <= with_rows.upper).all()
        assert (with_rows.radius <= 1.001 * without.radius).all()
        assert (with_rows.radius[[1, 3]] < 0.9 * without.radius[[1, 3]]).all()  # first moments


def replayed(found, calibrated):
    """Bounds from the first measurements of a loop, with or without rows of the calibration."""
    loop, solve = found.loop, SolveSettings(seconds=1e4, fit_seconds=1e4)
    settings = replace(
        loop.identifier,
        solve=solve,
        observation=replace(
            loop.identifier.observation,
            torque_signal='held_until',
            position_error=(0.0,),
            velocity_error=(0.0,),
        ),
    )
    identifier = OnlineIdentifier(loop.model, loop.prior, settings, SolvesAtOnce, None, calibrated)
    for i in range(SOON):
        identifier.step(found.measurements[i])
    return identifier.finish().end_effector_bounds
