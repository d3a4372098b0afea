"""A small HTTP server on loopback that behaves as its paths say, and remembers what it was sent."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Sent:
    """One request that arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Server:
    """Where it is, and what it was sent."""

    port: int
    sent: list[Sent] = field(default_factory=list)

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str) -> str:
        return f"http://{self.place}{path}"


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, told: Server, stop: threading.Event) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.told, self.stop = told, stop
        told.port = self.server_address[1]


class Handler(BaseHTTPRequestHandler):
    """Answers as the first part of the path says."""

    protocol_version = "HTTP/1.1"
    server: _Http

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self) -> None:
        length = int(self.headers.get("content-length", 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(length)
        self.server.told.sent.append(Sent(self.command, self.path, headers, body))
        name, _, argument = self.path.lstrip("/").partition("?")[0].partition("/")
        getattr(self, f"_{name}", self._echo)(argument)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _answer

    def _reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for header, value in headers.items():
            self.send_header(header.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _echo(self, argument: str) -> None:
        last = self.server.told.sent[-1]
        told = {"method": last.method, "path": last.path, "body": last.body.decode()}
        self._reply(200, json.dumps(told).encode(), content_type="application/json")

    def _status(self, argument: str) -> None:
        self._reply(int(argument), b"no", retry_after="7")

    def _to(self, argument: str) -> None:
        status, _, where = argument.partition("/")
        self._reply(int(status), b"", location="/" + where)

    def _private(self, argument: str) -> None:
        self._reply(302, b"", location="http://169.254.169.254/latest/meta-data")

    def _elsewhere(self, argument: str) -> None:
        self._reply(307, b"", location=f"http://localhost:{self.server.told.port}/echo")

    def _loop(self, argument: str) -> None:
        self._reply(302, b"", location="/loop")

    def _text(self, argument: str) -> None:
        self._reply(200, "grüezi".encode("latin-1"), content_type="text/plain; charset=latin-1")

    def _gzip(self, argument: str) -> None:
        packed = gzip.compress(b"x" * int(argument))
        self._reply(200, packed, content_encoding="gzip")

    def _large(self, argument: str) -> None:
        self.send_response(200)
        self.send_header("content-length", argument)
        self.end_headers()
        self.wfile.write(b"x" * 1000)

    def _endless(self, argument: str) -> None:
        self.send_response(200)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while not self.server.stop.is_set():
                self.wfile.write(b"x" * 65536)
        except OSError:
            return

    def _silent(self, argument: str) -> None:
        self.close_connection = True
        self.server.stop.wait(10)

    def _drip(self, argument: str) -> None:
        self.close_connection = True
        try:
            while not self.server.stop.is_set():
                self.wfile.write(b"H")
                time.sleep(0.02)
        except OSError:
            return

    def _hangup(self, argument: str) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def running() -> Iterator[Server]:
    """Run a server for the length of the block."""
    server, stop = Server(0), threading.Event()
    http = _Http(server, stop)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        stop.set()
        http.shutdown()
        thread.join()
        http.server_close()
