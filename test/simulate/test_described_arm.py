"""An arm as its settings describe it: late, slow and sticky drives, and sensors that err."""

from dataclasses import replace

from identify.known_recordings import near_bounds, share_of_promise
import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.identify.momentum_observation import ObservationSettings, observe
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.actuation import Actuation
from safe_sysid.model.dry_friction import DryFriction
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import felt_parameters, reading_errors, torque_errors
from safe_sysid.model.signal_facts import (
    DryFrictionFacts,
    SensingFacts,
    TorqueReadingFacts,
    VelocityFacts,
)
from safe_sysid.simulate.drive import PIECE, Drive
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm

H = 0.001
DESCRIBED = ArmSettings(H, actuators='described', readings='described')


def timing(n=1, **said):
    """Actuators that are exact but for what is said."""
    return replace(Actuation.exact(n), **said)


def played(drive, commands, fine=PIECE / 10):
    """Torque on a fine grid; pieces are constant."""
    seconds, torque = [], []
    for command in commands:
        for length, value in drive.pieces(np.atleast_1d(command)):
            seconds.append(length)
            torque.append(value[0])
    ends = np.cumsum(seconds)
    t = fine * (np.arange(round(ends[-1] / fine)) + 0.5)
    return np.array(torque)[np.minimum(np.searchsorted(ends, t), len(torque) - 1)]


def test_a_delay_is_found_again_by_correlation(rng):
    for delay in (0.0013, 0.0042):
        commands = rng.normal(size=800)
        acts = played(Drive(timing(delay=(delay, delay)), H, rng), commands)
        given = np.repeat(commands, 100)
        lags = np.arange(0, 700)
        peak = [np.dot(given[1000:70000], acts[1000 + k : 70000 + k]) for k in lags]
        assert lags[np.argmax(peak)] * PIECE / 10 == pytest.approx(delay, abs=2e-5)


@pytest.mark.parametrize('jitter', [0.0, 1e-4])
def test_a_delay_is_a_constant_but_for_a_stated_jitter(jitter):
    least, largest = [], []
    for seed in range(30):
        drives = timing(delay=(0.0005, 0.0025), jitter=jitter)
        waited = waits(Drive(drives, H, np.random.default_rng(seed)), 100)
        assert np.ptp(waited) <= 2.0 * jitter + 2e-5
        least.append(waited.min())
        largest.append(waited.max())
    assert 0.0005 - 1e-5 <= min(least) <= 0.0008
    assert 0.0022 <= max(largest) <= 0.0025 + 1e-5


def waits(drive, count):
    """Time from each command until it acts [s]; the first one does from the beginning."""
    commands = np.arange(1.0, count + 1.0)
    acts = played(drive, commands)
    began = np.array([np.flatnonzero(acts >= k)[0] for k in commands[1:-3]]) * PIECE / 10
    return began - H * np.arange(1, len(began) + 1)


def test_delays_are_anywhere_in_their_range_and_keep_the_order(rng):
    drive = Drive(timing(delay=(0.0005, 0.0), delay_periods=(0.0, 2.0)), H, rng)
    waited = waits(drive, 2000)
    assert waited.min() >= -1e-9
    assert waited.max() <= 0.002 + 1e-5
    assert waited.max() > 0.0019
    assert (np.diff(waited) >= -H - 1e-9).all()


@pytest.mark.parametrize('constant', [0.0005, 0.004])
def test_the_step_response_of_a_drive(rng, constant):
    drive = Drive(timing(bandwidth=np.full(1, constant)), H, rng)
    acts = played(drive, [0.0] * 3 + [1.0] * 40)
    mean = acts[300:].reshape(-1, 10).mean(axis=1)  # over pieces
    ends = PIECE * np.arange(len(mean) + 1)
    response = ends + constant * np.exp(-ends / constant)  # integral of 1 - exp(-t / constant)
    np.testing.assert_allclose(mean, np.diff(response) / PIECE, atol=1e-9)


