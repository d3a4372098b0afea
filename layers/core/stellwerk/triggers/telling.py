"""Events from outside, put on the bus by people and programs; and what tells of workflows."""

from __future__ import annotations

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import new_id
from stellwerk.kernel.json import JsonValue
from stellwerk.runs.rights import check_start
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.bus import OURS, WORKFLOW_CHANGED, Bus, BusEvent
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.model import Armed


class EventService:
    """Takes events for an instance."""

    def __init__(self, bus: Bus, audit: Audit, clock: Clock) -> None:
        self._bus = bus
        self._audit = audit
        self._clock = clock

    def publish(
        self, scope: Scope, source: str, type_: str, data: JsonValue, *, id_: str = ""
    ) -> BusEvent:
        """Put an event on the bus, for who may start runs; one with the same id is the same.

        Raises BadInput for our own source, and for more data than an event may have.
        """
        check_start(scope)
        if source == OURS or source.startswith(f"{OURS}."):
            raise BadInput(
                f"Events of source '{source}' are told by Stellwerk alone.",
                remedy="Name a source of your own, such as 'shop'.",
            )
        now = self._clock.now()
        event = BusEvent(
            # what someone sends under an id of ours would hide it
            id=f"{source}/{id_ or new_id(now)}",
            mandate=scope.mandate,
            instance=scope.instance,
            source=source,
            type=type_,
            time=now,
            data=data,
        )
        with self._audit.act(scope, "event.tell", f"event:{event.id}"):
            self._bus.publish(scope, event)
        return event


class ChangePart:
    """Tells that what a workflow does by itself has changed: published, paused, renamed."""

    def __init__(self, bus: Bus, clock: Clock) -> None:
        self._bus = bus
        self._clock = clock

    def synchronise(self, scope: Scope, armed: Armed) -> None:
        """Tell of the workflow as it stands; the same state is the same event."""
        workflow = armed.workflow
        event = BusEvent(
            id=f"{OURS}/{WORKFLOW_CHANGED}/{workflow.id}/{workflow.revision}",
            mandate=scope.mandate,
            instance=scope.instance,
            source=OURS,
            type=WORKFLOW_CHANGED,
            time=self._clock.now(),
            data={
                "workflow": workflow.id,
                "slug": workflow.slug,
                "title": workflow.title,
                "active": workflow.active,
                "published": workflow.published,
            },
            workflow=workflow.id,
        )
        self._bus.publish(scope, event)
