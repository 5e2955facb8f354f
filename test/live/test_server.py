"""The page is for this computer only, and whoever comes late is told what still counts."""

from http.client import HTTPConnection
import json
import socket
from urllib.parse import urlsplit

import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.live.page import live_page
from safe_sysid.live.server import KEPT, PageServer


@pytest.fixture
def server():
    """A page of one word."""
    made = PageServer('<p>hello')
    yield made
    made.close()


def asked(server, path, **headers):
    """Answer of the server."""
    connection = HTTPConnection(urlsplit(server.address).netloc, timeout=30)
    connection.request('GET', path, headers=headers)
    return connection.getresponse()


def events(answer, count):
    """The next events of a stream."""
    found = []
    while len(found) < count:
        line = answer.readline().decode()
        assert line, f'the stream ended after {len(found)} events'
        line = line.strip()
        if line.startswith('data: '):
            found.append(json.loads(line.removeprefix('data: ')))
    return found


def test_the_page_is_there_and_may_fetch_nothing_else(server):
    answer = asked(server, '/')
    assert answer.read() == b'<p>hello'
    assert "default-src 'none'" in answer.headers['Content-Security-Policy']
    assert asked(server, '/etc/passwd').status == 404


def test_other_names_for_this_computer_get_no_answer(server):
    assert asked(server, '/', Host='evil.example').status == 403
    assert asked(server, '/events', Host='evil.example:80').status == 403


def test_only_this_computer_is_served(server):
    assert server.address.startswith('http://127.0.0.1:')
    taken = urlsplit(server.address).port
    with pytest.raises(ConfigError, match=f'port {taken} of 127.0.0.1 cannot be used'):
        PageServer('', taken)


def test_who_comes_late_is_told_what_still_counts(server):
    server.tell({'kind': 'scene', 'scene': 1})
    server.tell({'kind': 'pose', 'part': 'of the scene before'})
    server.tell({'kind': 'scene', 'scene': 2})
    for number in range(KEPT['plan'] + 3):
        server.tell({'kind': 'plan', 'plan': number})
    answer = asked(server, '/events')
    got = events(answer, 1 + KEPT['plan'])
    assert [event['kind'] for event in got] == ['scene'] + ['plan'] * KEPT['plan']
    assert got[0]['scene'] == 2 and got[-1]['plan'] == KEPT['plan'] + 2
    server.tell({'kind': 'mode', 'mode': [0.0, 'idle']})
    assert events(answer, 1)[0]['kind'] == 'mode'


def test_who_comes_late_is_told_all_of_a_long_run(server):
    server.tell({'kind': 'scene', 'scene': 1})
    for kind, most in KEPT.items():
        for number in range(most):
            server.tell({'kind': kind, 'number': number})
    got = events(asked(server, '/events'), 1 + sum(KEPT.values()))
    assert got[0]['kind'] == 'scene' and got[-1] == {'kind': 'mode', 'number': KEPT['mode'] - 1}


def test_a_server_that_ends_ends_its_answers():
    server = PageServer('')
    answer = asked(server, '/events')
    server.close()
    assert answer.read().replace(b':', b'').strip() == b''
    with (
        pytest.raises(OSError),
        socket.create_connection(('127.0.0.1', urlsplit(server.address).port), 5),
    ):
        pass


def test_a_live_page_says_what_it_waits_for():
    assert 'Waiting for a loop on the moon.' in live_page('on the moon')
