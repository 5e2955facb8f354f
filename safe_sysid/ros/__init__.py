"""ROS 2: the only folder that knows rclpy and messages."""
