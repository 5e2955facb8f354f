"""Spatial motions (linear, angular), compiled: cross product, change of frame, momentum form.

The work of the momentum I(phi) v on a motion s is linear in the ten parameters phi of a body:
s . I(phi) v = b(s, v) phi.
"""

from __future__ import annotations

from safe_sysid.arrays import Array
from safe_sysid.sets.compiled import inline_jit


@inline_jit
def bilinear(s: Array, v: Array, row: Array, first: int, factor: float) -> None:
    """row[first : first + 10] += factor b(s, v)."""
    row[first] += factor * (s[0] * v[0] + s[1] * v[1] + s[2] * v[2])
    row[first + 1] += factor * (s[1] * v[5] - s[2] * v[4] + v[1] * s[5] - v[2] * s[4])
    row[first + 2] += factor * (s[2] * v[3] - s[0] * v[5] + v[2] * s[3] - v[0] * s[5])
    row[first + 3] += factor * (s[0] * v[4] - s[1] * v[3] + v[0] * s[4] - v[1] * s[3])
    row[first + 4] += factor * (s[3] * v[3])
    row[first + 5] += factor * (s[3] * v[4] + s[4] * v[3])
    row[first + 6] += factor * (s[4] * v[4])
    row[first + 7] += factor * (s[3] * v[5] + s[5] * v[3])
    row[first + 8] += factor * (s[4] * v[5] + s[5] * v[4])
    row[first + 9] += factor * (s[5] * v[5])


@inline_jit
def motion_cross(a: Array, b: Array, out: Array) -> None:
    """out = a x b for motions (linear, angular)."""
    out[0] = a[4] * b[2] - a[5] * b[1] + a[1] * b[5] - a[2] * b[4]
    out[1] = a[5] * b[0] - a[3] * b[2] + a[2] * b[3] - a[0] * b[5]
    out[2] = a[3] * b[1] - a[4] * b[0] + a[0] * b[4] - a[1] * b[3]
    out[3] = a[4] * b[5] - a[5] * b[4]
    out[4] = a[5] * b[3] - a[3] * b[5]
    out[5] = a[3] * b[4] - a[4] * b[3]


@inline_jit
def to_child(R: Array, p: Array, a: Array, out: Array) -> None:
    """out = motion a of the frame below, in a frame with pose (R, p) in it."""
    x = a[0] + a[4] * p[2] - a[5] * p[1]
    y = a[1] + a[5] * p[0] - a[3] * p[2]
    z = a[2] + a[3] * p[1] - a[4] * p[0]
    for r in range(3):
        out[r] = R[0, r] * x + R[1, r] * y + R[2, r] * z
        out[r + 3] = R[0, r] * a[3] + R[1, r] * a[4] + R[2, r] * a[5]
