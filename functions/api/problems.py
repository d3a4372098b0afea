"""Problem details (RFC 9457): what an answer that refuses looks like."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from stellwerk.kernel.json import JsonObject, JsonValue

MEDIA_TYPE = "application/problem+json"
TYPES = "urn:stellwerk:problem:"


class ProblemFault(BaseModel):
    """One of the things that are wrong."""

    model_config = ConfigDict(extra="allow")

    message: str
    remedy: str | None = None
    place: str | None = Field(default=None, description="Where: `body.nodes[3].key`")
    code: str | None = Field(default=None, description="Of faults in graphs: see docs/faults.md")
    severity: str | None = None
    node: str | None = None
    parameter: str | None = None


class ProblemVersions(BaseModel):
    """Both versions of a thing that was changed by someone else meanwhile."""

    yours: str = Field(description="The entity tags that your request named in If-Match")
    current: str = Field(description="The entity tag of the thing as it is now")
    resource: JsonValue = Field(default=None, description="The thing as it is now")


class Problem(BaseModel):
    """Why a request was refused, and how to mend it."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "type": f"{TYPES}not-found",
                "title": "Not Found",
                "status": 404,
                "detail": "there is no workflow 01kb2c3d4e5f6g7h8j9k0m1n2p",
                "instance": "/api/v1/mandates/m-demo/instances/i-demo/workflows/01kb2c3d",
                "remedy": "Look at the list of workflows.",
                "request_id": "01kb2c3d4e5f6g7h8j9k0m1n2q",
                "faults": [],
            }
        }
    )

    type: str = Field(description="Names the kind of problem")
    title: str
    status: int = Field(ge=400, le=599)
    detail: str = Field(description="What is wrong, and where")
    instance: str = Field(description="The path of the request")
    remedy: str = Field(default="", description="How to mend it")
    request_id: str
    faults: list[ProblemFault] = Field(default=[], description="All that is wrong, where many are")
    versions: ProblemVersions | None = Field(default=None, description="With status 412 only")


def problem(
    kind: str,
    status: int,
    detail: str,
    *,
    request: Mapping[str, object],
    remedy: str = "",
    faults: Sequence[JsonObject] = (),
    more: JsonObject | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the answer to a refused request; `request` is its ASGI scope."""
    state = request.get("state")
    request_id = state.get("request_id", "") if isinstance(state, dict) else ""
    body: JsonObject = {
        "type": f"{TYPES}{kind}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "instance": str(request.get("path", "")),
        "remedy": remedy,
        "request_id": request_id,
        "faults": [*faults],
        **(more or {}),
    }
    # plain ASCII: a text that quotes what came in may hold half of a character
    return Response(json.dumps(body), status, dict(headers or {}), MEDIA_TYPE)
