"""The cloud's endpoint for other processes: moto's server over the backends of this process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from werkzeug.serving import make_server

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

HOST = "127.0.0.1"
_NAMES = {HOST, "localhost"}


class PortInUse(RuntimeError):
    """Something else listens on the port."""


@contextmanager
def serving(port: int) -> Iterator[str]:
    """Serve on `port`, any free one for 0, while the block runs; yields the endpoint's URL.

    Raises PortInUse.
    """
    # flask: half a second that a cloud without an endpoint does not need
    from moto.moto_server.werkzeug_app import (
        DomainDispatcherApplication,
        MotoRequestHandler,
        create_backend_app,
    )

    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    application = _guarded(DomainDispatcherApplication(create_backend_app))
    try:
        server = make_server(
            HOST, port, application, threaded=True, request_handler=MotoRequestHandler
        )
    except (OSError, SystemExit) as error:
        raise PortInUse(f"port {port} is taken: choose another by --port, or 0 for any") from error
    thread = threading.Thread(target=server.serve_forever, name="localcloud-http", daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _guarded(application: WSGIApplication) -> WSGIApplication:
    """Refuse web pages, and moto's own API, by which any of them could erase everything.

    A page in a browser can send requests to this machine: they carry its origin, or, if it made its
    name point here, a host that is not ours.
    """

    def guard(environment: WSGIEnvironment, respond: StartResponse) -> Iterable[bytes]:
        host = environment.get("HTTP_HOST", "").partition(":")[0]
        path = environment.get("PATH_INFO", "")
        if "HTTP_ORIGIN" in environment or host not in _NAMES or path.startswith("/moto-api"):
            respond("403 Forbidden", [("Content-Type", "text/plain")])
            return [b"the local cloud answers AWS clients on this machine only"]
        return application(environment, respond)

    return guard
