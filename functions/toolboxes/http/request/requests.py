"""A request as it is sent: headers that cannot inject anything, and a body of three kinds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlencode

from stellwerk.kernel.errors import InvalidParameters
from stellwerk.kernel.json import JsonValue, dumps
from stellwerk.toolboxes.exchange import Message

BodyType = Literal["json", "text", "form"]
Scalar = str | int | float | bool
Fields = Mapping[str, Scalar | list[Scalar] | None]
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_OURS = {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"}
_TYPES: dict[BodyType, str] = {
    "json": "application/json",
    "text": "text/plain; charset=utf-8",
    "form": "application/x-www-form-urlencoded",
}


def message_of(method: str, headers: Mapping[str, str], body: JsonValue, kind: BodyType) -> Message:
    """Return the message; raise InvalidParameters for headers or a body that cannot be sent."""
    sent = {"user-agent": "stellwerk", "accept-encoding": "gzip, identity"}
    for name, value in headers.items():
        _check(name, value)
        sent[name.lower()] = value
    data = None if body is None else _encoded(body, kind)
    if data is not None:
        sent.setdefault("content-type", _TYPES[kind])
    return Message(method, sent, data)


def with_query(url: str, fields: Fields) -> str:
    """Return `url` with `fields` added to its query."""
    pairs = [
        (name, _text(entry))
        for name, value in fields.items()
        if value is not None
        for entry in (value if isinstance(value, list) else [value])
    ]
    if not pairs:
        return url
    head, mark, fragment = url.partition("#")
    return f"{head}{'&' if '?' in head else '?'}{urlencode(pairs)}{mark}{fragment}"


def _check(name: str, value: str) -> None:
    if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        raise InvalidParameters(
            f"Parameter headers: {name!r:.60} is not a header that can be sent.",
            remedy="Leave out line breaks, control characters, and letters outside Latin-1.",
        )
    if name.lower() in _OURS:
        raise InvalidParameters(
            f"Parameter headers: {name} follows from the request and cannot be set.",
            remedy="Remove it.",
        )


def _encoded(body: JsonValue, kind: BodyType) -> bytes:
    if kind == "json":
        return dumps(body).encode()
    if kind == "text":
        return _text(body).encode()
    if not isinstance(body, dict):
        raise InvalidParameters(
            "Parameter body must be an object, to be sent as a form.",
            remedy="Make it an object of fields, or choose another `body_type`.",
        )
    return urlencode([(name, _text(value)) for name, value in body.items()]).encode()


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else dumps(value)
