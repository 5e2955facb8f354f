"""OFFLINE: what an arm is, from recordings of its motion."""
