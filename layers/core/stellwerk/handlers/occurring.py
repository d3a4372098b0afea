"""The edge of the Lambdas that EventBridge calls with events: one becomes a model, then it acts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import Field

from stellwerk.bootstrap import Services, services
from stellwerk.bootstrap.occurring import matching
from stellwerk.handlers.session import LambdaContext
from stellwerk.handlers.system import Event, Occasion, read
from stellwerk.kernel.ids import InstanceId, MandateId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.tenancy.bus import BusEvent
from stellwerk.tenancy.scope import Scope, of_platform
from stellwerk.triggers.matching import Matching, StoredObject

_KEY = re.compile(r"(m-[^/]+)/([^/]+)/files/(.+)", re.DOTALL)


class TellingEvent(Event):
    """An event of our bus, as EventBridge hands it over."""

    detail: BusEvent


class _Bucket(Event):
    name: str


class _Object(Event):
    key: str
    size: int = 0
    version: str = Field(default="", alias="version-id")


class _Detail(Event):
    bucket: _Bucket
    object: _Object


class StoringEvent(Event):
    """S3's `Object Created`, as EventBridge hands it over."""

    detail: _Detail

    def place(self, request: str) -> tuple[Scope, StoredObject] | None:
        """Return what was stored and whose it is; None for what is no file of an instance."""
        stored = self.detail.object
        found = _KEY.fullmatch(stored.key)
        if found is None:
            return None
        scope = of_platform(MandateId(found[1]), request=request).at(InstanceId(found[2]))
        bucket = self.detail.bucket.name
        return scope, StoredObject(bucket, stored.key, stored.version, found[3], stored.size)


E = TypeVar("E", bound=Event)


@dataclass(frozen=True)
class OccurrenceHandler(Generic[E]):
    """A Lambda's entry point: `act` gets the event as `model`, what matches, and the occasion."""

    model: type[E]
    act: Callable[[E, Matching, Occasion], JsonObject]

    def __call__(self, event: JsonValue, context: LambdaContext) -> JsonObject:
        """Handle an invocation by EventBridge."""
        return self.serve(event, context, services())

    def serve(self, event: JsonValue, context: LambdaContext, running: Services) -> JsonObject:
        """Handle an invocation with the given services; raise BadInput for an odd event."""
        return self.act(read(self.model, event), matching(running), Occasion.of(context))


def occurrence(
    model: type[E],
) -> Callable[[Callable[[E, Matching, Occasion], JsonObject]], OccurrenceHandler[E]]:
    """Make a function the entry point of a Lambda whose events are `model`."""
    return lambda act: OccurrenceHandler(model, act)
