"""Robots with closed loops: constraints, solved positions, other ways to assemble them."""