def test_a_rate_limit_is_kept(rng):
    acts = played(Drive(timing(slew=np.full(1, 1000.0)), H, rng), [0.0, 5.0, 5.0, -5.0] * 3)
    assert np.abs(np.diff(acts)).max() <= 1000.0 * PIECE + 1e-9
    assert acts.max() > 1.5


def test_errors_of_drives_are_within_their_promise_and_drift(rng):
    model = RobotModel.named('kinova_gen3')
    prompt = replace(model.actuation, bandwidth=np.zeros(7), delay_periods=(0.0, 0.0))
    drive, commands = Drive(prompt, 0.5, rng), rng.uniform(-30.0, 30.0, (400, 7))
    off = np.array([drive.pieces(command)[0][1] - command for command in commands])
    share = off / np.array([model.actuation.error(command) for command in commands])
    assert np.abs(share).max() <= 1.0
    assert np.abs(share).max() > 0.8
    still = Drive(prompt, 0.5, rng)
    offset = np.array([still.pieces(np.zeros(7))[-1][1] for _ in range(300)])
    assert np.abs(offset[200:].mean(axis=0) - offset[:10].mean(axis=0)).min() > 0.01


def block(fs, fc, load=0.0, viscous=0.0):
    """Two-link arm whose first joint turns about a vertical axis, the second one nearly fixed."""
    model = RobotModel.named('two_link')
    theta = model.theta.copy()
    for label, values in (('Fc', (fc, 50.0)), ('Fv', (viscous, 0.0)), ('beta', (0.0, 0.0))):
        theta[model.layout.joint_entries(label)] = values
    tree = model.tree._replace(gravity=np.zeros(3))
    facts = DryFrictionFacts(static=(fs, 60.0), stribeck_speed=(0.05,), load=(load,))
    made = replace(model, theta=theta, tree=tree, gravity_tilt=0.0, friction=DryFriction(facts))
    return replace(made, actuation=Actuation.exact(2))


def simulated(model, dynamics=RigidBody, rng=None):
    rng = rng or np.random.default_rng(3)
    return SimulatedArm(
        model, np.zeros(model.n), rng, ArmSettings(H, actuators='described'), dynamics
    )


def test_a_joint_breaks_away_at_its_static_friction_and_not_before():
    arm, broke = simulated(block(fs=1.5, fc=1.0)), None
    for torque in np.arange(0.0, 2.0, 0.005):
        arm.apply(np.array([torque, 0.0]))
        if arm.truth.velocity[0] != 0.0:
            broke = torque
            break
    assert broke == pytest.approx(1.5, abs=0.006)


def coasting(arm, push, seconds):
    """Speed while a joint that was pushed slows down, and its deceleration."""
    for _ in range(push):
        arm.apply(np.array([5.0, 0.0]))
    speed = []
    for _ in range(round(seconds / H)):
        arm.apply(np.zeros(2))
        speed.append(arm.truth.velocity[0])
    return np.array(speed)


def test_the_friction_of_a_coasting_joint_is_the_stribeck_curve():
    model = block(fs=1.5, fc=1.0)
    speed = coasting(simulated(model), 60, 0.4)
    slow = (speed > 0.005) & (speed < 0.3)
    middle = 0.5 * (speed[1:] + speed[:-1])[slow[1:]]
    rate = (np.diff(speed) / H)[slow[1:]]
    inertia = -(np.diff(speed) / H)[(speed[1:] > 0.35)].mean()
    inertia = 1.0 / inertia  # Fc = 1 N m where it is fast
    curve = 1.0 + 0.5 * np.exp(-((middle / 0.05) ** 2))
    np.testing.assert_allclose(-rate * inertia, curve, rtol=0.02)
    assert len(curve) > 20
    assert speed[-1] == 0.0


