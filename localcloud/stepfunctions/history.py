"""An execution's history, at most 25,000 events long."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import cast

from moto.stepfunctions.parser.api import HistoryEvent, HistoryEventType, Timestamp
from moto.stepfunctions.parser.asl.eval.event.event_detail import EventDetails
from moto.stepfunctions.parser.asl.eval.event.event_manager import (
    EventHistoryContext,
    EventManager,
)
from moto.stepfunctions.parser.asl.eval.event.logging import CloudWatchLoggingSession

EVENTS = 25_000
"""How many events one execution may have, the one that ends it included."""

_LAST = {
    HistoryEventType.ExecutionAborted,
    HistoryEventType.ExecutionFailed,
    HistoryEventType.ExecutionSucceeded,
    HistoryEventType.ExecutionTimedOut,
}


class HistoryFull(Exception):
    """The execution has as many events as AWS keeps; it fails, and no Catch helps."""

    def __init__(self) -> None:
        super().__init__(f"The execution reached the maximum number of history events ({EVENTS}).")


class LimitedHistory(EventManager):
    """Refuses the event that would be one too many, keeping a place for the one that ends it."""

    def __init__(
        self,
        cloud_watch_logging_session: CloudWatchLoggingSession | None = None,
        *,
        limit: int = EVENTS,
    ) -> None:
        super().__init__(cloud_watch_logging_session)
        self._limit = limit
        self._adding = threading.Lock()

    def add_event(
        self,
        context: EventHistoryContext,
        event_type: HistoryEventType,
        event_details: EventDetails | None = None,
        timestamp: Timestamp | None = None,
        update_source_event_id: bool = True,
    ) -> int:
        """Record an event; raises HistoryFull at the limit."""
        at = timestamp or datetime.now(UTC)
        with self._adding:  # branches add at the same time
            number = len(self._history_event_list) + 1
            if number >= self._limit and event_type not in _LAST:
                raise HistoryFull
            event = {
                **(event_details or {}),
                "id": number,
                "previousEventId": context.source_event_id,
                "type": event_type,
                "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            }
            self._history_event_list.append(cast("HistoryEvent", event))
            context.last_published_event_id = number
            if update_source_event_id:
                context.source_event_id = number
            return number
