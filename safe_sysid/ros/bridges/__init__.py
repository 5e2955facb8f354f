"""Nodes between the loop and a driver or a simulator."""
