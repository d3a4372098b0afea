"""Events: what programs tell, so that what waits for it starts."""

from __future__ import annotations

from starlette.responses import Response

from api.backend import Here
from api.caller import InInstance
from api.models.occurrences import Event, NewEvent
from api.operations import operations
from api.rendering import shown

router = operations(tags=["events"])


@router.post("/events", response_model=Event, status_code=202)
def send_event(scope: InInstance, here: Here, body: NewEvent) -> Response:
    """Put an event on the bus. What waits for it starts soon, and once for each `id`."""
    event = here.events.publish(scope, body.source, body.type, body.data, id_=body.id or "")
    return shown(Event.of(event), status=202)
