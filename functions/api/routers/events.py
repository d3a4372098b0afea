"""The events of a run, as they happen: Server-Sent Events, or a long poll of the same."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Query
from starlette.responses import Response

from api.backend import Here, Watched
from api.caller import InInstance
from api.operations import operations
from api.routers.runs import RunInPath
from api.streaming import MEDIA_TYPE, polled, streamed

router = operations(tags=["runs"])
_EVENT: dict[str, object] = {
    "type": "object",
    "description": "One event of the stream, by the fields of its lines; `data` is JSON",
    "properties": {field: {"type": "string"} for field in ("id", "event", "data")},
    "example": {
        "id": "3",
        "event": "node.succeeded",
        "data": '{"seq":3,"kind":"node.succeeded","at":"2026-12-01T08:15:01Z","step":"check"}',
    },
}
Behind = Annotated[
    int | None, Query(ge=0, le=999_999_999_999, description="Only events behind this number")
]
Seen = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        pattern=r"^[0-9]{1,12}$",
        description="The same, as browsers say it who connect again; it counts before `after`",
    ),
]


@router.get(
    "/runs/{run}/events",
    response_class=Response,
    responses={
        200: {
            "description": "Events in order, each with its number as `id`; the last one has a kind "
            "that ends the run",
            "content": {MEDIA_TYPE: {"schema": _EVENT}},
        },
        204: {"description": "The run is over and you have all of its events: do not ask again"},
    },
)
def watch_run(
    scope: InInstance,
    here: Here,
    watched: Watched,
    run: RunInPath,
    after: Behind = None,
    last_event_id: Seen = None,
) -> Response:
    """Tell what happens in a run, from any event on.

    A connection may end at any time: connect again with the last number that you have, until the
    event that ends the run. Behind a gateway that does not stream, an answer has the events there
    are, or none after 20 s. Closing it changes nothing.
    """
    events = here.happenings
    behind = int(last_event_id) if last_event_id else after or 0
    if events.told(scope, run, behind):
        return Response(status_code=204)
    if watched.streams:
        return streamed(events, scope, run, behind)
    return polled(events, scope, run, behind, seconds=watched.seconds)
