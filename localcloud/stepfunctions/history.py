"""An execution's history, at most 25,000 events long."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

from moto.stepfunctions.parser.api import HistoryEventType, Timestamp
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
            if len(self._history_event_list) >= self._limit - 1 and event_type not in _LAST:
                raise HistoryFull
            return super().add_event(context, event_type, event_details, at, update_source_event_id)
