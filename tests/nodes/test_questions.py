"""What people are asked, and which answers fit."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.kernel.errors import BadInput, Forbidden, InvalidParameters
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.ballots import Quorum
from stellwerk.runs.forms import FormRefused
from stellwerk.runs.model import HumanTask
from stellwerk.runs.notes import Escalation
from stellwerk.tenancy.scope import of_run
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


def test_an_upload_takes_files_of_the_instance_by_their_id(floor: Floor) -> None:
    task = ask(floor, "input.upload", types=["application/pdf"], max_files=4)
    known: JsonObject = {"name": "a.pdf", "type": "application/pdf", "size": 3}
    text: JsonObject = {"name": "b.txt", "type": "text/plain", "size": 1}
    floor.uploads.known |= {("i-demo", "f-1"): known, ("i-demo", "f-2"): text}
    floor.uploads.known["i-other", "f-3"] = known
    lied: JsonObject = {"file": "f-2", "name": "b.pdf", "type": "application/pdf"}
    handed: JsonObject = {"files": ["f-1", "f-3", {"file": "f-9"}, lied]}
    with pytest.raises(FormRefused) as refused:
        floor.assembly.tasks.decide(floor.scope, task.id, "submitted", handed)
    assert [fault.field for fault in refused.value.faults] == [
        *("files[1].file", "files[2].file", "files[3].type"),
    ]
    assert "there is no file 'f-3' in this instance" in refused.value.message
    both: JsonObject = {"files": ["f-1", {"file": "f-1", "name": "other.pdf"}]}
    shown: JsonObject = {**known, "file": "f-1"}
    assert answer(floor, task, "submitted", both) == {"files": [shown, shown]}


@pytest.mark.parametrize("data", [None, 3, {"files": 3}, {"files": [3, None]}])
def test_what_is_no_upload_is_refused_by_the_form(floor: Floor, data: JsonValue) -> None:
    task = ask(floor, "input.upload")
    with pytest.raises(FormRefused):
        floor.assembly.tasks.decide(floor.scope, task.id, "submitted", data)


def test_a_question_says_how_many_decide_who_must_not_and_who_is_asked_later(floor: Floor) -> None:
    task = ask(
        floor,
        "input.approval",
        due="P5D",
        quorum={"needed": 2, "of": 3, "rule": "majority"},
        four_eyes=True,
        reminders=["P1D", "-PT4H"],
        escalate={"after": "P2D", "to": ["role:boss"]},
    )
    now = floor.clock.now()
    assert task.quorum == Quorum(needed=2, of=3, rule="majority")
    assert task.not_by == (floor.scope.user,)
    assert task.news.reminders == (now + timedelta(days=1), now + timedelta(days=5, hours=-4))
    assert task.news.escalation == Escalation(at=now + timedelta(days=2), to=("role:boss",))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"quorum": {"needed": 3, "of": 2}}, "3 of 2 votes cannot be reached"),
        ({"quorum": {"needed": 1, "rule": "majority"}}, "a majority needs `of`"),
        ({"reminders": ["tomorrow"]}, "'tomorrow' is no duration"),
        ({"escalate": {"after": "P1D", "to": []}}, "escalate"),
    ],
)
def test_a_question_that_cannot_be_fails_its_node(
    floor: Floor, parameters: JsonObject, message: str
) -> None:
    with pytest.raises(InvalidParameters, match=message):
        ask(floor, "input.approval", **parameters)


def test_guests_are_asked_only_where_the_mandate_allows_it(floor: Floor) -> None:
    floor.guests.allow = False
    with pytest.raises(Forbidden, match="guests may not decide"):
        ask(floor, "input.approval", assignees=["mail:eva@kunde.example"])


def test_the_value_of_a_vote_tells_all_votes(floor: Floor) -> None:
    task = ask(floor, "input.approval", assignees=["*"], quorum={"needed": 2})
    other = of_run(floor.scope.mandate, floor.scope.instance, "u-ben")
    floor.assembly.tasks.decide(floor.scope, task.id, "approved", comment="good")
    floor.assembly.tasks.decide(other, task.id, "approved", {"n": 1})
    floor.call("node", phase="close")
    value = floor.value("node")
    assert isinstance(value, dict)
    assert (value["by"], value["data"]) == ("u-ben", {"n": 1})
    votes = value["votes"]
    assert isinstance(votes, list)
    assert [vote["comment"] for vote in votes if isinstance(vote, dict)] == ["good", ""]


def test_a_review_shows_a_value_and_takes_the_edited_one(floor: Floor) -> None:
    task = ask(floor, "input.review", value="{{ $input }}")
    assert task.value == {"amount": 5}
    assert task.ports == ("accepted", "rejected")
    assert answer(floor, task, "accepted", {"amount": 6}) == {"amount": 6}
