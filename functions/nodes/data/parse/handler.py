"""Data from text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Literal, NoReturn
from xml.parsers.expat import ExpatError

import xmltodict
from pydantic import ConfigDict, Field, RootModel

from stellwerk.handlers.declare import Parameters
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.json import JsonValue

_DELIMITERS = ",;\t|"
_SAMPLE = 64 * 1024


class Parse(Parameters):
    """Parameters."""

    text: str = Field(description="The text", examples=["{{ $nodes.mail.body }}"])
    format: Literal["json", "csv", "xml"] = Field(description="What it is", examples=["csv"])
    delimiter: Literal["auto", ",", ";", "\t", "|"] = Field(
        default="auto", description="What separates the columns of CSV", examples=[";"]
    )
    header: bool = Field(
        default=True,
        description="Whether the first line of CSV names the columns: rows are objects then",
        examples=[True],
    )


class Parsed(RootModel[JsonValue]):
    """The data: of CSV a list of rows, whose cells are texts; of XML an object."""

    model_config = ConfigDict(json_schema_extra={"examples": [[{"name": "Anna", "age": "41"}]]})


@step(title="Parse")
def handler(parameters: Parse, work: Work) -> Parsed:
    """Read JSON, CSV or XML."""
    text = parameters.text.removeprefix("\ufeff")
    if parameters.format == "json":
        return Parsed(_json(text))
    if parameters.format == "xml":
        return Parsed(_xml(text))
    return Parsed(list(_csv(text, parameters, work)))


def _json(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"The text is no JSON: {error}", remedy="Look at the text.") from None
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


def _xml(text: str) -> JsonValue:
    try:
        value: JsonValue = xmltodict.parse(text, disable_entities=True)
    except (ExpatError, ValueError, RecursionError) as error:
        raise BadInput(f"The text is no XML: {error}", remedy="Look at the text.") from None
    return value


def _csv(text: str, parameters: Parse, work: Work) -> Iterator[JsonValue]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, parameters))
    names: list[str] | None = None
    try:
        for row in reader:
            work.deadline.check()
            if not row:
                continue
            if parameters.header and names is None:
                names = _names(row)
            else:
                yield _row(row, names, reader.line_num)
    except csv.Error as error:
        message = f"Line {reader.line_num} is no CSV: {error}"
        raise BadInput(message, remedy="Look at that line.") from None


def _delimiter(text: str, parameters: Parse) -> str:
    """Return the separator; found by which one the first lines have most evenly."""
    if parameters.delimiter != "auto":
        return parameters.delimiter
    lines = list(csv.reader(io.StringIO(text[:_SAMPLE], newline=""), delimiter="\0"))[:20]
    counts = {
        delimiter: [sum(cell.count(delimiter) for cell in line) for line in lines if line]
        for delimiter in _DELIMITERS
    }
    return max(_DELIMITERS, key=lambda delimiter: min(counts[delimiter], default=0))


def _names(row: list[str]) -> list[str]:
    names = [name.strip() for name in row]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or "" in names:
        what = f"the columns {', '.join(twice)} twice" if twice else "a column without a name"
        raise BadInput(f"The first line of the CSV has {what}.", remedy="Correct that line.")
    return names


def _row(row: list[str], names: list[str] | None, line: int) -> JsonValue:
    if names is None:
        return [*row]
    if len(row) != len(names):
        raise BadInput(
            f"Line {line} of the CSV has {len(row)} cells; its first line has {len(names)}.",
            remedy="Correct that line, or name the delimiter.",
        )
    return dict(zip(names, row, strict=True))
