"""Requests of ours to the services of connections."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from stellwerk.kernel.errors import ServiceUnavailable
from stellwerk.kernel.json import JsonObject
from stellwerk.toolboxes.exchange import Interrupted, Message, exchange
from stellwerk.toolboxes.ports import Answer
from stellwerk.toolboxes.targets import target_of

SECONDS = 20.0
MOST = 30 * 1024 * 1024
"""Bytes of an answer: a page of messages, or one attachment."""


@dataclass(frozen=True)
class Patience:
    """How long one exchange may last."""

    seconds: float
    begun: float = field(default_factory=time.monotonic)

    @property
    def remaining(self) -> float:
        """Seconds left."""
        return max(0.0, self.begun + self.seconds - time.monotonic())


class GuardedWeb:
    """Implements `ports.Web`; `allowed` are private `host:port` that may be called all the same."""

    def __init__(self, allowed: Collection[str], *, seconds: float = SECONDS) -> None:
        self._allowed = allowed
        self._seconds = seconds

    def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Answer:
        """Return the answer."""
        target = target_of(url, self._allowed)
        sent = {"user-agent": "stellwerk", "accept-encoding": "gzip, identity", **headers}
        try:
            reply = exchange(
                target, Message(method, sent, body), Patience(self._seconds), most=MOST
            )
        except Interrupted as error:
            raise ServiceUnavailable(
                f"{target.host} did not answer: {error}.", remedy="Try again later."
            ) from error
        return Answer(reply.status, reply.headers, reply.body)


def object_in(answer: Answer) -> JsonObject:
    """Return the JSON object of an answer; an empty one where there is none."""
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def retry_after(answer: Answer) -> float | None:
    """Return for how many seconds the service wants to be left alone, if it says so in seconds."""
    text = answer.headers.get("retry-after", "").strip()
    return float(text) if text.isdecimal() else None
