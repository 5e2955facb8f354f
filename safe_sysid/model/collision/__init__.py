"""Shapes of arms and of obstacles, and the distances between them."""