def test_energy_is_lost_to_friction_and_to_nothing_else():
    """Kinetic energy of a coasting joint, less what friction took by the curve, in fine steps."""
    model = block(fs=1.5, fc=1.0)
    arm = simulated(model)
    speed = coasting(arm, 60, 0.1)
    fast = speed[speed > 0.0]
    inertia = 1.0 / -(np.diff(fast) / H)[0]
    v, took, fine = fast[0], 0.0, 1e-5
    for _ in range(round((len(fast) - 1) * H / fine)):
        friction = 1.0 + 0.5 * np.exp(-((v / 0.05) ** 2))
        took += friction * v * fine
        v -= friction / inertia * fine
    assert 0.5 * inertia * (fast[0] ** 2 - fast[-1] ** 2) == pytest.approx(took, rel=5e-3)


def test_load_makes_more_friction():
    plain, loaded = (simulated(block(1.0, 1.0, load)) for load in (0.0, 0.2))
    for _ in range(50):
        plain.apply(np.array([4.0, 0.0]))
        loaded.apply(np.array([4.0, 0.0]))
    # 4 - 1 against 4 - 1 - 0.8 N m
    assert loaded.truth.velocity[0] / plain.truth.velocity[0] == pytest.approx(2.2 / 3.0, rel=1e-3)


@pytest.mark.slow
def test_drake_has_the_same_friction():
    drake = pytest.importorskip('safe_sysid.simulate.drake')
    pytest.importorskip('pydrake')
    model = block(fs=1.5, fc=1.0, load=0.1)
    ours = coasting(simulated(model), 30, 0.03)
    theirs = coasting(simulated(model, lambda m: drake.DrakeBody(m, 1e-4)), 30, 0.03)
    np.testing.assert_allclose(ours, theirs, atol=2e-3)


def sensed(sensing, model=None, tilt=0.0):
    """Two-link arm with these sensors."""
    model = model or RobotModel.named('two_link')
    sensors = replace(model.sensors, sensing=sensing)
    return replace(model, sensors=sensors, gravity_tilt=tilt)


SENSORS = {
    'difference': SensingFacts(
        zero_error=(1e-3,),
        stamp_error=1e-4,
        velocity=VelocityFacts(samples=3, filter=0.004, step=(1e-3,)),
        torque=TorqueReadingFacts(ratio=(0.02,), absolute=(0.1,), filter=(0.002, 0.004)),
    ),
    'driver': SensingFacts(
        zero_error=(0.0,),
        stamp_error=0.0,
        backlash=(5e-4,),
        velocity=VelocityFacts(source='driver', filter=0.002, lag=0.003),
        torque=TorqueReadingFacts('link', (0.01,), (0.05,), (0.0, 0.0)),
    ),
}


@pytest.mark.parametrize('kind', slow_after(1, SENSORS))
def test_readings_are_within_what_is_derived_of_them(rng, kind):
    model = sensed(SENSORS[kind])
    limits = replace(model.limits, acceleration=np.full(2, 20.0))
    model = replace(model, limits=limits, tree=model.tree._replace(gravity=np.zeros(3)))
    promised, most = reading_errors(model, H), np.zeros(2)
    for seed in range(6):
        arm = SimulatedArm(model, np.zeros(2), np.random.default_rng(seed), DESCRIBED)
        phase = rng.uniform(0.0, 6.0, 2)
        for k in range(300):
            before = arm.truth
            arm.apply(np.array([2.0, 0.6]) * np.sin(0.02 * k + phase))
            truth, read = arm.truth, arm.measure()
            rate = np.abs(truth.velocity - before.velocity) / H
            assert (rate < model.limits.acceleration).all()
            late = 1e-9 * (read.stamp - truth.stamp)
            assert abs(late) <= model.sensors.sensing.stamp_error
            off = np.abs(read.position - truth.position - late * truth.velocity)
            share = (
                off / (promised.position + promised.zero),
                (np.abs(read.velocity - truth.velocity) / promised.velocity),
            )
            assert np.max(share) <= 1.0 + 1e-6
            most = np.maximum(most, np.max(share, axis=1))
    assert most[0] > 0.5
    assert most[1] > 0.1


