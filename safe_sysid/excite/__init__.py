"""OFFLINE: excitation trajectories, within limits and without contact."""
