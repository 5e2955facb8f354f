"""Distances of points and segments to things, as expressions."""

import casadi as cs

from safe_sysid.sets.box import Box


def of_shape(shape, point, value):
    """Distance of a point to a box or zonotope; `value`, its number, says on which side it is."""
    if not isinstance(shape, Box):
        A, b = shape.half_spaces
        return cs.mmax(cs.mtimes(A, point) - b)
    away = cs.fabs(cs.mtimes(shape.rotation.T, point - shape.center)) - shape.half_sizes
    if value > -shape.radius:
        return cs.norm_2(cs.fmax(away, 0.0)) - shape.radius
    return cs.mmax(away) - shape.radius


def of_segments(a, b, c, d):
    """Distance of the segments ab and cd: between their lines, or from an end of one of them."""
    u, v, w = b - a, d - c, a - c
    uu, vv, uv, uw, vw = (cs.dot(*pair) for pair in ((u, u), (v, v), (u, v), (u, w), (v, w)))
    area = cs.fmax(uu * vv - uv**2, 1e-30)
    s, t = (uv * vw - vv * uw) / area, (uu * vw - uv * uw) / area
    inside = cs.logic_and(cs.fmin(s, t) > 0.0, cs.fmax(s, t) < 1.0)
    least = _to_segment(a, c, d)
    for end, others in ((b, (c, d)), (c, (a, b)), (d, (a, b))):
        least = cs.fmin(least, _to_segment(end, *others))
    return cs.if_else(inside, cs.norm_2(w + s * u - t * v), least)


def _to_segment(point, a, b):
    along = cs.dot(point - a, b - a) / cs.fmax(cs.sumsqr(b - a), 1e-30)
    return cs.norm_2(point - a - cs.fmin(cs.fmax(along, 0.0), 1.0) * (b - a))
