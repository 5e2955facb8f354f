"""PLAN: an informative move that is provably safe."""
