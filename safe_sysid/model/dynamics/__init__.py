"""Equations of motion: kinematics, inverse dynamics and the regressors linear in theta."""
