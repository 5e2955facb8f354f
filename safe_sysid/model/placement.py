"""Placement: where a frame is in another one, x -> R x + p, and what follows for boxes in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.rotation import rotation_of
from safe_sysid.sets.box import Box, finite_array
from safe_sysid.sets.interval import EPS

# Largest distance of the length of a quaternion from 1 that is taken for rounding or for floats
# of single precision; what is farther off was never meant as a rotation.
NOT_UNIT = 1e-2
# Roundings of a placed point, and of a rotation computed from a quaternion or by one product, in
# units of EPS and of the sizes involved; a dozen placements after each other stay below.
ROUNDINGS = 1024


@dataclass(frozen=True, eq=False)
class Placement:
    """A frame, or a body, in another frame."""

    R: Array  # (3, 3)
    p: Array  # (3,) [m]

    @staticmethod
    def of(position: npt.ArrayLike, quaternion: npt.ArrayLike) -> Placement:
        """From a position [m] and a quaternion (w, x, y, z), whose length counts for nothing."""
        p = finite_array(position, (3,), 'position')
        q = finite_array(quaternion, (4,), 'orientation')
        length = float(np.linalg.norm(q))
        if not abs(length - 1.0) <= NOT_UNIT:
            raise BoundError(
                f'the orientation {q.tolist()} (w, x, y, z) has the length {length:.4g}, so it is '
                f'no rotation; it has to be within {NOT_UNIT} of 1'
            )
        return Placement(rotation_of(q / length), p)

    def of_frame(self, inner: Placement) -> Placement:
        """Return what is placed in this frame, placed in the outer one."""
        return Placement(self.R @ inner.R, self.R @ inner.p + self.p)

    @property
    def inverse(self) -> Placement:
        """The outer frame, placed in this one."""
        return Placement(self.R.T, -self.R.T @ self.p)

    def of_box(self, box: Box) -> Box:
        """Box in the outer frame that contains a box in this one, rounding included."""
        if self is HERE:
            return box
        size = float(np.abs(self.p).sum() + np.abs(box.center).sum() + box.half_sizes.sum())
        slack = ROUNDINGS * EPS * (size + box.radius)
        return Box(
            self.R @ box.center + self.p,
            box.half_sizes,
            self.R @ box.rotation,
            float(np.nextafter(box.radius + slack, np.inf)),
        )


HERE = Placement(np.eye(3), np.zeros(3))
