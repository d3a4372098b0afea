"""The service outside: it counts what happened, and knows what is happening at the moment."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECONDS = 0.03
"""How long it takes for an effect: long enough that kills find writes in flight."""


@dataclass
class Effects:
    """How often each path was asked to have its effect; a known key does nothing again."""

    port: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    keys: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    def happen(self, path: str, key: str | None) -> None:
        with self.lock:
            if key is not None and key in self.keys:
                return
            if key is not None:
                self.keys.add(key)
            self.counts[path] += 1


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, effects: Effects) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.effects = effects
        effects.port = self.server_address[1]

    def handle_error(self, *_: object) -> None:
        """Say nothing: callers are killed while they wait."""


class _Handler(BaseHTTPRequestHandler):
    server: _Http

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        time.sleep(SECONDS / 2)
        self.server.effects.happen(self.path, self.headers.get("idempotency-key"))
        time.sleep(SECONDS / 2)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()


@contextmanager
def outside() -> Iterator[Effects]:
    """Run the service for the block."""
    effects = Effects()
    server = _Http(effects)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield effects
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
