"""The bus of the deployment on EventBridge."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from stellwerk.aws.errors import translated
from stellwerk.kernel.errors import BadInput, ServiceUnavailable
from stellwerk.tenancy.bus import BusEvent
from stellwerk.tenancy.scope import Scope

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

SOURCE, DETAIL_TYPE = "stellwerk", "event"
"""What EventBridge knows all our events by; who and what is in their detail."""
LARGEST = 200 * 1024
"""Bytes of an event: EventBridge takes 256 KB with all around it."""


class EventBridgeBus:
    """Puts events on the bus; which instance they are of says the scope. Requests: 1."""

    def __init__(self, client: Callable[[], EventBridgeClient], bus: str) -> None:
        self._client = client
        self._bus = bus

    def publish(self, scope: Scope, event: BusEvent) -> None:
        """Put an event on the bus."""
        place = {"mandate": scope.mandate, "instance": scope.instance}
        detail = event.model_copy(update=place).model_dump_json()
        if len(detail.encode()) > LARGEST:
            raise BadInput(
                f"An event may have {LARGEST} bytes.",
                remedy="Upload what is large as a file, and send its id.",
            )
        with translated():
            answer = self._client().put_events(
                Entries=[
                    {
                        "EventBusName": self._bus,
                        "Source": SOURCE,
                        "DetailType": DETAIL_TYPE,
                        "Detail": detail,
                    }
                ]
            )
        if answer["FailedEntryCount"]:
            reason = answer["Entries"][0].get("ErrorMessage", "")
            raise ServiceUnavailable(f"the bus did not take the event: {reason}")
