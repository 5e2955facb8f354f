"""ROBOT: a stand-in that measures and applies torque."""
