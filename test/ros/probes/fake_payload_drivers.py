"""Drivers that take payloads, as far as their callers see; written from the drivers' sources.

    ur      GPIO controller: hands mass and centre (and inertia, where its service has it) to the
            robot and answers when the robot has; false if that takes longer than its retries
    franka  parameter server: what libfranka throws becomes the error, as while the arm moves
    listener for messages

Prints what it took, a JSON object a line. Takes the name of the driver, and `busy` for one that
does not take anything.
"""

import json
import sys

import rclpy
from rclpy.node import Node


def numbers(message):
    """Fields of a message as plain values."""
    if hasattr(message, 'get_fields_and_field_types'):
        return {
            name: numbers(getattr(message, name)) for name in message.get_fields_and_field_types()
        }
    return message.tolist() if hasattr(message, 'tolist') else message


def say(line):
    sys.stdout.write(f'{line}\n')
    sys.stdout.flush()


class FakeUr(Node):
    def __init__(self, is_busy):
        from ur_msgs.srv import SetPayload

        super().__init__('io_and_status_controller')
        self.is_busy = is_busy
        self.create_service(SetPayload, '~/set_payload', self.take)

    def take(self, request, response):
        say(json.dumps(numbers(request)))
        response.success = not self.is_busy
        return response


class FakeFranka(Node):
    def __init__(self, is_busy):
        from franka_msgs.srv import SetLoad

        super().__init__('service_server')
        self.is_busy = is_busy
        self.create_service(SetLoad, '~/set_load', self.take)

    def take(self, request, response):
        say(json.dumps(numbers(request)))
        response.success = not self.is_busy
        if self.is_busy:
            response.error = 'command rejected: command not possible in the current mode ("Move")!'
        return response


class Listener(Node):
    def __init__(self, is_busy):
        from geometry_msgs.msg import InertiaStamped

        del is_busy
        super().__init__('listener')
        self.create_subscription(
            InertiaStamped, '/payload', lambda m: say(json.dumps(numbers(m))), 1
        )


def main():
    rclpy.init()
    node = {'ur': FakeUr, 'franka': FakeFranka, 'inertia': Listener}[sys.argv[1]](
        'busy' in sys.argv
    )
    say('ready')
    rclpy.spin(node)


if __name__ == '__main__':
    main()
