"""Under which id a request is known: a repeat has the same, and answers with the same run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonValue, canonical
from stellwerk.triggers.proofs import Incoming

HEADERS = (
    "idempotency-key",
    "x-github-delivery",
    "webhook-id",
    "x-gitlab-event-uuid",
    "x-shopify-webhook-id",
    "x-atlassian-webhook-identifier",
    "ce-id",
)
"""Headers by which senders name a delivery; the first that is there counts."""
_EVENTS: Mapping[str, str] = {"stripe": "id", "slack": "event_id"}
"""Where senders without such a header name it in the body, by kind of authentication."""


def delivery_of(
    node: NodeKey, got: Incoming, body: JsonValue, now: datetime, *, path: str = "", kind: str = ""
) -> str:
    """Return the delivery's id, which holds for the trigger `node` alone.

    `path` into the body (`order.id`) comes first: raises BadInput where nothing is there. Then the
    usual headers, then where the sender of that `kind` names its events, else the body's hash with
    the second of arrival.
    """
    if path:
        return f"{node}/body/{_named(body, path)}"
    for name in HEADERS:
        if got.headers.get(name):
            return f"{node}/{name}/{got.headers[name]}"
    event = _at(body, _EVENTS[kind]) if kind in _EVENTS else None
    if isinstance(event, str) and event:
        return f"{node}/{kind}/{event}"
    digest = hashlib.sha256(got.body).hexdigest()
    return f"{node}/sha256/{digest}/{int(now.timestamp())}"


def _named(body: JsonValue, path: str) -> str:
    found = _at(body, path)
    if found is None or found == "":
        raise BadInput(
            f"The body has nothing at '{path}', by which this address knows deliveries.",
            remedy="Send it, and something else with each delivery.",
        )
    return found if isinstance(found, str) else canonical(found)


def _at(body: JsonValue, path: str) -> JsonValue:
    for name in path.split("."):
        if not isinstance(body, dict):
            return None
        body = body.get(name)
    return body