def test_a_link_sensor_feels_what_moves_the_links(rng):
    facts = replace(SENSORS['driver'].torque, ratio=(0.0,), absolute=(0.0,))
    model = sensed(replace(SENSORS['driver'], torque=facts))
    arm = SimulatedArm(model, np.zeros(2), rng, DESCRIBED)
    bare = model.theta.copy()
    for label in ('Fc', 'Fv', 'Ia'):
        bare[model.layout.joint_entries(label)] = 0.0
    body = RigidBody(model.with_parameters(bare))
    for k in range(200):
        arm.apply(np.array([20.0, 5.0]) * np.cos(0.02 * k))
        before, felt = arm.truth, arm.measure().torque
    # links alone accelerate by as much under the torque that was felt
    arm.apply(np.array([20.0, 5.0]) * np.cos(4.0))
    rate = (arm.truth.velocity - before.velocity) / H
    free = body.acceleration(before.position, before.velocity, felt)
    np.testing.assert_allclose(rate, free, rtol=0.05, atol=0.3)


def test_a_base_that_leans_pulls_as_much_as_it_may():
    model = replace(RobotModel.named('two_link'), gravity_tilt=0.05)
    level = replace(model, gravity_tilt=0.0)
    ends = []
    for each in (model, level):
        arm = simulated(each, rng=np.random.default_rng(1))
        for _ in range(300):
            arm.apply(np.zeros(2))
        ends.append(arm.truth.position)
    assert np.abs(ends[0] - ends[1]).max() > 1e-4


@pytest.mark.parametrize('kind', slow_after(1, SENSORS))
def test_rows_of_a_described_arm_hold(kind):
    """From what an arm says of itself the identifier knows how wrong its samples may be."""
    model = sensed(SENSORS[kind], tilt=0.002)
    limits = replace(model.limits, acceleration=np.full(2, 20.0))
    model = replace(
        model, limits=limits, tree=model.tree._replace(gravity=np.array([0.0, 0.0, -1.0]))
    )
    used = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        arm = SimulatedArm(model, np.zeros(2), rng, DESCRIBED)
        phase, samples = rng.uniform(0.0, 6.0, 2), [arm.measure()]
        for k in range(700):
            arm.apply(np.array([3.0, 1.2]) * np.sin(0.01 * k + phase))
            samples.append(arm.measure())
        samples = samples[30:]  # filters have settled
        rows = [[getattr(x, name) for x in samples] for name in ('position', 'velocity', 'torque')]
        log = JointLog(np.array([x.stamp for x in samples]), *(np.array(x) for x in rows))
        found = observe(model, near_bounds(model), ObservationSettings(window=50), log)
        used.append(share_of_promise(found, model.theta, model.layout).max())
    assert np.max(used) <= 1.0


def test_what_is_not_described_stays_exact(rng):
    model = RobotModel.named('kinova_gen3')
    arm = SimulatedArm(model, np.zeros(7), rng)
    arm.apply(np.ones(7))
    np.testing.assert_array_equal(arm.measure().position, arm.truth.position)
    np.testing.assert_array_equal(arm.truth.torque, np.ones(7))


def test_torques_are_read_as_if_the_drives_held_an_arm_in_brakes_and_then_lag(rng):
    q = np.array([0.0, 0.5, 0.0, -1.2, 0.0, 0.6, 0.0])
    for name in ('iiwa14', 'lbr_med7'):  # behind the gear and of the motor
        model = RobotModel.named(name)
        still, errors = np.zeros((1, 7)), torque_errors(model)
        (held,) = standard_regressor(model, q[None], still, still) @ felt_parameters(model)
        arm = SimulatedArm(model, q, rng, DESCRIBED)
        for act in (arm.stand, arm.stand, lambda arm=arm: arm.apply(np.zeros(7))):
            act()
            read, lag = arm.measure().torque, 0.1 * np.abs(held)  # [N m] of one period
            assert np.all(
                np.abs(read - held) <= errors.ratio * np.abs(read) + errors.absolute + lag
            )
