"""What is known of an arm before anything is measured: bounds on all of theta, and sentences."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import NotNegative, Settings
from safe_sysid.model.body_widths import body_widths, half_widths, placeholders
from safe_sysid.model.parameter_kinds import JOINT_KINDS, LINK_KINDS
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import JointLimits
from safe_sysid.model.uncertainty import Uncertainty, Width
from safe_sysid.sets.interval import Interval

# A joint of which nobody states more, as shares of what it can do.
DRY_SHARE = 0.3  # Coulomb and viscous friction, at full speed, of the torque limit
OFFSET_SHARE = 0.1
ROTOR_SHARE = 0.3  # of the torque limit goes into the rotor at the acceleration limit
OF_FIGURE = 2.0  # times a figure that is there, where that is more

TINY = 1e-300  # what rounding outward makes of 0

LABELS = {'coulomb': 'Fc', 'viscous': 'Fv', 'armature': 'Ia', 'offset': 'beta'}
NAMES = {
    'coulomb': 'Coulomb friction',
    'viscous': 'viscous friction',
    'armature': 'armature',
    'offset': 'the offset',
}


@dataclass(frozen=True)
class ArmKnowledge(Settings):
    """Widths that are stated, and shares for the kinds of parameters of which none is.

    A share of friction counts where the arm has a figure; a 0 is none, and neither is one that
    looks like a placeholder. Friction is then as far as the joints could overcome it. So is an
    offset without a stated width: it may be of either sign, and no share of it says how well.
    """

    links: NotNegative = (
        0.05  # every mass, first moment and inertia of a link, as share of its size
    )
    com: NotNegative = 0.0  # [m] and its centre of mass to this distance on top
    friction: NotNegative | None = 0.05  # as links, of friction and armature; none: unknown
    stated: Uncertainty = field(default_factory=Uncertainty)

    def bounds(self, model: RobotModel) -> Interval:
        """Where theta is; its end effector as if it were a link, without payload."""
        layout, theta = model.layout, model.theta
        width = np.zeros(layout.size)
        bodies = theta[: 10 * layout.n].reshape(layout.n, 10)
        width[: 10 * layout.n] = self.body_widths(bodies).ravel()
        for kind, label in LABELS.items():
            place = layout.joint_entries(label)
            width[place] = self._friction_width(kind, theta[place])
        around = Interval.from_center_radius(theta, width)
        lower, upper = around.lower.copy(), around.upper.copy()
        self._widen_unknown(model, lower, upper)
        positive = _not_negative(model)
        lower[positive] = np.maximum(lower[positive], np.minimum(0.0, theta[positive]))
        return Interval(lower, upper)

    def body_widths(self, bodies: Array) -> Array:
        """Half widths of the ten parameters of every body, (n, 10)."""
        return body_widths(bodies, self.stated, self.links, self.com)

    def _friction_width(self, kind: str, figure: Array) -> Array:
        stated = self.stated.stated().get(kind)
        width = Width((self.friction or 0.0,)) if stated is None else stated
        return half_widths(width, np.abs(figure), kind)

    def _widen_unknown(self, model: RobotModel, lower: Array, upper: Array) -> None:
        """Replace the bounds of friction of which nobody says anything."""
        for kind, unknown in self.unknown(model).items():
            place = model.layout.joint_entries(LABELS[kind])
            low, high = unknown_range(kind, model.theta[place], model.limits)
            lower[place] = np.where(unknown, low, lower[place])
            upper[place] = np.where(unknown, high, upper[place])

    def unknown(self, model: RobotModel) -> dict[str, Array]:
        """Joints, by kind, of which nobody says anything."""
        doubtful, stated = placeholders_of(model), self.stated.stated()
        found = {}
        for kind, label in LABELS.items():
            figure = model.theta[model.layout.joint_entries(label)]
            nothing = self.friction is None or kind in doubtful
            if kind not in stated:
                found[kind] = (figure == 0.0) | nothing | (kind == 'offset')
            elif stated[kind].absolute is None:  # and 0 is no figure to take a share of
                found[kind] = figure == 0.0
        return {kind: joints for kind, joints in found.items() if joints.any()}

    def relied_on(self, model: RobotModel) -> Array:
        """theta of the model, with 0 in the place of friction of which nobody says anything."""
        theta: Array = model.theta.copy()
        for kind, unknown in self.unknown(model).items():
            place = model.layout.joint_entries(LABELS[kind])
            theta[place] = np.where(unknown, 0.0, theta[place])
        return theta

    def nominal(self, model: RobotModel) -> Array:
        """theta of the model, with 0 in the place of friction that looks like a placeholder."""
        theta: Array = model.theta.copy()
        for kind in self._placeholders(model):
            theta[model.layout.joint_entries(LABELS[kind])] = 0.0
        return theta

    def _placeholders(self, model: RobotModel) -> list[str]:
        stated = self.stated.stated()
        return [kind for kind in placeholders_of(model) if kind not in stated]

    def sentences(self, model: RobotModel) -> list[str]:
        """Return what these bounds assume, in numbers."""
        return [
            *self._link_sentences(model),
            *self._friction_sentences(model),
            *self._placeholder_sentences(model),
        ]

    def _link_sentences(self, model: RobotModel) -> list[str]:
        com = f', its centre of mass to {100 * self.com:g} cm on top' if self.com else ''
        said = [
            f'every mass, first moment and inertia of the links but the last is that of '
            f'{model.name} to {100 * self.links:g} %{com}: of the mass m, of m times the radius '
            'of gyration, of the moments of inertia, and of sqrt(Ixx Iyy) and so on for products, '
            'also where the figure is 0'
        ]
        for kind, width in self.stated.stated().items():
            if kind in LINK_KINDS:
                said.append(
                    f'instead, {kind.replace("_", " ")} of a link is within '
                    f'{_shares(width.shares)} of that and {_figures(width.on_top)} '
                    f'{LINK_KINDS[kind]}'
                )
        return said

    def _friction_sentences(self, model: RobotModel) -> list[str]:
        bounds, unknown = self.bounds(model), self.unknown(model)
        said = []
        for kind, label in LABELS.items():
            place = model.layout.joint_entries(label)
            low, high = bounds.lower[place], bounds.upper[place]
            joints = unknown.get(kind, np.zeros(model.n, dtype=bool))
            wide = f', as nobody states {_whose(joints, model)}: {_WIDE[kind]}'
            said.append(
                f'{NAMES[kind]} of the joints is from {_figures(tuple(low))} to '
                f'{_figures(tuple(high))} {JOINT_KINDS[kind]}{wide if joints.any() else ""}'
            )
        return said

    def _placeholder_sentences(self, model: RobotModel) -> list[str]:
        return [
            f'the {NAMES[kind]} that {model.name} is described with looks like a placeholder '
            '(the same on every joint, or most of what a joint can do) and is not relied on'
            for kind in self._placeholders(model)
        ]


_WIDE = {
    'coulomb': f'{100 * DRY_SHARE:g} % of the torque limit, or {OF_FIGURE:g} times the figure',
    'viscous': f'{100 * DRY_SHARE:g} % of the torque limit at full speed, or {OF_FIGURE:g} times '
    'the figure',
    'armature': f'{100 * ROTOR_SHARE:g} % of the torque limit at the acceleration limit, or '
    f'{OF_FIGURE:g} times the figure',
    'offset': f'{100 * OFFSET_SHARE:g} % of the torque limit, or {OF_FIGURE:g} times the figure',
}


def placeholders_of(model: RobotModel) -> tuple[str, ...]:
    """Kinds of friction of an arm whose figures look like placeholders."""
    friction = model.layout.friction(model.theta)
    return placeholders(friction, model.limits.torque, model.limits.velocity)


def unknown_range(kind: str, figure: Array, limits: JointLimits) -> tuple[Array, Array]:
    """Where a friction parameter is of which nobody states more than its figure, (n,) each."""
    torque, velocity, acceleration = limits.torque, limits.velocity, limits.acceleration
    speed = np.where(np.isfinite(velocity) & (velocity > 0.0), velocity, 1.0)
    able = {
        'coulomb': DRY_SHARE * torque,
        'viscous': DRY_SHARE * torque / speed,
        'armature': ROTOR_SHARE * torque / acceleration,
        'offset': OFFSET_SHARE * torque,
    }[kind]
    most = np.maximum(able, OF_FIGURE * np.abs(figure))
    return (-most if kind == 'offset' else np.zeros_like(most)), most


def _not_negative(model: RobotModel) -> Array:
    """Entries of theta that are not negative on any arm."""
    bodies = [10 * i + j for i in range(model.n) for j in (0, 4, 6, 9)]
    friction = [
        i
        for label in ('Fc', 'Fv', 'Ia')
        for i in range(model.layout.size)[model.layout.joint_entries(label)]
    ]
    return np.array(bodies + friction)


def _whose(joints: Array, model: RobotModel) -> str:
    if joints.all():
        return 'more'
    names = (name for name, is_one in zip(model.layout.joint_names, joints, strict=True) if is_one)
    return f'that of {", ".join(names)}'


def _shares(values: tuple[float, ...]) -> str:
    return ', '.join(f'{100 * x:g} %' for x in values)


def _figures(values: tuple[float, ...]) -> str:
    distinct = values if len(set(values)) > 1 else values[:1]
    return ', '.join(f'{x if abs(x) > TINY else 0.0:.3g}' for x in distinct)
