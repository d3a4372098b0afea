"""The header Idempotency-Key: a creation that is sent twice happens once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Header, Request
from pydantic import BaseModel
from starlette.responses import Response

from api.backend import services
from api.rendering import JSON, Created, text_of
from stellwerk.requests.model import Answer
from stellwerk.tenancy.scope import Scope

REPLAYED = "Idempotency-Replayed"


class Creation:
    """How a creation is done: at once, or under its key."""

    def __init__(self, request: Request, key: str | None) -> None:
        self._request = request
        self._key = key

    @property
    def key(self) -> str | None:
        """The key that the client chose."""
        return self._key

    def answer(
        self, scope: Scope, body: BaseModel | bytes | None, make: Callable[[], Created]
    ) -> Response:
        """Return the answer to a creation; the one before where the request comes again.

        `body` is what was asked: with the same key it must be the same.
        """
        if self._key is None:
            created = make()
            return Response(text_of(created.view), 201, created.headers, JSON)
        shown: list[str] = []

        def act() -> Answer:
            created = make()
            shown.append(text_of(created.view))
            kept = text_of(created.view, without=created.hidden)
            return Answer(status=201, headers=created.headers, body=kept)

        once = services(self._request).requests.once
        answer, repeated = once.answer(scope, self._key, self._fingerprint(body), act)
        headers = answer.headers | ({REPLAYED: "true"} if repeated else {})
        text = shown[0] if shown else answer.body
        return Response(text, answer.status, headers, JSON)

    def _fingerprint(self, body: BaseModel | bytes | None) -> str:
        line = f"{self._request.method} {self._request.url.path}?{self._request.url.query}\n"
        if isinstance(body, BaseModel):
            plain = body.model_dump(mode="json", by_alias=True)
            body = json.dumps(plain, sort_keys=True).encode()
        return hashlib.sha256(line.encode() + (body or b"")).hexdigest()


def creation(
    request: Request,
    idempotency_key: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            description="Names this request: sent again within a day, it is answered as before",
            pattern=r"^[\x21-\x7e]{1,200}$",
            examples=["c0ffee-01"],
        ),
    ] = None,
) -> Creation:
    """Return how the request's creation is done."""
    return Creation(request, idempotency_key)


Creating = Annotated[Creation, Depends(creation)]
"""How to create, as a parameter of an operation."""
