"""A function for the doctor to see where numba keeps what it compiles from this package."""


def doubled(x: float) -> float:
    """Twice x."""
    return 2.0 * x
