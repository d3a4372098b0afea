"""What happens to every request and answer: bytes and headers, around the application.

From the outside in: `Named` gives the request an id and catches what nobody expected, gzip comes
from the framework, `Known` leaves out what the client has already, `Bounded` counts the body.
"""

from __future__ import annotations

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.conditions import names
from api.errors import unexpected
from stellwerk.kernel.clock import Clock
from stellwerk.kernel.ids import new_id

LARGEST = 4 * 1024 * 1024 + 64 * 1024
"""Bytes of a body: the largest file, and what a form puts around it."""
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_FIXED = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-cache",
}


class Named:
    """Gives each request an id, the client's if it sent one, and says it in the answer.

    An error that nobody turned into an answer becomes a problem that tells nothing.
    """

    def __init__(self, app: ASGIApp, clock: Clock) -> None:
        self._app = app
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = Headers(scope=scope).get("x-request-id", "")
        request_id = sent if _REQUEST_ID.fullmatch(sent) else new_id(self._clock.now())
        scope.setdefault("state", {})["request_id"] = request_id
        begun = False

        async def name(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                for header, value in _FIXED.items():
                    headers.setdefault(header, value)
            await send(message)

        try:
            await self._app(scope, receive, name)
        except Exception as error:
            if begun:
                raise
            await unexpected(scope, error)(scope, receive, name)


class Known:
    """Answers 304 instead of what the client has already, by If-None-Match."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        seen = Headers(scope=scope).get("if-none-match") if scope["type"] == "http" else None
        if seen is None or scope["method"] not in {"GET", "HEAD"}:
            await self._app(scope, receive, send)
            return
        known = False

        async def leave_out(message: Message) -> None:
            nonlocal known
            if message["type"] == "http.response.start" and message["status"] == 200:
                headers = MutableHeaders(scope=message)
                known = names(seen, headers.get("etag", ""))
                if known:
                    message["status"] = 304
                    for header in ("content-length", "content-type", "content-disposition"):
                        del headers[header]
            elif known and message["type"] == "http.response.body":
                message = {"type": "http.response.body", "body": b""}
            await send(message)

        await self._app(scope, receive, leave_out)


class Bounded:
    """Refuses bodies that are too large, also those that come in pieces of unknown number."""

    def __init__(self, app: ASGIApp, limit: int = LARGEST) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        count = 0

        async def counted() -> Message:
            nonlocal count
            message = await receive()
            count += len(message.get("body", b""))
            if count > self._limit:
                raise HTTPException(413)
            return message

        await self._app(scope, counted, send)
