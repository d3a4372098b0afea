"""The API of a local cloud: the same application as on AWS, under uvicorn in a thread."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import Mount
from starlette.types import ASGIApp

from api.app import create_app
from api.backend import Backend, Watching
from api.identity import Verifier
from localcloud.issuer.app import create_issuer
from localcloud.server import HOST, PortInUse
from stellwerk.bootstrap import Clients
from stellwerk.bootstrap.serving import serve
from stellwerk.config import Settings
from stellwerk.kernel.clock import SystemClock
from stellwerk.tenancy.machines import KeptSecrets

ISSUER = "/oidc"
"""Where the local issuer is found on the API's port."""
_BACKLOG = 128
_START_SECONDS = 10.0
_GRACE = 2
"""Seconds that answers which are under way have when the server ends: streams last for long."""


def listening(port: int) -> socket.socket:
    """Return a socket that listens on `port`, any free one for 0; raises PortInUse.

    What it accepts sends at once, as it does itself: an answer's body would wait 40 ms for the
    client to confirm its head, and asyncio does not see to that on a socket that it did not make.
    """
    try:
        listener = socket.create_server((HOST, port), backlog=_BACKLOG)
    except OSError as error:
        raise PortInUse(
            f"port {port} is taken: choose another by --api-port, or 0 for any"
        ) from error
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def address_of(listener: socket.socket) -> str:
    """Return the address under which a browser finds what listens there."""
    return f"http://{HOST}:{listener.getsockname()[1]}"


def application(settings: Settings, clients: Clients) -> Starlette:
    """Return the API over a local cloud, with the issuer of its tokens beside it.

    Refuses hosts that are not this machine: a web page could make its own name point here.
    """
    services = serve(settings, clients)
    tokens = Verifier(settings.issuer, settings.clients)
    machines = KeptSecrets(services.directory.members, SystemClock())
    issuer = create_issuer(settings.issuer, data=settings.data, machines=machines)
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])
    backend = Backend(services, tokens, Watching(streams=True))
    routes = [Mount(ISSUER, issuer), Mount("", create_app(backend))]
    return Starlette(routes=routes, middleware=[hosts])


@contextmanager
def serving(app: ASGIApp, listener: socket.socket) -> Iterator[str]:
    """Serve on the socket while the block runs; yields the address."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        lifespan="off",
        access_log=False,
        timeout_graceful_shutdown=_GRACE,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(
        target=server.run, args=([listener],), name="localcloud-api", daemon=True
    )
    thread.start()
    try:
        _await_start(server, thread)
        yield address_of(listener)
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def _await_start(server: uvicorn.Server, thread: threading.Thread) -> None:
    until = time.monotonic() + _START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > until:
            raise RuntimeError("the API's server did not start")
        time.sleep(0.005)
