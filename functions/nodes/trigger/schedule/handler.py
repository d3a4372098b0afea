"""A run started by the clock."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import ConfigDict, Field, model_validator

from stellwerk.catalogue.model import Kind
from stellwerk.handlers.declare import Parameters, Result
from stellwerk.handlers.schemas import check_payload
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.clock import instant
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.triggers.schedules.timing import (
    CAP,
    MOST,
    ZONE,
    BadSchedule,
    CatchUp,
    Nonexistent,
    Overlap,
    read_schedule,
)


class Schedule(Parameters):
    """Parameters: exactly one of `cron`, `interval` and `at`."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": ["cron"]}, {"required": ["interval"]}, {"required": ["at"]}]
        }
    )

    cron: str | None = Field(
        default=None,
        description="Minute, hour, day of the month, month and weekday; or before them second 0",
        examples=["30 7 * * MON-FRI"],
    )
    interval: str | None = Field(
        default=None,
        description="The time between two runs, in whole minutes: ISO 8601 or in words",
        examples=["PT15M", "every 15 minutes"],
    )
    at: str | None = Field(
        default=None,
        description="One moment, as the clock on the wall of `zone` shows it",
        examples=["2026-12-24T18:00:00"],
    )
    zone: str = Field(
        default=ZONE,
        description="The IANA time zone in which `cron` and `at` are read",
        examples=["Europe/Zurich"],
    )
    nonexistent: Nonexistent = Field(
        default="run_after",
        description="What becomes of a time that the clocks leave out when they are put forward",
        examples=["skip"],
    )
    catch_up: CatchUp = Field(
        default="none",
        description="Which times are made good that were missed, as after an outage",
        examples=["last"],
    )
    catch_up_cap: int = Field(
        default=CAP, ge=1, le=MOST, description="How many at most, the latest ones", examples=[5]
    )
    catch_up_spacing: str = Field(
        default="PT1M",
        description="At least how long after one another they start",
        examples=["PT10M"],
    )
    overlap: Overlap = Field(
        default="allow",
        description="What happens while the run before has not ended",
        examples=["skip"],
    )
    payload: JsonValue = Field(
        default=None,
        description="What the schedule hands over to each run",
        examples=[{"report": "stock"}],
    )
    schema_: JsonObject | None = Field(
        default=None,
        alias="schema",
        description="JSON Schema of the payload that the schedule hands over",
        examples=[{"type": "object"}],
    )

    @model_validator(mode="after")
    def _readable(self) -> Self:
        try:
            read_schedule(self.model_dump(exclude_none=True))
        except BadSchedule as error:
            raise ValueError(f"{error.message} {error.remedy}".strip()) from None
        return self


class Tick(Result):
    """When the run was due, and what the schedule has handed over."""

    at: str = Field(
        description="The moment for which the run was planned, in UTC",
        examples=["2026-12-01T06:30:00.000Z"],
    )
    payload: JsonValue = Field(
        default=None, description="What was handed over", examples=[{"report": "stock"}]
    )


@step(title="Schedule", kind=Kind.TRIGGER)
def handler(parameters: Schedule, work: Work) -> Tick:
    """Start at fixed times: by cron expression, at an interval, or once."""
    given = work.input
    planned = given.get("at") if isinstance(given, dict) else None
    if isinstance(given, dict) and isinstance(planned, str) and given.keys() <= {"at", "payload"}:
        tick = Tick(at=planned, payload=given.get("payload", parameters.payload))
    else:
        started = instant(datetime.fromisoformat(work.run.started))
        tick = Tick(at=started, payload=given)
    check_payload(tick.payload, parameters.schema_)
    return tick
