"""The edge of Lambdas that read the stream of a table: records become images, in order.

What could not be dealt with is named in the answer, and comes again with all that follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from stellwerk.aws.changes import Change
from stellwerk.bootstrap import Services, services
from stellwerk.handlers.session import LambdaContext
from stellwerk.handlers.system import Event, Occasion, read
from stellwerk.kernel.json import JsonObject, JsonValue


class _Image(Event):
    sequence: str = Field(alias="SequenceNumber")
    new: dict[str, dict[str, Any]] | None = Field(default=None, alias="NewImage")


class _Record(Event):
    dynamodb: _Image


class _Records(Event):
    records: tuple[_Record, ...] = Field(alias="Records")


Act = Callable[[Sequence[Change], Services, Occasion], Iterable[str]]
"""Deals with changes; returns the places in the stream of those that it could not deal with."""


@dataclass(frozen=True)
class StreamHandler:
    """A Lambda's entry point."""

    act: Act

    def __call__(self, event: JsonValue, context: LambdaContext) -> JsonObject:
        """Handle a batch of the stream."""
        return self.serve(event, context, services())

    def serve(self, event: JsonValue, context: LambdaContext, given: Services) -> JsonObject:
        """Handle a batch with the given services; raise BadInput for an odd event."""
        images = [record.dynamodb for record in read(_Records, event).records]
        changes = [Change(each.sequence, each.new) for each in images if each.new is not None]
        failed = self.act(changes, given, Occasion.of(context))
        return {"batchItemFailures": [{"itemIdentifier": each} for each in failed]}


def stream_event(act: Act) -> StreamHandler:
    """Make a function the entry point of a Lambda that reads a stream."""
    return StreamHandler(act)
