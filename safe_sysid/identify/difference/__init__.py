"""A payload as the difference between recordings without and with it; the arm is unknown."""
