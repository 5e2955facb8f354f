"""MEASURE: what the robot reports."""
