"""An arm in MuJoCo, made of its URDF and of what a URDF has no place for."""

from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import yaml

CONFIG = Path(__file__).resolve().parents[2] / 'config'
COMPILER = {
    'fusestatic': 'true',
    'discardvisual': 'true',
    'balanceinertia': 'false',
    'boundmass': '0',
    'boundinertia': '0',
}
STEP = 1e-3  # [s] at most
SOLREF, SOLIMP = (2e-3, 1.0), (0.9999, 0.9999, 1e-3, 0.5, 2.0)  # dry friction, nearly hard


@dataclass(frozen=True)
class ArmFacts:
    """What the arm is."""

    urdf: str
    joints: list  # names, in the order of the figures
    armature: list  # [kg m^2]
    viscous: list  # [N m s/rad]
    coulomb: list  # [N m]
    gravity: list = field(default_factory=lambda: [0.0, 0.0, -9.81])
    payload: str = ''  # YAML file of what it holds
    spread: float = 0.0  # share by which links but the last, armature and friction are others
    seed: int = 0  # of these shares
    name: str = ''  # under which the payload's file knows where it is held


def facts_of(robot, payload='', spread=0.0, seed=0):
    """Facts of an arm and a payload in config/, read here for themselves."""
    file = CONFIG / 'robots' / f'{robot}.yaml'
    said = yaml.safe_load(file.read_text(encoding='utf-8'))
    figures = {
        key: [joint[key] for joint in said['joints'].values()]
        for key in ('armature', 'viscous', 'coulomb')
    }
    urdf = CONFIG.parent / 'urdf' / said['urdf']
    held = str(CONFIG / 'payloads' / f'{payload}.yaml') if payload else ''
    return ArmFacts(
        str(urdf),
        list(said['joints']),
        **figures,
        gravity=said['gravity'],
        payload=held,
        spread=spread,
        seed=seed,
        name=robot,
    )


class Arm:
    """Rigid bodies with armature, viscous and dry friction."""

    def __init__(self, facts, start):
        mujoco.set_mju_user_warning(lambda _: None)  # which would be written to a file
        self._model = model = mujoco.MjModel.from_xml_string(_text(facts))
        moving = sorted(model.joint(i).name for i in range(model.njnt))
        if moving != sorted(facts.joints):
            raise SystemExit(f'{facts.urdf} moves {moving}; told were {sorted(facts.joints)}')
        self._dofs = dofs = [int(model.joint(name).dofadr[0]) for name in facts.joints]
        others = _shares(facts, (4, len(dofs)))
        bodies = [int(model.joint(name).bodyid[0]) for name in facts.joints[:-1]]
        model.body_mass[bodies] *= others[0, :-1]
        model.body_inertia[bodies] *= others[0, :-1, None]
        model.dof_armature[dofs] = others[1] * facts.armature
        model.dof_damping.reshape(len(dofs), -1)[dofs, 0] = others[2] * facts.viscous
        model.dof_frictionloss[dofs] = others[3] * facts.coulomb
        model.dof_solref[:], model.dof_solimp[:] = SOLREF, SOLIMP
        model.opt.gravity = facts.gravity
        model.jnt_limited[:] = 0
        with np.errstate(divide='ignore', invalid='ignore'):
            decay = np.nan_to_num(np.divide(facts.viscous, facts.armature), nan=0.0).max()
        rule = mujoco.mjtIntegrator
        model.opt.integrator = int(
            rule.mjINT_RK4 if decay * STEP < 0.5 else rule.mjINT_IMPLICITFAST
        )
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        self._data = mujoco.MjData(model)
        mujoco.mj_setConst(model, self._data)
        self._data.qpos[dofs] = start

    @property
    def q(self):
        """Positions [rad]."""
        return self._data.qpos[self._dofs].copy()

    @property
    def qd(self):
        """Velocities [rad/s]."""
        return self._data.qvel[self._dofs].copy()

    def gravity(self):
        """Torque that holds it [N m]."""
        moving = self._data.qvel.copy()
        self._data.qvel[:] = 0.0
        mujoco.mj_forward(self._model, self._data)
        holding = self._data.qfrc_bias[self._dofs].copy()
        self._data.qvel[:] = moving
        return holding

    def gravity_at(self, q):
        """Torque that would hold it somewhere [N m]."""
        self._data.qpos[self._dofs] = q
        return self.gravity()

    def move(self, torque, seconds):
        """Let time pass under a torque."""
        steps = max(1, int(np.ceil(seconds / STEP - 1e-9)))
        self._model.opt.timestep = seconds / steps
        self._data.qfrc_applied[self._dofs] = torque
        mujoco.mj_step(self._model, self._data, steps)

    def stand(self):
        """Be held where it is."""
        self._data.qvel[:] = 0.0


def _shares(facts, shape):
    """Factors within `spread` of 1."""
    return 1.0 + facts.spread * np.random.default_rng(facts.seed).uniform(-1.0, 1.0, size=shape)


def _text(facts):
    """URDF without shapes, with what the arm holds welded to it, and orders for MuJoCo."""
    root = ElementTree.parse(facts.urdf).getroot()
    for link in root.iter('link'):
        for shape in [*link.findall('visual'), *link.findall('collision')]:
            link.remove(shape)
    for old in root.findall('mujoco'):
        root.remove(old)
    ElementTree.SubElement(ElementTree.SubElement(root, 'mujoco'), 'compiler', COMPILER)
    if facts.payload:
        _weld(root, facts)
    return ElementTree.tostring(root, encoding='unicode')


def _weld(root, facts):
    said = yaml.safe_load(Path(facts.payload).read_text(encoding='utf-8'))
    place = said['placement'][facts.name]
    link = ElementTree.SubElement(root, 'link', {'name': 'what_it_holds'})
    inertial = ElementTree.SubElement(link, 'inertial')
    ElementTree.SubElement(inertial, 'origin', {'xyz': _row(said['com']), 'rpy': '0 0 0'})
    ElementTree.SubElement(inertial, 'mass', {'value': repr(said['mass'])})
    figures = {key: repr(value) for key, value in said['inertia_about_com'].items()}
    ElementTree.SubElement(inertial, 'inertia', figures)
    weld = ElementTree.SubElement(root, 'joint', {'name': 'weld_of_payload', 'type': 'fixed'})
    ElementTree.SubElement(weld, 'origin', {'xyz': _row(place['xyz']), 'rpy': _row(place['rpy'])})
    ElementTree.SubElement(weld, 'parent', {'link': place['link']})
    ElementTree.SubElement(weld, 'child', {'link': 'what_it_holds'})


def _row(values):
    return ' '.join(repr(float(x)) for x in values)
