"""Server-Sent Events, read as a browser would."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from stellwerk.kernel.json import JsonObject


@dataclass(frozen=True)
class Event:
    """An event as it was sent."""

    id: int
    kind: str
    data: JsonObject


def read(lines: Iterator[str]) -> Iterator[Event]:
    """Read events as a browser would."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "id" in fields:
            yield Event(int(fields["id"]), fields["event"], json.loads(fields["data"]))
            fields = {}
