"""A run started by the clock."""

from __future__ import annotations

from datetime import datetime
from typing import Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError
from pydantic import ConfigDict, Field, field_validator, model_validator

from stellwerk.catalogue.model import Kind
from stellwerk.handlers.declare import Parameters, Result
from stellwerk.handlers.moments import duration_of
from stellwerk.handlers.schemas import check_payload
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.clock import instant
from stellwerk.kernel.errors import InvalidParameters
from stellwerk.kernel.json import JsonObject, JsonValue

_SHORTEST = 60


class Schedule(Parameters):
    """Parameters: exactly one of `cron`, `interval` and `at`."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": ["cron"]}, {"required": ["interval"]}, {"required": ["at"]}]
        }
    )

    cron: str | None = Field(
        default=None,
        description="Minute, hour, day of the month, month and weekday",
        examples=["30 7 * * MON-FRI"],
    )
    interval: str | None = Field(
        default=None,
        description="The time between two runs (ISO 8601), at least a minute",
        examples=["PT15M"],
    )
    at: str | None = Field(
        default=None,
        description="One moment, as the clock on the wall of `zone` shows it",
        examples=["2026-12-24T18:00:00"],
    )
    zone: str = Field(
        default="Europe/Zurich",
        description="The IANA time zone in which `cron` and `at` are read",
        examples=["Europe/Zurich"],
    )
    schema_: JsonObject | None = Field(
        default=None,
        alias="schema",
        description="JSON Schema of the payload that the schedule hands over",
        examples=[{"type": "object"}],
    )

    @field_validator("cron")
    @classmethod
    def _cron(cls, text: str | None) -> str | None:
        if text is not None:
            if len(text.split()) != 5:
                raise ValueError(f"'{text}' must have five fields, such as 30 7 * * MON-FRI")
            try:
                CronSim(text, datetime(2026, 1, 1))
            except CronSimError as error:
                raise ValueError(f"'{text}' is no cron expression: {error}") from None
        return text

    @field_validator("interval")
    @classmethod
    def _interval(cls, text: str | None) -> str | None:
        if text is not None:
            try:
                seconds = duration_of(text).total_seconds()
            except InvalidParameters as error:
                raise ValueError(f"{error.message} {error.remedy}") from None
            if seconds < _SHORTEST:
                raise ValueError(f"'{text}' is shorter than a minute")
        return text

    @field_validator("at")
    @classmethod
    def _at(cls, text: str | None) -> str | None:
        if text is not None and datetime.fromisoformat(text).tzinfo is not None:
            raise ValueError(f"'{text}' must not have an offset: `zone` says how it is read")
        return text

    @field_validator("zone")
    @classmethod
    def _zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(f"'{name}' is no time zone, such as Europe/Zurich") from None
        return name

    @model_validator(mode="after")
    def _one(self) -> Self:
        named = [way for way in (self.cron, self.interval, self.at) if way is not None]
        if len(named) != 1:
            raise ValueError("exactly one of `cron`, `interval` and `at` is needed")
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
        tick = Tick(at=planned, payload=given.get("payload"))
    else:
        started = instant(datetime.fromisoformat(work.run.started))
        tick = Tick(at=started, payload=given)
    check_payload(tick.payload, parameters.schema_)
    return tick
