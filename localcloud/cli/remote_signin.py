"""Signing in from a terminal: the browser comes back to a page of this process with a code."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qsl, urlsplit

from localcloud.cli.remote_issuer import Issuer, Wish
from localcloud.cli.remote_sessions import Session, Sessions
from stellwerk.kernel.errors import Conflict, Unauthenticated

PORT = 8401
"""Where the browser comes back to: an address that user pools must know beforehand."""
PATIENCE = 300.0
"""Seconds that a person may take to sign in."""
_DONE = (
    b"<!doctype html><meta charset=utf-8><title>Stellwerk</title>"
    b"<p>You are signed in. You can close this window and go back to the terminal."
    b"<p lang=de>Sie sind angemeldet. Sie k&ouml;nnen dieses Fenster schlie&szlig;en."
)


class KeptPass:
    """Implements `remote.Pass` by a kept session, which is renewed when it expires."""

    def __init__(self, sessions: Sessions, api: str) -> None:
        self._sessions = sessions
        self._api = api
        self._session = sessions.find(api)

    def token(self, *, renew: bool = False) -> str:
        """Return an access token that holds; raises Unauthenticated where none can be had."""
        session = self._session
        if session is None:
            raise Unauthenticated(
                f"You are not signed in at {self._api}.",
                remedy=f"Sign in by `stellwerk login --api {self._api}`.",
            )
        if renew or not session.fresh:
            session = self._session = self._renewed(session)
        return session.access_token

    def _renewed(self, session: Session) -> Session:
        if not session.refresh_token:
            raise Unauthenticated(
                "The machine's token has expired.",
                remedy="Sign in again by `stellwerk login --client-id ... --client-secret ...`.",
            )
        renewed = Issuer(session.issuer).refresh(session)
        self._sessions.keep(self._api, renewed)
        return renewed


def sign_in(
    issuer: Issuer, client: str, show: Callable[[str], None], *, port: int = PORT
) -> Session:
    """Return the session of whoever signs in on the page that `show` is given.

    Raises Conflict where the port is taken, Unauthenticated where nobody signs in.
    """
    with _listening(port) as callback:
        wish = Wish(client, f"http://localhost:{callback.port}/callback")
        show(issuer.page(wish))
        code = callback.wait(wish.state)
    return issuer.redeem(wish, code)


class _Callback:
    """Waits for the browser to come back."""

    def __init__(self, server: HTTPServer) -> None:
        self.port = server.server_port
        self._server = server
        self.told: dict[str, str] = {}

    def wait(self, state: str) -> str:
        """Return the code; what comes with another state is not meant for us."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            self._server.handle_request()
            if self.told.get("state") == state:
                return self._code()
        raise Unauthenticated("Nobody has signed in within five minutes.", remedy="Try again.")

    def _code(self) -> str:
        code = self.told.get("code", "")
        if not code:
            why = self.told.get("error_description") or self.told.get("error", "no code")
            raise Unauthenticated(f"The issuer refuses: {why}.", remedy="Try again.")
        return code


@contextmanager
def _listening(port: int) -> Iterator[_Callback]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path != "/callback":
                self.send_error(404)
                return
            callback.told = dict(parse_qsl(parts.query))
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Security-Policy", "default-src 'none'")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(_DONE)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: the line would hold the code."""

    try:
        server = HTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        raise Conflict(
            f"Port {port}, to which the browser comes back, is taken.",
            remedy="End what listens there, or choose another by --port.",
        ) from error
    server.timeout = 1.0
    callback = _Callback(server)
    try:
        yield callback
    finally:
        server.server_close()
