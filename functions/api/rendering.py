"""Results become answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import BaseModel
from starlette.responses import Response

from stellwerk.kernel.json import JsonObject
from stellwerk.workflows.values import exact_json

JSON = "application/json"


@dataclass(frozen=True)
class Created:
    """What a request has created, and where it is found from now on."""

    view: BaseModel
    location: str
    tag: str | None = None
    hidden: tuple[str, ...] = field(default=())
    """Fields that are shown this once, and not when the request is repeated."""

    @property
    def headers(self) -> dict[str, str]:
        """The headers that belong to it."""
        return {"Location": self.location} | ({"ETag": self.tag} if self.tag else {})


def shown(view: BaseModel, *, status: int = 200, tag: str | None = None) -> Response:
    """Return the answer that shows `view`."""
    headers = {"ETag": tag} if tag else {}
    return Response(text_of(view), status, headers, JSON)


def text_of(view: BaseModel, *, without: tuple[str, ...] = ()) -> str:
    """Return the JSON of `view`; half of a character, legal in JSON, stays an escape."""
    plain: JsonObject = view.model_dump(mode="json", by_alias=True)
    return exact_json(plain | dict.fromkeys(without))
