"""What all models of requests and answers share.

Models of answers are built when first used: there are fifty, and a request needs one or two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Annotated, Generic, TypeVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic_core import PydanticCustomError

from stellwerk.kernel.json import TEXTUAL, JsonValue

T = TypeVar("T")
DEEPEST = 100
REFUSED = "refused"
"""The type of faults in what fits the document: they become a 422."""
_LARGEST = 10**300
_TIME = "must be between the years 2000 and 2200"
_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


class Shown(BaseModel):
    """Part of an answer."""

    model_config = ConfigDict(
        frozen=True, defer_build=True, json_schema_serialization_defaults_required=True
    )


class Asked(BaseModel):
    """Part of a request: nothing that the document does not name."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Body(Asked):
    """The body of a request: JSON that can be stored and written again."""

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value: object) -> object:
        fault = next(_traps(value), None)
        if fault is not None:
            raise PydanticCustomError(REFUSED, "{fault}", {"fault": fault})
        return value


def examples(of: type[BaseModel]) -> Iterator[tuple[str, JsonValue]]:
    """Yield the examples of all kinds of a model, by the names of these."""
    for kind in of.__subclasses__():
        extra = kind.model_config.get("json_schema_extra")
        if isinstance(extra, dict) and "example" in extra:
            yield kind.__name__, extra["example"]
        yield from examples(kind)


class PageOf(Shown, Generic[T]):
    """A page of a list."""

    items: list[T]
    cursor: str | None = Field(description="Where the next page begins; null at the end")


def _within_time(moment: datetime) -> datetime:
    if not _FIRST <= moment <= _LAST:
        raise PydanticCustomError(REFUSED, _TIME)
    return moment


def _within_days(day: date) -> date:
    if not _FIRST.date() <= day < _LAST.date():
        raise PydanticCustomError(REFUSED, _TIME)
    return day


Moment = Annotated[AwareDatetime, TEXTUAL, AfterValidator(_within_time)]
"""A moment with its time zone."""
Day = Annotated[date, AfterValidator(_within_days)]
"""A day of the calendar."""
Label = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*\S")]
"""A line of text that people read."""
Tags = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=40)], ...], Field(max_length=20)
]


def _traps(document: object) -> Iterator[str]:
    """Yield what Python's parser reads, and no store can keep or no reader take."""
    waiting: list[tuple[object, int]] = [(document, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > DEEPEST:
            yield f"is nested more than {DEEPEST} deep"
            return
        if isinstance(value, dict):
            waiting += [(part, depth + 1) for entry in value.items() for part in entry]
        elif isinstance(value, list):
            waiting += [(item, depth + 1) for item in value]
        elif isinstance(value, str) and not value.isascii() and _broken(value):
            yield "holds half of a character"
        elif isinstance(value, int | float) and not _finite(value):
            yield "holds a number that is not finite, or too large"


def _finite(number: int | float) -> bool:
    return abs(number) < _LARGEST if isinstance(number, int) else math.isfinite(number)


def _broken(text: str) -> bool:
    return any("\ud800" <= sign <= "\udfff" for sign in text)
