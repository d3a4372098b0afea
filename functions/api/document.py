"""The API's document (OpenAPI): what the framework derives, and what holds for every operation.

Which problems an operation can answer with follows from what it takes: a token, ids, a body, a
condition, an idempotency key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from api.models.base import Asked, Shown, examples
from api.problems import MEDIA_TYPE, Problem

Node: TypeAlias = dict[str, Any]
"""A piece of the document."""

TAGS = {
    "system": "The service itself",
    "me": "Whoever is signed in",
    "mandates": "Tenants",
    "members": "Who belongs to a mandate or an instance",
    "roles": "Roles and their rules",
    "access": "Why something is allowed or refused",
    "clients": "Machines that sign in with client credentials",
    "audit": "Who did what",
    "features": "What can be instantiated",
    "instances": "Features in use",
    "catalogue": "Node types and actions",
    "graphs": "Checks and forecasts of graphs that are not saved",
    "workflows": "Workflows, and sharing them",
    "drafts": "Versions that can still be changed",
    "versions": "Versions and their life",
    "runs": "Executions of workflows",
    "stats": "How runs are doing, and what people are told",
    "replays": "Replays of many failed runs",
    "tasks": "What waits for people",
    "files": "Files",
    "hooks": "Addresses of webhooks and forms",
    "schedules": "Runs started by the clock",
    "events": "What programs tell",
}
INTRODUCTION = """\
Everything of a tenant lies below `/mandates/{mandate}/instances/{instance}`. What you may not see
is not found.

- **Errors** are problem details (RFC 9457), with all faults at once and how to mend them. A 400
  does not fit this document; a 422 fits it and is refused for what it says.
- **Lists** are pages: `cursor` of one is the parameter of the next.
- **Edits** name what they change: the `ETag` that was read comes back in `If-Match` (428 without;
  412 with both versions if someone was faster; 409 if the state does not allow it).
- **Creations** can be sent twice: with an `Idempotency-Key` they happen once.
- **X-Request-Id** names a request, in and out, and in the audit.
"""
_MEANINGS = {
    400: "The request does not fit this document",
    401: "No token, or one that does not hold",
    403: "Your roles do not allow it",
    404: "There is no such thing, or not for you",
    409: "Its state does not allow it",
    412: "Someone has changed it meanwhile: both versions",
    413: "The body has too many bytes",
    422: "The request is refused for what it says",
    428: "The edit does not say which version it changes",
    429: "Too many requests within a minute",
    503: "Something behind the API does not answer",
}
_CHANGING = {"post", "put", "patch", "delete"}
_GENERIC = "Successful Response"
_DONE = {
    "200": "Done",
    "201": "Created",
    "202": "Taken; it is done soon",
    "204": "Done; there is nothing to show",
}
TAGGED = {
    *("Begun", "Draft", "Graph", "ImportReport", "SavedDraft", "Version", "Workflow"),
    *("Instance", "Mandate", "Me", "Member", "Role", "Rules", "User"),
    *("File", "NodeType", "NodeTypes"),
}
"""Schemas of what has an entity tag."""
SEEN: Node = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "The ETag of what you have already: it is not sent again",
    "schema": {"type": "string"},
}


def install(app: FastAPI) -> None:
    """Let the application serve its document, made when it is first asked for."""

    def openapi() -> Node:
        if app.openapi_schema is None:
            app.openapi_schema = document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def document(app: FastAPI) -> Node:
    """Return the document."""
    made = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=INTRODUCTION,
        routes=app.routes,
        tags=[{"name": name, "description": text} for name, text in TAGS.items()],
        separate_input_output_schemas=True,
    )
    schemas: Node = made["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= problem.pop("$defs")
    schemas["Problem"] = problem
    made["components"]["responses"] = {
        str(status): _refusal(status, text) for status, text in _MEANINGS.items()
    }
    for name, example in (*examples(Shown), *examples(Asked)):
        # the framework leaves out what is null
        if "example" in schemas.get(name, {}):
            schemas[name]["example"] = example
    for method, operation in _operations(made):
        _complete(method, operation)
    _name_maps(made)
    return made


def _name_maps(node: object) -> None:
    """Let maps refuse names that break their rule, in words that makers of clients know."""
    if isinstance(node, dict):
        patterns = node.pop("patternProperties", None)
        if patterns:
            [(pattern, node["additionalProperties"])] = patterns.items()
            node.setdefault("propertyNames", {})["pattern"] = pattern
        node = list(node.values())
    if isinstance(node, list):
        for part in node:
            _name_maps(part)


def _operations(made: Node) -> Iterator[tuple[str, Node]]:
    for path in made["paths"].values():
        yield from path.items()


def _complete(method: str, operation: Node) -> None:
    answers: Node = operation["responses"]
    if "HTTPValidationError" in str(answers.get("422")):
        del answers["422"]
    for status in _refusals(method, operation):
        name = str(status)
        answers.setdefault(name, {"$ref": f"#/components/responses/{name}"})
    for each in operation.get("parameters", ()):
        if each["in"] == "header":
            _present(each["schema"])
    tagged = any(_is_tagged(answer) for answer in answers.values())
    for answered, answer in answers.items():
        if answered[0] == "2":
            _describe(answered, answer, tagged=tagged)
    if tagged and method == "get":
        answers["304"] = {"description": "You have it already", "headers": _always()}
        operation.setdefault("parameters", []).append(SEEN)
    operation["responses"] = dict(sorted(answers.items()))


def _present(schema: Node) -> None:
    """Leave null out of what a header can be: it is there as a text, or not there."""
    for kind in schema.pop("anyOf", ()):
        if kind != {"type": "null"}:
            schema |= kind


def _refusals(method: str, operation: Node) -> Iterator[int]:
    """Yield the statuses with which the operation can refuse, by what it takes."""
    takes = {(each["in"], each["name"]) for each in operation.get("parameters", ())}
    if operation.get("security"):
        yield from (401, 403, 404, 429, 503)
    if "requestBody" in operation:
        yield from (400, 413, 422)
    if {place for place, _ in takes} & {"query", "header"}:
        yield from (400, 422)
    if ("header", "If-Match") in takes:
        yield from (412, 428)
    if method in _CHANGING:
        yield from (409, 422)


def _is_tagged(answer: Node) -> bool:
    """Return whether an answer shows something that has an entity tag."""
    contents = answer.get("content", {})
    names = {kind["schema"].get("$ref", "").rpartition("/")[2] for kind in contents.values()}
    return bool(names & TAGGED) or "*/*" in contents


def _describe(status: str, answer: Node, *, tagged: bool) -> None:
    """Say what an answer is, and which headers it has."""
    if answer["description"] == _GENERIC:
        answer["description"] = _DONE[status]
    headers = _always()
    if status == "201":
        headers["Location"] = _header("Where the new thing is found")
    if tagged and status != "204":
        headers["ETag"] = _header("Names this version of the thing")
    answer["headers"] = headers | answer.get("headers", {})


def _always() -> Node:
    return {"X-Request-Id": _header("Names the request, as in the audit")}


def _header(description: str) -> Node:
    return {"description": description, "schema": {"type": "string"}}


def _refusal(status: int, meaning: str) -> Node:
    headers = _always()
    if status in {429, 503}:
        headers["Retry-After"] = _header("Seconds to wait")
    if status == 401:
        headers["WWW-Authenticate"] = _header("Bearer")
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        "description": meaning,
        "headers": headers,
        "content": {MEDIA_TYPE: {"schema": schema}},
    }
