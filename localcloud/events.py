"""EventBridge: what happened is delivered to the functions that a rule names, at least once."""

from __future__ import annotations

import json
import logging
import re
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from moto.events.models import EventsBackend

from localcloud.functions import FunctionNotFound
from localcloud.lambdas import ACCOUNT, REGION, Lambdas, PayloadTooLarge
from localcloud.patching import Repair, applied
from localcloud.workers import Workers
from stellwerk.aws.bus import DETAIL_TYPE, SOURCE

LOG = logging.getLogger(__name__)

Detail: TypeAlias = Mapping[str, object]

OBJECT_CREATED = "Object Created"
_FILES = re.compile(r"m-[^/]*/[^/]*/files/")
STATUS_CHANGE = "Step Functions Execution Status Change"
PAUSES = (0.05, 0.2, 1.0, 5.0, 15.0, 60.0, 60.0, 60.0)
"""Seconds before each further try; AWS tries for a day."""


@dataclass(frozen=True)
class Rule:
    """Events of one source and type whose detail a test accepts go to a function."""

    source: str
    detail_type: str
    accepts: Callable[[Detail], bool]
    function: str


def run_finished(prefix: str) -> Rule:
    """The rule of the deployment: ended executions of machines go to `system-run_finished`."""
    return Rule(
        source="aws.states",
        detail_type=STATUS_CHANGE,
        accepts=lambda detail: detail.get("status") != "RUNNING",
        function=f"{prefix}-system-run_finished",
    )


def told(prefix: str) -> Rule:
    """The rule of the deployment's bus: all our events go to `triggers-event`."""
    return Rule(SOURCE, DETAIL_TYPE, lambda detail: True, f"{prefix}-triggers-event")


def stored(prefix: str) -> Rule:
    """The rule of the bucket: files of instances go to `triggers-file`."""
    return Rule("aws.s3", OBJECT_CREATED, _is_file, f"{prefix}-triggers-file")


def _is_file(detail: Detail) -> bool:
    stored = detail.get("object")
    key = stored.get("key") if isinstance(stored, Mapping) else None
    return isinstance(key, str) and _FILES.match(key) is not None


class Events:
    """Delivers events, each in a thread of its own, trying again when a function fails."""

    def __init__(self, lambdas: Lambdas, workers: Workers, rules: Sequence[Rule]) -> None:
        self._lambdas = lambdas
        self._workers = workers
        self._rules = rules
        self._stopped = threading.Event()

    def publish(
        self, source: str, detail_type: str, resources: Sequence[str], detail: Detail
    ) -> None:
        """Hand an event to every rule that accepts it; returns before any is delivered."""
        for rule in self._rules:
            if (rule.source, rule.detail_type) == (source, detail_type) and rule.accepts(detail):
                text = json.dumps(_envelope(source, detail_type, resources, detail))
                self._deliver(rule.function, text)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Take what other processes put on a bus through moto's server, in the block."""

        def put_events(backend: EventsBackend, events: list[dict[str, Any]]) -> list[Any]:
            return [self._put(entry) for entry in events]

        with applied([Repair(EventsBackend, "put_events", put_events)]):
            yield

    def put(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Do what EventBridge's `PutEvents` does with entries for a bus of ours."""
        entries = [self._put(entry) for entry in request["Entries"]]
        return {"FailedEntryCount": 0, "Entries": entries}

    def _put(self, entry: Mapping[str, Any]) -> dict[str, str]:
        detail = json.loads(entry["Detail"])
        self.publish(entry["Source"], entry["DetailType"], entry.get("Resources", ()), detail)
        return {"EventId": str(uuid.uuid4())}

    def stop(self) -> None:
        """Give up what could not be delivered yet."""
        self._stopped.set()

    def _deliver(self, function: str, text: str) -> None:
        self._workers.run(lambda: self._tries(function, text))

    def _tries(self, function: str, text: str) -> None:
        for pause in PAUSES:
            if self._delivered(function, text) or self._stopped.wait(pause):
                return
        LOG.error("an event for %s could not be delivered: %s", function, text)

    def _delivered(self, function: str, text: str) -> bool:
        try:
            result = self._lambdas.invoke(function, text)
        except FunctionNotFound:
            LOG.debug("nobody takes the event for %s", function)
            return True
        except PayloadTooLarge as error:
            LOG.warning("an event for %s is lost: %s", function, error)
            return True
        if result.failed and not self._stopped.is_set():
            LOG.warning("%s failed on an event: %s", function, result.payload)
        return not result.failed


def _envelope(
    source: str, detail_type: str, resources: Sequence[str], detail: Detail
) -> dict[str, object]:
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": detail_type,
        "source": source,
        "account": ACCOUNT,
        "time": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "region": REGION,
        "resources": list(resources),
        "detail": dict(detail),
    }
