"""Who stands in for whom."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field

from api.models.base import Body, Moment, Shown
from stellwerk.tenancy import deputies


class Deputy(Shown):
    """That someone decides for a time what waits for somebody else, in one mandate."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "user": "u-demo",
                "deputy": "u-demo-user",
                "since": "2026-12-21T00:00:00Z",
                "until": "2027-01-04T00:00:00Z",
            }
        }
    )

    user: str = Field(description="Who is away")
    deputy: str = Field(description="Who sees and may decide that person's tasks")
    since: datetime
    until: datetime = Field(description="Before this moment")

    @classmethod
    def of(cls, deputy: deputies.Deputy) -> Deputy:
        """Show who stands in."""
        return cls(user=deputy.user, deputy=deputy.deputy, since=deputy.since, until=deputy.until)


class Deputies(Shown):
    """Whom you have named, and for whom you were named."""

    items: list[Deputy] = Field(description="Those you have named first; what is over is left out")


class NewDeputy(Body):
    """A deputy to name."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "deputy": "u-demo-user",
                "since": "2026-12-21T00:00:00Z",
                "until": "2027-01-04T00:00:00Z",
            }
        }
    )

    deputy: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")] = Field(
        description="Id of a member of the mandate"
    )
    since: Moment | None = Field(default=None, description="From when; now if left out")
    until: Moment = Field(description="Until before when: within a year")
