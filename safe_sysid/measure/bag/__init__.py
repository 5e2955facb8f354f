"""Bags: rosbag2 files read without ROS, and written so that they outlive their process."""
