"""A way for the whole arm to a far goal, around obstacles."""
