"""Events and numbers of an instance, as its API tells them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from localcloud.cli.remote import Answer, Parameter
from stellwerk.kernel.errors import ServiceUnavailable
from stellwerk.kernel.json import JsonObject

TRIES = 5
"""Connections in a row that may bring nothing but an error."""
PAUSE = 0.5


class Source(Protocol):
    """What of `remote.Api` is used."""

    def get(self, path: str, params: Mapping[str, Parameter] | None = None) -> Answer:
        """Return what is at a path."""

    def stream(
        self, path: str, params: Mapping[str, str | int]
    ) -> AbstractContextManager[Iterator[str] | None]:
        """Read lines as they come."""


class RemoteWatching:
    """What the API tells while somebody listens."""

    def __init__(self, api: Source, place: str) -> None:
        self._api = api
        self._place = place

    def events(self, run: str, after: int) -> Iterator[JsonObject]:
        """Yield events of a run behind `after`, as they happen, up to the one that ends it.

        Connects again where it is cut off, with the last number that it has.
        """
        path, failures = f"{self._place}/runs/{run}/events", 0
        while failures < TRIES:
            try:
                with self._api.stream(path, {"after": after}) as lines:
                    if lines is None:
                        return
                    for event in _read(lines):
                        after, failures = int(str(event["seq"])), 0
                        yield event
            except ServiceUnavailable:
                failures += 1
                if failures == TRIES:
                    raise
                time.sleep(PAUSE)

    def stats(self, workflow: str | None, since: str | None, until: str | None) -> JsonObject:
        """Return how the runs of a workflow are doing, or of the instance."""
        place = f"{self._place}/workflows/{workflow}" if workflow else self._place
        return self._api.get(f"{place}/stats", {"since": since, "until": until}).object


def _read(lines: Iterator[str]) -> Iterator[JsonObject]:
    for line in lines:
        name, _, value = line.partition(": ")
        if name == "data":
            event: JsonObject = json.loads(value)
            yield event
