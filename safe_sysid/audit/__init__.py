"""AUDIT: a recorded run, proven once more from its bag."""
