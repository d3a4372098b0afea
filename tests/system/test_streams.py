"""The Lambdas at the stream of the table `runs`: what they take in, and what comes again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from localcloud.cloud import LocalCloud
from stellwerk import bootstrap
from stellwerk.bootstrap import Services
from stellwerk.bootstrap.later import LaterWatching
from stellwerk.config import Settings
from stellwerk.handlers.metrics import counted, emit
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import RunId
from stellwerk.kernel.json import JsonValue
from stellwerk.tenancy.notices import Notice
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.model import Happening, RunEvent
from stellwerk.watching.projecting import Look, Projector
from system.notices.handler import handler as notices
from system.run_events.handler import handler as run_events
from tests.contracts.records import SCOPE, START, step
from tests.contracts.records import run as new_run
from tests.system.events import CONTEXT


@pytest.fixture(scope="module")
def services() -> Iterator[Services]:
    settings = Settings.of({})
    with LocalCloud(settings=settings) as cloud:
        cloud.dynamodb.on_write = lambda writes: None
        yield bootstrap.build(settings, cloud.clients)


def images(services: Services, prefix: str) -> list[Any]:
    doors = services.stores.doors.dynamodb
    items = doors.scan(TableName=services.settings.runs_table)["Items"]
    found = [item for item in items if str(item["sk"].get("S", "")).startswith(prefix)]
    return [
        {"dynamodb": {"SequenceNumber": str(100 + number), "NewImage": item}}
        for number, item in enumerate(found)
    ]


def test_what_changed_goes_into_the_log(services: Services) -> None:
    world = services.assembly.world
    run = world.runs.create(SCOPE, new_run(1))
    world.journal.write(SCOPE, step("check", run=run.id, value="1"))
    records = [*images(services, "run"), *images(services, "step#")]
    removed: JsonValue = {"eventName": "REMOVE", "dynamodb": {"SequenceNumber": "99"}}
    answer = run_events.serve({"Records": [removed, *records]}, CONTEXT, services)
    assert answer == {"batchItemFailures": []}
    events = services.watching.log.read(SCOPE, run.id, after=0, limit=9)
    assert events[0].kind is Happening.RUN_STARTED


def test_what_cannot_be_read_is_named_and_the_rest_is_taken_in(
    services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    world = services.assembly.world
    run = world.runs.create(SCOPE, new_run(2, delivery="two"))
    good = [each for each in images(services, "run") if run.id in json.dumps(each)]
    odd = json.loads(json.dumps(good[0]).replace(f"run#{run.id}", "run#r-odd"))
    odd["dynamodb"]["SequenceNumber"] = "7"
    whole = services.watching
    failing = replace(whole, projector=Failing(whole.projector, "r-odd"))
    later = LaterWatching(services.later._means)
    later.__dict__["watching"] = failing
    answer = run_events.serve({"Records": [odd, *good]}, CONTEXT, replace(services, later=later))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "7"}]}
    assert services.watching.log.read(SCOPE, run.id, after=0, limit=9)
    assert "r-odd could not be written" in caplog.text


class Failing(Projector):
    """A projector that fails with one run."""

    def __init__(self, inner: Projector, run: str) -> None:
        """Stand before another one."""
        self._inner = inner
        self._run = run

    def project(self, scope: Scope, run: RunId, looks: Sequence[Look]) -> Sequence[RunEvent]:
        if run == self._run:
            raise OSError("no table")
        return self._inner.project(scope, run, looks)


def test_an_odd_event_is_refused(services: Services) -> None:
    with pytest.raises(BadInput):
        run_events.serve({"Records": [{"s3": {}}]}, CONTEXT, services)


def test_a_notice_that_opens_a_bundle_is_sent_at_once(services: Services) -> None:
    told = Notice("run.failed", ("a@b.example",), "S", "T", group="g")
    services.watching.outgoing.notify(SCOPE, told)
    records = images(services, "notice#")
    assert notices.serve({"Records": records}, CONTEXT, services) == {"batchItemFailures": []}
    [waiting] = services.watching.outbox.open(SCOPE)
    assert waiting.tries == 1
    assert "no mail server is set" in waiting.error


def test_events_are_counted_and_written_for_cloudwatch(capsys: pytest.CaptureFixture[str]) -> None:
    kinds = [Happening.RUN_STARTED, Happening.NODE_SUCCEEDED, Happening.NODE_SUCCEEDED]
    events = [RunEvent(kind=kind, at=START) for kind in (*kinds, Happening.RUN_PAUSED)]
    recorded = RunEvent(kind=Happening.NODE_SUCCEEDED, at=START, recorded=True)
    counts = counted([*events, recorded])
    assert counts == {"RunsStarted": 1, "StepsSucceeded": 2}
    emit(Settings.of({"STELLWERK_STAGE": "local"}), counts)
    emit(Settings.of({"STELLWERK_STAGE": "aws"}), {})
    assert capsys.readouterr().out == ""
    emit(Settings.of({"STELLWERK_STAGE": "aws"}), counts)
    written = json.loads(capsys.readouterr().out)
    assert written["RunsStarted"] == [1.0]
    [metric] = written["_aws"]["CloudWatchMetrics"]
    assert (metric["Namespace"], metric["Dimensions"]) == ("stellwerk", [["service"]])
