"""What a reply's status means, and what its body holds."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from email.message import Message as Header
from email.utils import parsedate_to_datetime
from typing import Literal

from stellwerk.kernel.errors import (
    ConnectionRejected,
    EffectUncertain,
    Forbidden,
    InvalidResult,
    NotFound,
    PermanentError,
    RateLimited,
    ServiceUnavailable,
    StellwerkError,
    TransientError,
)
from stellwerk.kernel.json import JsonValue
from stellwerk.toolboxes.exchange import Reply

Expectation = Literal["auto", "json", "text", "bytes"]
_SHOWN = 300
_KINDS: dict[int, type[PermanentError]] = {
    401: ConnectionRejected,
    403: Forbidden,
    404: NotFound,
    410: NotFound,
}
_UNCLEAR = {502, 504}


def error_of(reply: Reply, url: str, *, repeatable: bool) -> StellwerkError:
    """Return the error for a status from 400; `repeatable` says that a second call does no harm."""
    shown = reply.body[:_SHOWN].decode(errors="replace").strip()
    message = f"{url} replied with status {reply.status}: {shown}" if shown else ""
    message = message or f"{url} replied with status {reply.status}."
    if reply.status == 429:
        return RateLimited(message, retry_after=retry_after(reply))
    if reply.status == 503:
        return ServiceUnavailable(message, retry_after=retry_after(reply))
    if reply.status >= 500 and repeatable:
        return TransientError(message, retry_after=retry_after(reply))
    if reply.status in _UNCLEAR:
        return EffectUncertain(message, remedy="Look at the service whether it has happened.")
    kind = _KINDS.get(reply.status, PermanentError)
    return kind(message, remedy="Look at the reply, and correct the request.")


def retry_after(reply: Reply) -> float | None:
    """Return for how many seconds the service wants to be left alone, if it says so."""
    text = reply.headers.get("retry-after", "").strip()
    if text.isdecimal():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def content(reply: Reply, expected: Expectation) -> JsonValue:
    """Return the body as expected: JSON, text, or bytes in base 64; `auto` goes by its type."""
    kind, charset = _content_type(reply)
    if expected == "bytes":
        return base64.b64encode(reply.body).decode()
    if expected == "json" or (expected == "auto" and (kind == "json" or kind.endswith("+json"))):
        return _json(reply) if reply.body or expected == "json" else None
    return reply.body.decode(charset, errors="replace")


def _content_type(reply: Reply) -> tuple[str, str]:
    header = Header()
    header["content-type"] = reply.headers.get("content-type", "text/plain")
    charset = header.get_content_charset("utf-8")
    try:
        "".encode(charset)
    except LookupError:
        charset = "utf-8"
    return header.get_content_subtype(), charset


def _json(reply: Reply) -> JsonValue:
    try:
        value: JsonValue = json.loads(reply.body)
    except (ValueError, RecursionError) as error:
        raise InvalidResult(
            f"The reply (status {reply.status}) is no JSON: {error}",
            remedy="Set `expect` to text, or call another address.",
        ) from None
    return value
