"""Values of the loop as ROS messages, and back."""
