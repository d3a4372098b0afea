"""A run started by a web request."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stellwerk.catalogue.model import Kind
from stellwerk.handlers.declare import Parameters, Result
from stellwerk.handlers.schemas import check_payload
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.triggers.proofs import Authentication


class Webhook(Parameters):
    """Parameters."""

    mode: Literal["accepted", "wait"] = Field(
        default="accepted",
        description="accepted: callers get the run's id at once; wait: its result, or after 25 "
        "seconds its id",
        examples=["accepted"],
    )
    authentication: Authentication = Field(
        default_factory=Authentication,
        description="How callers prove who they are",
        examples=[{"kind": "github"}],
    )
    delivery: str = Field(
        default="",
        max_length=200,
        description="Where in the body a delivery is named, so that a repeat starts nothing; "
        "empty: in the usual headers",
        examples=["order.id"],
    )
    schema_: JsonObject | None = Field(
        default=None,
        alias="schema",
        description="JSON Schema of the request's body",
        examples=[{"type": "object", "required": ["text"]}],
    )


class Request(Result):
    """The request. Started by hand with anything else, that is the body."""

    body: JsonValue = Field(
        default=None, description="The body, read as JSON", examples=[{"text": "Invoice 4711"}]
    )
    method: str = Field(default="POST", description="The method", examples=["POST"])
    headers: dict[str, str] = Field(
        default_factory=dict,
        description="The headers, names in lower case",
        examples=[{"content-type": "application/json"}],
    )
    query: dict[str, str] = Field(
        default_factory=dict, description="The query's fields", examples=[{"source": "mail"}]
    )


@step(title="Web request", kind=Kind.TRIGGER)
def handler(parameters: Webhook, work: Work) -> Request:
    """Start when somebody calls the workflow's web address."""
    given = work.input
    whole = isinstance(given, dict) and "body" in given and given.keys() <= _fields()
    request = Request.model_validate(given if whole else {"body": given})
    check_payload(request.body, parameters.schema_)
    return request


def _fields() -> set[str]:
    return set(Request.model_fields)
