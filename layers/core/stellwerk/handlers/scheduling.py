"""The edge of the Lambdas that schedules call: an event becomes a model, then schedules act."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import AwareDatetime

from stellwerk.bootstrap import Services, services
from stellwerk.bootstrap.scheduling import ScheduleServices, schedule_services
from stellwerk.handlers.session import LambdaContext
from stellwerk.handlers.system import Event, Occasion, read
from stellwerk.kernel.ids import InstanceId, MandateId, NodeKey, WorkflowId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.tenancy.scope import Scope, of_platform


class ScheduleEvent(Event):
    """What a schedule hands over: whose it is, and `at`, the time for which it fires."""

    mandate: MandateId
    instance: InstanceId
    workflow: WorkflowId
    node: NodeKey
    at: AwareDatetime

    def scope(self, request: str) -> Scope:
        """Return the platform's scope at the workflow's instance."""
        return of_platform(self.mandate, request=request).at(self.instance)


class LookEvent(Event):
    """The event of a look for missed slots."""


E = TypeVar("E", bound=Event)


@dataclass(frozen=True)
class ScheduleHandler(Generic[E]):
    """A Lambda's entry point: `act` gets the event as `model`, the services, and the occasion."""

    model: type[E]
    act: Callable[[E, ScheduleServices, Occasion], JsonObject]

    def __call__(self, event: JsonValue, context: LambdaContext) -> JsonObject:
        """Handle an invocation by the Scheduler, or at a rate."""
        return self.serve(event, context, services())

    def serve(self, event: JsonValue, context: LambdaContext, running: Services) -> JsonObject:
        """Handle an invocation with the given services; raise BadInput for an odd event."""
        return self.act(read(self.model, event), schedule_services(running), Occasion.of(context))


def schedule_event(
    model: type[E],
) -> Callable[[Callable[[E, ScheduleServices, Occasion], JsonObject]], ScheduleHandler[E]]:
    """Make a function the entry point of a Lambda whose events are `model`."""
    return lambda act: ScheduleHandler(model, act)
