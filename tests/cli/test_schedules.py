"""`stellwerk schedules` here and at an API; what fires there, and what was missed meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

from localcloud.cli.connection import Connection
from localcloud.cli.graphs import checked
from localcloud.cli.hosting import hosted
from localcloud.cli.publishing import publish_graph
from stellwerk.bootstrap import Services
from stellwerk.bootstrap.scheduling import ScheduleServices, schedule_services
from stellwerk.config import Settings
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.json import JsonObject
from tests.cli.conftest import Answer, invoke
from tests.cli.test_remote import Terminal
from triggers.schedule.handler import handler as fire
from triggers.schedule_look.handler import handler as look

GRAPH: JsonObject = {
    "title": "Stock",
    "nodes": [
        {
            "key": "night",
            "type": "trigger.schedule",
            "parameters": {"cron": "0 12 1 * MON", "catch_up": "last"},
        },
        {"key": "often", "type": "trigger.schedule", "parameters": {"interval": "every hour"}},
        {"key": "note", "type": "data.set", "parameters": {"fields": {"at": "{{ $trigger.at }}"}}},
    ],
    "edges": [{"from": "night", "to": "note"}, {"from": "often", "to": "note"}],
}


class Context:
    """What a Lambda learns of its call."""

    aws_request_id = "q-1"

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


@dataclass(frozen=True)
class Place:
    """A cloud that serves its API, with a published workflow."""

    data: Path
    connection: Connection

    @property
    def services(self) -> ScheduleServices:
        return schedule_services(cast("Services", self.connection.services))

    @property
    def workflow(self) -> WorkflowId:
        return self.connection.services.workflows.find(self.connection.scope, "stock").id


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cloud")


def settings(data: Path) -> Settings:
    return Settings.of({"STELLWERK_DATA": str(data)})


@pytest.fixture(scope="module")
def place(data: Path) -> Iterator[Place]:
    with hosted(settings(data), port=0, api_port=0) as connection:
        file = data / "stock.json"
        file.write_text(json.dumps(GRAPH), encoding="utf-8")
        assert invoke(data, ["publish", str(file)]).code == 0
        yield Place(data, connection)


def objects(answer: Answer, name: str) -> list[JsonObject]:
    found = answer.data[name]
    assert isinstance(found, list)
    return [each for each in found if isinstance(each, dict)]


def test_a_slot_that_fires_is_told_with_its_run(place: Place) -> None:
    due = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    event: JsonObject = {
        "mandate": place.connection.scope.mandate,
        "instance": place.connection.scope.instance,
        "workflow": place.workflow,
        "node": "often",
        "at": due.isoformat().replace("+00:00", "Z"),
    }
    services = cast("Services", place.connection.services)
    fired = fire.serve(event, Context(), services)
    assert fire.serve(event, Context(), services) == fired
    assert fired["status"] == "fired"
    told = invoke(place.data, ["schedules", "stock", "--json"])
    (slot,) = objects(told, "slots")
    assert (slot["node"], slot["status"], slot["run"]) == ("often", "fired", fired["run"])
    night, often = objects(told, "items")
    assert [len(objects_in(one, "registered")) for one in (night, often)] == [2, 1]
    shown = invoke(place.data, ["schedules", "stock"], columns="140").shown
    for text in ("cron(0 12 1 * ? *) Europe/Zurich", "rate(60 minutes)", "fired", "+01:00"):
        assert text in shown


def objects_in(one: JsonObject, name: str) -> list[object]:
    found = one[name]
    assert isinstance(found, list)
    return [*found]


def test_an_odd_event_is_refused_and_the_first_look_after_a_start_is_due(place: Place) -> None:
    services = cast("Services", place.connection.services)
    with pytest.raises(BadInput, match="at"):
        fire.serve({"mandate": "m-demo", "at": "soon"}, Context(), services)
    assert look.serve({}, Context(), services) == {"looked": 1, "repaired": 0}
    assert look.serve({}, Context(), services) == {"looked": 0, "repaired": 0}


def test_at_an_api_it_tells_the_same(place: Place, tmp_path: Path) -> None:
    assert place.connection.api is not None
    anna = Terminal(place.connection.api, tmp_path).signed_in("u-demo")
    for arguments in (["schedules"], ["schedules", "stock"]):
        here = invoke(place.data, [*arguments, "--json"])
        assert anna(*arguments, "--json").data == here.data
    assert anna("schedules", "reconcile", "--json").data == {"compared": 3, "repairs": []}
    assert anna("schedules", "nothing").code == 3


def test_what_somebody_removed_is_mended_and_told(place: Place) -> None:
    scope = place.connection.scope
    scheduler = place.services.rounds.drift.part.scheduler
    name = next(found.name for found in scheduler.listed(scope))
    scheduler.remove(scope, name)
    answer = invoke(place.data, ["schedules", "reconcile", "--json"])
    (repair,) = objects(answer, "repairs")
    assert (repair["kind"], repair["schedule"]) == ("missing", name)
    assert "3 schedules compared, 0 things" in invoke(place.data, ["schedules", "reconcile"]).shown


def test_without_schedules_it_says_so(tmp_path: Path) -> None:
    assert "No workflow starts by the clock" in invoke(tmp_path, ["schedules"]).shown


def test_what_was_due_while_the_cloud_was_down_is_missed_or_made_good(tmp_path: Path) -> None:
    file = tmp_path / "stock.json"
    parameters: JsonObject = {"interval": "every hour", "catch_up": "last"}
    _, often, note = cast("list[JsonObject]", GRAPH["nodes"])
    edges = [{"from": "often", "to": "note"}]
    drawn = {"nodes": [{**often, "parameters": parameters}, note], "edges": edges, "title": "S"}
    file.write_text(json.dumps(drawn), encoding="utf-8")
    with hosted(settings(tmp_path)) as connection:
        services = cast("Services", connection.services)
        publish_graph(connection, checked(file)[0], "stock")
        workflow = services.workflows.find(connection.scope, "stock").id
        registrations = schedule_services(services).rounds.registrations
        found = registrations.get(connection.scope, workflow)
        assert found is not None
        earlier = datetime.now(UTC) - timedelta(hours=4)
        spans = tuple(span.model_copy(update={"since": earlier}) for span in found.spans)
        changes = {"spans": spans, "checked": earlier}
        registrations.write(connection.scope, found.model_copy(update=changes))
    with hosted(settings(tmp_path)) as connection:
        desk = schedule_services(cast("Services", connection.services)).desk
        shown = desk.of_workflow(connection.scope, workflow)
        statuses = [slot.status.value for slot in shown.slots]
        assert statuses == ["fired", "missed", "missed", "missed"]
        assert shown.slots[0].caught_up
        assert len(shown.schedules[0].handle) == 1
        again = desk.reconcile(connection.scope)
        assert (again.compared, again.repairs) == (1, [])
