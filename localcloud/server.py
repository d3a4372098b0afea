"""The cloud's endpoint for other processes: moto's server over the backends of this process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from werkzeug.serving import make_server

HOST = "127.0.0.1"


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
    application = DomainDispatcherApplication(create_backend_app)
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
