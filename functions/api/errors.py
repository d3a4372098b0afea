"""Errors become answers, here and nowhere else."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import compile_path

from api.backend import services
from api.conditions import Outdated, PreconditionMissing
from api.models.base import REFUSED
from api.problems import problem
from stellwerk.files.service import TooLarge
from stellwerk.kernel.errors import (
    BadInput,
    Conflict,
    ConnectionRejected,
    Forbidden,
    NotFound,
    PermanentError,
    StellwerkError,
    TransientError,
    Unauthenticated,
)
from stellwerk.kernel.json import JsonObject
from stellwerk.requests.limits import TooManyRequests
from stellwerk.requests.repeats import KeyOfAnother, UnderWay
from stellwerk.runs.forms import FormRefused
from stellwerk.runs.limits import ConcurrencyReached
from stellwerk.tenancy.refusals import note
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.faults import InvalidGraph

LOG = logging.getLogger(__name__)
_TOKENS = re.compile(r"^(/(?:hooks|forms)/).*", re.DOTALL)
PAUSE = 2
"""Seconds after which something that is unavailable may be asked again."""

_KINDS: tuple[tuple[type[StellwerkError], str, int], ...] = (
    (Unauthenticated, "unauthenticated", 401),
    (Forbidden, "forbidden", 403),
    (ConnectionRejected, "connection-rejected", 403),
    (NotFound, "not-found", 404),
    (Outdated, "changed-meanwhile", 412),
    (PreconditionMissing, "precondition-missing", 428),
    (UnderWay, "request-under-way", 409),
    (ConcurrencyReached, "concurrency-reached", 409),
    (Conflict, "conflict", 409),
    (TooLarge, "too-large", 413),
    (KeyOfAnother, "idempotency-key-used", 422),
    (InvalidGraph, "invalid-graph", 422),
    (FormRefused, "form-refused", 422),
    (BadInput, "refused-input", 422),
    (TooManyRequests, "too-many-requests", 429),
    (TransientError, "unavailable", 503),
    (PermanentError, "impossible", 422),
)
"""The first that an error is an instance of says what it becomes."""


def install(app: FastAPI) -> None:
    """Let the application answer with problems."""
    app.add_exception_handler(StellwerkError, _ours)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http)


def unexpected(scope: Mapping[str, Any], error: Exception) -> Response:
    """Return the answer where something is wrong with us; the log has the rest."""
    LOG.error("%s %s failed", scope.get("method"), _written(scope.get("path")), exc_info=error)
    return problem(
        "internal",
        500,
        "Something went wrong that is not your fault. It has been noted.",
        request=scope,
        remedy="Try again later; name the request id to your administrator if it stays.",
    )


def _written(path: object) -> str:
    """Return a path as logs may have it: the token in the address of a trigger is a secret."""
    return _TOKENS.sub(r"\1…", str(path))


def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, StellwerkError)
    _note(request, error)
    kind, status = next(
        (kind, status) for known, kind, status in _KINDS if isinstance(error, known)
    )
    return problem(
        kind,
        status,
        error.message,
        request=request.scope,
        remedy=error.remedy,
        faults=_faults(error),
        more={"versions": error.versions} if isinstance(error, Outdated) else None,
        headers=_headers(error, status),
    )


def _note(request: Request, error: StellwerkError) -> None:
    """Write a refusal by access rules into the audit, if the service that refused has not."""
    scope: Scope | None = getattr(request.state, "scope", None)
    if scope is not None:
        audit = services(request).running.press.audit
        note(audit, scope, f"api.{request.scope['route'].name}", request.url.path, error=error)


def _headers(error: StellwerkError, status: int) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, Outdated):
        return {"ETag": error.current}
    if isinstance(error, TooManyRequests):
        return {"Retry-After": str(error.retry_after)}
    if isinstance(error, TransientError):
        return {"Retry-After": str(int(error.retry_after or PAUSE))}
    return {}


def _faults(error: StellwerkError) -> Sequence[JsonObject]:
    if isinstance(error, InvalidGraph):
        return [fault.as_json() for fault in error.faults]
    if isinstance(error, FormRefused):
        return [{"place": fault.field, "message": fault.message} for fault in error.faults]
    return ()


def _malformed(request: Request, error: Exception) -> Response:
    """Answer a request that does not fit the document; an id that cannot be one is not found."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if all(fault["loc"][0] == "path" for fault in found):
        return problem(
            "not-found",
            404,
            "There is no such thing, or not for you.",
            request=request.scope,
            remedy="Correct the ids in the path.",
        )
    missing = [fault for fault in found if _is_missing_condition(fault)]
    if missing and len(missing) == len(found):
        return _ours(request, PreconditionMissing())
    if any(_is_unread_body(fault) for fault in found) and not _says_json(request):
        return _not_json(request)
    faults: list[JsonObject] = [
        {"place": _place(fault["loc"]), "message": str(fault["msg"])} for fault in found
    ]
    named = "; ".join(f"{fault['place']}: {fault['message']}" for fault in faults[:3])
    if all(fault["type"] == REFUSED for fault in found):
        return problem(
            "refused-input",
            422,
            f"The request is refused: {named}.",
            request=request.scope,
            remedy="Correct these places.",
            faults=faults,
        )
    return problem(
        "malformed",
        400,
        f"The request does not fit the API's document: {named}.",
        request=request.scope,
        remedy="Correct these places; /api/v1/openapi.json says what each may hold.",
        faults=faults,
    )


def _is_missing_condition(fault: Mapping[str, Any]) -> bool:
    return fault["type"] == "missing" and tuple(fault["loc"]) == ("header", "If-Match")


def _says_json(request: Request) -> bool:
    return "json" in request.headers.get("content-type", "")


def _not_json(request: Request) -> Response:
    kind = request.headers.get("content-type", "")
    return problem(
        "malformed",
        400,
        f"The body is sent as '{kind}', and is no JSON then.",
        request=request.scope,
        remedy="Send JSON with the header 'Content-Type: application/json'.",
    )


def _is_unread_body(fault: Mapping[str, Any]) -> bool:
    """Return whether a body, of which only its bytes are known, was taken for an object."""
    return fault["type"] != "missing" and tuple(fault["loc"]) == ("body",)


def _place(location: Sequence[str | int]) -> str:
    place = ""
    for word in location:
        if isinstance(word, int):
            place = f"{place}[{word}]"
        else:
            place = f"{place}.{word}" if place else word
    return place


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kinds = {
        400: ("malformed", "The body cannot be read.", "Send JSON."),
        404: ("not-found", "Nothing is found at this path.", "See /api/v1/openapi.json."),
        405: ("method-not-allowed", "This path knows no such method.", "See the header Allow."),
        413: ("too-large", "The body has too many bytes.", "Make it smaller."),
    }
    unknown = ("malformed", str(error.detail), "")
    kind, detail, remedy = kinds.get(error.status_code, unknown)
    headers = {**(error.headers or {})}
    if error.status_code == 405:
        headers["Allow"] = ", ".join(sorted(_allowed(request)))
    return problem(
        kind, error.status_code, detail, request=request.scope, remedy=remedy, headers=headers
    )


def _allowed(request: Request) -> set[str]:
    """Return the methods that the request's path knows: the framework names those of one route."""
    app: FastAPI = request.app
    known: dict[str, set[str]] = {}
    for context in iter_route_contexts(app.routes):
        if context.path and compile_path(context.path)[0].match(request.url.path):
            known.setdefault(context.path, set()).update(context.methods or ())
    # a word, as in workflows/import, is no id
    return known[min(known, key=lambda path: path.count("{"))]
