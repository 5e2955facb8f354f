"""Nodes of a test have a context of their own."""

import pytest
import rclpy


@pytest.fixture
def context():
    context = rclpy.Context()
    rclpy.init(context=context)
    yield context
    rclpy.shutdown(context=context)
