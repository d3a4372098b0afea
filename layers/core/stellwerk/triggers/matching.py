"""What waits for an event is started by it, once, however often the event comes."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stellwerk.files.model import FileId
from stellwerk.files.ports import Files
from stellwerk.kernel.clock import instant
from stellwerk.kernel.errors import NotFound, PermanentError, ServiceUnavailable, TransientError
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.firing import Firing
from stellwerk.tenancy.bus import OURS, RUN_FINISHED, BusEvent
from stellwerk.tenancy.scope import Scope, of_platform
from stellwerk.triggers.patterns import matches
from stellwerk.triggers.subscriptions import (
    ANY_SOURCE,
    EVENT,
    FAILURES,
    FILES,
    Subscription,
    Subscriptions,
    named,
    topic_of,
)

LOG = logging.getLogger(__name__)
_FILE = re.compile(r"[0-9a-hjkmnp-tv-z]{26}")


@dataclass(frozen=True)
class StoredObject:
    """An object that was stored in the bucket, below the files of an instance."""

    bucket: str
    key: str
    version: str
    rest: str
    """The key below the files' prefix: a file's id, or what somebody else has put there."""
    size: int

    @property
    def delivery(self) -> str:
        """What this version of the object is known by."""
        return f"file/{self.bucket}/{self.key}/{self.version}"


class Matching:
    """Starts what waits for events, files and failures."""

    def __init__(self, subscriptions: Subscriptions, firing: Firing, files: Files) -> None:
        self._subscriptions = subscriptions
        self._firing = firing
        self._files = files

    def event(self, event: BusEvent, *, request: str = "") -> int:
        """Start what waits for an event, and return how many; a repeat starts nothing.

        Raises TransientError at the end where something could not be started that may be later.
        """
        scope = of_platform(event.mandate, request=request).at(event.instance)
        payload: JsonObject = {
            "id": event.id,
            "source": event.source,
            "type": event.type,
            "time": instant(event.time),
            "data": event.data,
        }
        waiting = [one for one in self._events(scope, event) if _fits(one, payload)]
        wanted = [(one, payload) for one in waiting if one.workflow != event.workflow]
        failed = _failure_of(event)
        if failed is not None:
            waiting = [
                one
                for one in self._subscriptions.of(scope, FAILURES)
                if one.workflow != event.workflow and _watches(one, failed)
            ]
            wanted += [(one, failed) for one in waiting]
        return self._start(scope, f"event/{event.id}", wanted)

    def file(self, scope: Scope, stored: StoredObject) -> int:
        """Start what waits for a file of that name, and return how many.

        Raises ServiceUnavailable where it is not known yet: its content is stored first.
        """
        found = self._subscriptions.of(scope, FILES)
        if not found:
            return 0
        payload = self._about(scope, stored)
        wanted = [(one, payload) for one in found if _wants(one, str(payload["name"]))]
        return self._start(scope, stored.delivery, wanted)

    def _about(self, scope: Scope, stored: StoredObject) -> JsonObject:
        about: JsonObject = {"key": stored.key, "version": stored.version, "size": stored.size}
        if not _FILE.fullmatch(stored.rest):
            return {"file": None, "name": stored.rest, "type": "", **about}
        try:
            file = self._files.get(scope, FileId(stored.rest))
        except NotFound as missing:
            raise ServiceUnavailable(f"file {stored.rest} is not known yet") from missing
        return {"file": file.id, "name": file.name, "type": file.type, **about}

    def _events(self, scope: Scope, event: BusEvent) -> Iterator[Subscription]:
        for topic in (topic_of(event.source), ANY_SOURCE):
            yield from self._subscriptions.of(scope, topic)

    def _start(
        self, scope: Scope, delivery: str, wanted: Iterable[tuple[Subscription, JsonObject]]
    ) -> int:
        started, later = 0, None
        for one, payload in wanted:
            try:
                self._firing.fire(
                    scope,
                    one.workflow,
                    trigger=one.node,
                    delivery=f"{one.node}/{delivery}",
                    payload=payload,
                )
                started += 1
            except TransientError as error:
                later = error
            except PermanentError as refusal:  # its owner's business: the others are started
                LOG.warning(
                    "workflow %s of mandate %s was not started by %s: %s",
                    one.workflow,
                    scope.mandate,
                    delivery,
                    refusal,
                )
        if later is not None:
            raise later
        return started


def _fits(one: Subscription, payload: JsonObject) -> bool:
    pattern = one.parameters.get("pattern")
    return one.type == EVENT and isinstance(pattern, dict) and matches(pattern, payload)


def _wants(one: Subscription, name: str) -> bool:
    prefix, pattern = one.parameters.get("prefix", ""), one.parameters.get("pattern", "*")
    return name.startswith(str(prefix)) and named(str(pattern), name)


def _failure_of(event: BusEvent) -> JsonObject | None:
    """Return what a failed run has come to; None for all other events."""
    data = event.data
    if event.source != OURS or event.type != RUN_FINISHED or not isinstance(data, dict):
        return None
    return data if data.get("status") == "failed" else None


def _watches(one: Subscription, failed: JsonObject) -> bool:
    """Say whether a trigger waits for failures of that workflow; none named: of any."""
    watched: JsonValue = one.parameters.get("workflows")
    if not isinstance(watched, list) or not watched:
        return True
    return failed.get("workflow") in watched or failed.get("slug") in watched
