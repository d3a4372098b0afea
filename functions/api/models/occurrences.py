"""Events that programs send."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field

from api.models.base import Body, Shown
from stellwerk.kernel.json import JsonValue
from stellwerk.tenancy.bus import BusEvent

Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$")]


class NewEvent(Body):
    """What happened."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"source": "shop", "type": "order.placed", "data": {"amount": 120}}
        }
    )

    source: Word = Field(description="Where it happened, such as `shop`; not `stellwerk`")
    type: Word = Field(description="What happened, such as `order.placed`")
    data: JsonValue = Field(default=None, description="More of it, up to 200 KB")
    id: Word | None = Field(
        default=None, description="Names the event among those of its source: it counts once"
    )


class Event(Shown):
    """An event that was put on the bus."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": "shop/01kb2c3d4e5f6g7h8j9k0m1n2p",
                "source": "shop",
                "type": "order.placed",
                "time": "2026-12-01T08:15:00Z",
            }
        }
    )

    id: str
    source: str
    type: str
    time: datetime

    @classmethod
    def of(cls, event: BusEvent) -> Event:
        """Show an event, without its data."""
        return cls(id=event.id, source=event.source, type=event.type, time=event.time)
