"""What people are asked, and which answers fit."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import BadInput, InvalidParameters
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.model import HumanTask
from tests.handlers.floor import Floor


@pytest.fixture
def floor() -> Floor:
    return Floor()


def ask(floor: Floor, kind: str, **parameters: JsonValue) -> HumanTask:
    floor.publish(
        {
            "start": {"type": "trigger.manual"},
            "node": {"type": kind, "parameters": {"assignees": ["user:anna"], **parameters}},
        },
        ["start node"],
    )
    floor.start({"amount": 5})
    floor.call("start")
    floor.call("node", phase="open")
    floor.call("node", phase="wait", token="t")
    (task,) = floor.tasks()
    return task


def answer(floor: Floor, task: HumanTask, port: str, data: JsonValue = None) -> JsonValue:
    floor.assembly.tasks.decide(floor.scope, task.id, port, data)
    assert floor.call("node", phase="close")["port"] == port
    value = floor.value("node")
    assert isinstance(value, dict)
    return value["data"]


FORM: JsonObject = {
    "type": "object",
    "required": ["iban"],
    "properties": {"iban": {"type": "string"}},
}


def test_a_form_takes_data_that_fits(floor: Floor) -> None:
    task = ask(floor, "input.form", form=FORM)
    assert (task.kind, task.ports) == ("form", ("submitted",))
    with pytest.raises(BadInput, match="iban"):
        floor.assembly.tasks.decide(floor.scope, task.id, "submitted", {"iban": 5})
    assert answer(floor, task, "submitted", {"iban": "CH93"}) == {"iban": "CH93"}


def test_a_choice_has_a_port_per_option(floor: Floor) -> None:
    options: JsonValue = [{"port": "refund", "title": "Refund"}, {"port": "replace"}]
    task = ask(floor, "input.choice", options=options)
    assert task.ports == ("refund", "replace")
    assert task.value == {"refund": "Refund", "replace": "replace"}
    answer(floor, task, "replace")


@pytest.mark.parametrize("options", [[], [{"port": "No Port"}], ["refund"]])
def test_a_choice_needs_options(floor: Floor, options: JsonValue) -> None:
    with pytest.raises(InvalidParameters, match="options"):
        ask(floor, "input.choice", options=options)


def test_an_upload_takes_files_of_its_types(floor: Floor) -> None:
    task = ask(floor, "input.upload", types=["application/pdf"], max_files=2)
    file: JsonObject = {"name": "a.pdf", "type": "application/pdf", "content": "JVBERi0="}
    for wrong in ([], [file] * 3, [{**file, "type": "text/plain"}], [{**file, "file": "f-1"}]):
        with pytest.raises(BadInput):
            floor.assembly.tasks.decide(floor.scope, task.id, "submitted", {"files": [*wrong]})
    assert answer(floor, task, "submitted", {"files": [file]}) == {"files": [file]}


def test_a_review_shows_a_value_and_takes_the_edited_one(floor: Floor) -> None:
    task = ask(floor, "input.review", value="{{ $input }}")
    assert task.value == {"amount": 5}
    assert task.ports == ("accepted", "rejected")
    assert answer(floor, task, "accepted", {"amount": 6}) == {"amount": 6}
