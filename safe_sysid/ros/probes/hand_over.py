"""Hand an identified payload to a driver that runs: JSON in, JSON out.

Takes how long to wait [s], and on standard input the type, the name and the fields of a service
request or of a message, with the fields that older drivers do not have, and the same in fields of
other versions. Says whether it was
answered, with what, and which fields the type of this driver lacks. Where a loop has found it,
that `loop` has to agree first.
"""

from __future__ import annotations

from collections.abc import Callable
import importlib
import json
import sys
import time
from typing import Any

import rclpy
from rclpy.node import Node

from safe_sysid.ros.probes.answer import tell
from safe_sysid.ros.probes.loop_consent import LoopConsent

PERIOD = 0.05  # [s]


def main() -> int:
    """Ask, and print the answer."""
    seconds = float(sys.argv[1])
    given = json.load(sys.stdin)
    try:
        kind = _type_of(given['type'])
    except (ImportError, AttributeError):
        tell(json.dumps({'error': f'{given["type"]} is not installed; source the driver'}))
        return 0
    rclpy.init()
    try:
        node = Node('safe_sysid_hand_over')
        tell(json.dumps(_answer(node, kind, given, seconds)))
        return 0
    finally:
        rclpy.try_shutdown()


def _answer(node: Node, kind: Any, given: dict[str, Any], seconds: float) -> dict[str, Any]:
    ask = _call if '/srv/' in given['type'] else _publish
    if 'loop' not in given:
        return ask(node, kind, given, time.monotonic() + seconds)
    consent = LoopConsent(node, given['loop'], time.monotonic() + 2.0 * seconds)
    return consent.with_it(lambda: ask(node, kind, given, time.monotonic() + seconds))


def _type_of(name: str) -> Any:
    package, folder, kind = name.split('/')
    return getattr(importlib.import_module(f'{package}.{folder}'), kind)


def _call(node: Node, kind: Any, given: dict[str, Any], deadline: float) -> dict[str, Any]:
    client = node.create_client(kind, given['name'])
    while not client.service_is_ready() and time.monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=PERIOD)
    if not client.service_is_ready():
        return {'error': f'nobody serves {given["name"]} ({given["type"]})'}
    request, lacking, refusal = _filled(kind.Request, given)
    if refusal:
        return {'error': refusal}
    answer = client.call_async(request)
    while not answer.done() and time.monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=PERIOD)
    if not answer.done():
        error = f'{given["name"]} did not answer'
        return {'error': error, 'lacking': lacking, 'was_asked': True}
    response = answer.result()
    error = getattr(response, 'error', '')
    if not response.success:
        refusal = f'the driver refused: {error or "it does not say why"}'
        return {'error': refusal, 'was_asked': True}
    return {'success': True, 'lacking': lacking}


def _publish(node: Node, kind: Any, given: dict[str, Any], deadline: float) -> dict[str, Any]:
    message, lacking, refusal = _filled(kind, given)
    if refusal:
        return {'error': refusal}
    if hasattr(message, 'header'):
        message.header.stamp = node.get_clock().now().to_msg()
    publisher = node.create_publisher(kind, given['name'], 1)
    while publisher.get_subscription_count() == 0 and time.monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=PERIOD)
    if publisher.get_subscription_count() == 0:
        return {'error': f'nobody listens to {given["name"]} ({given["type"]})'}
    publisher.publish(message)
    publisher.wait_for_all_acked(rclpy.duration.Duration(seconds=1.0))
    return {'success': True, 'lacking': lacking}


def _filled(make: Callable[[], Any], given: dict[str, Any]) -> tuple[Any, list[str], str]:
    """Return the message in the fields that it has, those that it lacks, and why it is none."""
    first = ''
    for fields in (given['fields'], *given['others']):
        message = make()
        lacking = _fill(message, fields)
        refusal = _refusal(message, lacking, given)
        if not refusal:
            return message, lacking, ''
        first = first or refusal
    return make(), [], first


def _refusal(message: Any, lacking: list[str], given: dict[str, Any]) -> str:
    """Say what this driver takes in place of what is expected; empty: it takes it."""
    if set(lacking) <= set(given['newer']):
        return ''
    there = ', '.join(
        f'{name} ({kind})' for name, kind in message.get_fields_and_field_types().items()
    )
    expected = ', '.join(
        f'{name} ({_words(value)})'
        for name, value in given['fields'].items()
        if name not in given['newer']
    )
    return (
        f'{given["type"]} of this driver has the fields {there or "none"}; expected are {expected}'
    )


def _fill(message: Any, fields: dict[str, Any]) -> list[str]:
    """Set the fields of a message; return those that it does not have, or has as something else.

    A message itself may take anything, and end the process once it is sent.
    """
    lacking = []
    for name, value in fields.items():
        there = getattr(message, name, None)
        if there is None or not _is_like(there, value):
            lacking.append(name if there is None else f'{name} as {_words(value)}')
        elif isinstance(value, dict):
            lacking += [f'{name}.{each}' for each in _fill(there, value)]
        else:
            setattr(message, name, _of_type(there, value))
    return lacking


def _is_like(there: Any, value: Any) -> bool:
    """Whether a field takes a value, by what it has at first."""
    if isinstance(value, dict):
        return hasattr(there, 'get_fields_and_field_types')
    if isinstance(value, list):
        is_list = hasattr(there, '__len__') and not isinstance(there, str)
        return is_list and len(there) in (0, len(value))
    kinds = str if isinstance(value, str) else int | float
    return isinstance(there, kinds)


def _words(value: Any) -> str:
    """Return what a value is, as it is expected."""
    if isinstance(value, dict):
        return 'a message with ' + ', '.join(value)
    if isinstance(value, list):
        return f'{len(value)} numbers'
    return 'a text' if isinstance(value, str) else 'a number'


def _of_type(there: Any, value: Any) -> Any:
    """Return bytes where the message wants them (`operation` of MoveIt's objects)."""
    return bytes(value) if isinstance(there, bytes) else value


if __name__ == '__main__':
    sys.exit(main())
