"""A pause."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import ConfigDict, Field, model_validator

from stellwerk.handlers.declare import Parameters
from stellwerk.handlers.moments import duration_of, moment_of
from stellwerk.handlers.waiting import delay
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import InvalidParameters


class Wait(Parameters):
    """Parameters: exactly one of `duration` and `until`."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["duration"]}, {"required": ["until"]}]}
    )

    duration: str | None = Field(
        default=None, description="How long (ISO 8601), up to 365 days", examples=["P2D", "PT30M"]
    )
    until: str | None = Field(
        default=None,
        description="Until which moment, with its time zone; one in the past does not wait",
        examples=["2026-12-24T18:00:00+01:00"],
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.duration is None) == (self.until is None):
            raise ValueError("exactly one of `duration` and `until` is needed")
        return self


@delay(title="Wait")
def handler(parameters: Wait, work: Work) -> datetime:
    """Wait for some time, or until a moment, at no cost. The value is the node's input."""
    now = work.execution.site.now
    if parameters.duration is not None:
        return now + duration_of(parameters.duration)
    text = parameters.until or ""
    if text.startswith("P"):
        raise InvalidParameters(
            f"Node {work.node}, parameter until: '{text}' is a duration.",
            remedy="Write it in `duration`.",
        )
    return moment_of(text, now)
