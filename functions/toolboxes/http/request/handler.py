"""A request over HTTP."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stellwerk.catalogue.model import Effect
from stellwerk.handlers.action import action
from stellwerk.handlers.declare import Parameters, Result
from stellwerk.handlers.work import Work
from stellwerk.kernel.json import JsonValue
from toolboxes.http.request.client import Client
from toolboxes.http.request.replies import Expectation, content, error_of
from toolboxes.http.request.requests import BodyType, message_of, with_query

_HARMLESS: list[JsonValue] = ["GET", "HEAD", "OPTIONS"]
Scalar = str | int | float | bool


class Request(Parameters):
    """Parameters."""

    url: str = Field(
        min_length=1, description="Where to", examples=["https://api.example.com/orders"]
    )
    method: Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] = Field(
        default="GET", description="The method", examples=["POST"]
    )
    headers: dict[str, str] = Field(
        default_factory=dict, description="Headers", examples=[{"accept": "application/json"}]
    )
    secret_headers: dict[str, str] = Field(
        default_factory=dict,
        description="Headers whose values nobody sees afterwards",
        examples=[{"x-api-key": "{{ $vars.key }}"}],
        json_schema_extra={"x-secret": True},
    )
    query: dict[str, Scalar | list[Scalar] | None] = Field(
        default_factory=dict,
        description="Fields of the query; null leaves one out, a list repeats it",
        examples=[{"page": 2, "tag": ["a", "b"]}],
    )
    body: JsonValue = Field(
        default=None, description="The body; null sends none", examples=[{"amount": 1250}]
    )
    body_type: BodyType = Field(
        default="json",
        description="How the body is sent: JSON, text, or an object as the fields of a form",
        examples=["form"],
    )
    timeout: float = Field(
        default=20, gt=0, le=800, description="Seconds for all of it", examples=[5]
    )
    expect: Expectation = Field(
        default="auto",
        description="How the reply's body is read; `bytes` gives base 64, `auto` goes by its type",
        examples=["json"],
    )
    follow_redirects: bool = Field(
        default=True, description="Whether redirects are followed, five at most", examples=[False]
    )
    max_bytes: int = Field(
        default=6 * 1024 * 1024,
        ge=1,
        le=50 * 1024 * 1024,
        description="A larger reply is an error, and is not read",
        examples=[1_000_000],
    )
    fail_on_status: bool = Field(
        default=True, description="Whether a status from 400 is an error", examples=[False]
    )
    idempotency_header: str | None = Field(
        default=None,
        description="A header in which the service takes a key that makes a repetition harmless",
        examples=["Idempotency-Key"],
    )


class Response(Result):
    """The reply."""

    status: int = Field(description="The status", examples=[200])
    headers: dict[str, str] = Field(
        description="The headers, names in lower case",
        examples=[{"content-type": "application/json"}],
    )
    body: JsonValue = Field(description="The body", examples=[{"id": 4711}])
    url: str = Field(
        description="Where it came from, after redirects",
        examples=["https://api.example.com/orders"],
    )


@action(
    title="HTTP request",
    effect=Effect.WRITE,
    timeout=60,
    repeatable_when={"method": [*_HARMLESS, None]},
)
def handler(parameters: Request, work: Work) -> Response:
    """Call a service over HTTP. Addresses inside private networks are refused."""
    key = work.idempotency_key if parameters.idempotency_header else ""
    headers = {**parameters.headers, **parameters.secret_headers}
    if parameters.idempotency_header:
        headers[parameters.idempotency_header] = key
    message = message_of(parameters.method, headers, parameters.body, parameters.body_type)
    repeatable = parameters.method in _HARMLESS or bool(key)
    client = Client(
        deadline=work.deadline.no_later_than(parameters.timeout),
        allowed=work.bench.http_allow,
        most=parameters.max_bytes,
        redirects=5 if parameters.follow_redirects else 0,
        repeatable=repeatable,
    )
    url = with_query(parameters.url, parameters.query)
    target, reply = client.send(url, message)
    if reply.status >= 400 and parameters.fail_on_status:
        raise error_of(reply, target.shown, repeatable=repeatable)
    body = content(reply, parameters.expect)
    return Response(status=reply.status, headers={**reply.headers}, body=body, url=target.url)
