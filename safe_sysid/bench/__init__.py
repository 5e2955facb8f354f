"""Figures of every part: speed, scaling, tightness (`safe-sysid bench`)."""
