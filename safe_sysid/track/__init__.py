"""TRACK: which torque follows a plan whatever theta is."""
