"""REPORT  what a person reads: the safe-sysid command, figures and plots (no ROS)."""
