"""PageServer: one page on this computer, and what happens, told to whoever has it open.

What happens goes over an event stream of HTTP (`EventSource` in a browser, which asks again by
itself when it was cut off): nothing but the standard library, and no page of another origin can
read it. Addresses other than this computer's own are refused, so that no name that points here
(DNS rebinding) gets an answer.
"""

from __future__ import annotations

from collections import deque
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json
import queue
import threading
from typing import Any

from safe_sysid.errors import ConfigError

HOST = '127.0.0.1'
QUIET = 5.0  # [s] after which a reader is told that nothing has happened
KEPT = {
    'pose': 1500,
    'plan': 4,
    'bounds': 400,
    'held': 400,
    'mode': 200,
}  # newest events for who comes later; others 1
BEHIND = 2 * sum(KEPT.values())  # events that wait for one reader, who is cut off then
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data: blob:"
)


class PageServer:
    """Serves until it is closed; `tell` may be called from any thread."""

    def __init__(self, page: str, port: int = 0) -> None:
        self._lock = threading.Lock()
        self._events: dict[str, deque[tuple[int, str]]] = {}
        self._count = 0
        self._is_closed = False
        self._readers: list[queue.Queue[str | None]] = []
        try:
            self._http = _Server(page.encode(), self, port)
        except OSError as error:
            raise ConfigError(
                f'port {port} of {HOST} cannot be used: {error.strerror}; leave --port out for a '
                'free one'
            ) from error
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f'http://{HOST}:{self._http.server_port}/'

    def tell(self, event: dict[str, Any]) -> None:
        """Tell every reader, and keep it for those who come later; a new scene replaces all."""
        text = json.dumps(event, separators=(',', ':'))
        kind = event['kind']
        with self._lock:
            if kind == 'scene':
                self._events.clear()
            self._count += 1
            kept = self._events.setdefault(kind, deque(maxlen=KEPT.get(kind, 1)))
            kept.append((self._count, text))
            for reader in self._readers:
                if reader.qsize() < BEHIND:
                    reader.put(text)

    def listen(self) -> queue.Queue[str | None]:
        """Return what there is to tell somebody new, in its order; more follows."""
        reader: queue.Queue[str | None] = queue.Queue()
        with self._lock:
            for _, text in sorted(pair for kept in self._events.values() for pair in kept):
                reader.put(text)
            self._readers.append(reader)
            if self._is_closed:
                reader.put(None)
        return reader

    def leave(self, reader: queue.Queue[str | None]) -> None:
        """Forget a reader."""
        with self._lock:
            self._readers.remove(reader)

    def close(self) -> None:
        """End every answer, and the server."""
        with self._lock:
            self._is_closed = True
            for reader in self._readers:
                reader.put(None)
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, page: bytes, pages: PageServer, port: int) -> None:
        self.page, self.pages = page, pages
        super().__init__((HOST, port), _Answer)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: whoever asked has closed the page."""


class _Answer(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        names = (f'{HOST}:{self.server.server_port}', f'localhost:{self.server.server_port}')
        if self.headers.get('Host') not in names:
            self.send_error(HTTPStatus.FORBIDDEN)
        elif self.path == '/':
            self._begin('text/html; charset=utf-8', len(self.server.page))
            self.wfile.write(self.server.page)
        elif self.path == '/events':
            self._begin('text/event-stream')
            self._stream()
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _begin(self, kind: str, length: int | None = None) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Security-Policy', POLICY)
        self.send_header('Cache-Control', 'no-store')
        if length is not None:
            self.send_header('Content-Length', str(length))
        self.end_headers()

    def _stream(self) -> None:
        reader = self.server.pages.listen()
        try:
            while True:
                try:
                    text = reader.get(timeout=QUIET)
                except queue.Empty:
                    text = ''
                if text is None or reader.qsize() >= BEHIND - 1:
                    return
                self.wfile.write(f'data: {text}\n\n'.encode() if text else b':\n\n')
        finally:
            self.server.pages.leave(reader)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of every request."""
