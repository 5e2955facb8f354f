"""A run of two joints as plain numbers, and its scene: a ball that may be reached, and a box."""

import numpy as np

from safe_sysid.audit.loop_record import LoopRecord, PlanningEntry
from safe_sysid.identify.estimate_series import EstimateSeries
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.arm_scene import loop_scene
from safe_sysid.report.loop_page import LoopStory
from safe_sysid.report.page_scene import PageScene, PlanOccupancy
from safe_sysid.sets.box import Box

PERIODS = 3000
TRUTH = np.array([1.0, 0.1, 0.0, 0.0, 0.02, 0.0, 0.02, 0.0, 0.0, 0.02])


def made_up_record(rng):
    """A run as plain numbers, one torque peak of a single period in it."""
    time = np.linspace(0.0, 6.0, PERIODS)
    q = np.column_stack([0.9 * np.sin(time), 0.6 * np.cos(1.5 * time)])
    error = 0.002 * np.sin(7.0 * q)
    tau = 10.0 * q + 0.1 * rng.normal(size=q.shape)
    tau[1501, 0] = 41.5
    width = np.array([1.0, 0.5, 0.2, 0.1])[:, None] * np.linspace(0.5, 1.0, 10)
    nominal = np.tile(TRUTH, (4, 1))
    return LoopRecord(
        joint_names=('joint_1', 'joint_2'),
        torque_limit=np.array([60.0, 30.0]),
        time=time,
        q=q,
        qd=np.gradient(q, time, axis=0),
        q_d=q + error,
        qd_d=np.gradient(q, time, axis=0),
        error=error,
        error_bound=np.full_like(q, 0.01),
        tau=tau,
        tau_lower=np.where(time[:, None] < 3.0, tau - 5.0, np.nan),
        tau_upper=np.where(time[:, None] < 3.0, tau + 5.0, np.nan),
        plan=(time > 3.0).astype(int),
        plan_start=np.array([0.0, 3.0]),
        estimates=EstimateSeries(
            np.array([0.0, 1.0, 2.0, 4.0]), nominal, nominal - width, nominal + width
        ),
        planning=(PlanningEntry(0.0, 'new plan', 'new plan </script><b>&', 1.0, 0.4, 0),),
        fault='',
        fault_time=float('nan'),
    )


def made_up_story(rng):
    """The run, with a torque, a truth and a distance to show."""
    record, model = made_up_record(rng), RobotModel.named('two_link')
    box = Box(np.array([0.4, 0.5, 0.2]), np.full(3, 0.1), np.eye(3))
    scene = loop_scene(model, record, Obstacles.of({'box': box}), (), TRUTH)
    return LoopStory(
        'Made up', 'numbers only', record, with_balls(scene), truth=TRUTH, clearance=0.02
    )


def with_balls(scene):
    """Two time steps in which the end of the arm may be in a ball at one of two places."""
    points = np.array([[0.6, -0.3, 0.3], [-0.5, 0.5, 0.4]])[:, None, None] * np.ones((1, 1, 2, 1))
    balls = PlanOccupancy(0.0, np.array([3.0, 6.0]), points, np.full((2, 1, 2), 0.1))
    return PageScene(**{**scene.__dict__, 'occupancy': (balls,)})
