from __future__ import annotations

import pytest

from stellwerk.aws.bodies import Bodies
from stellwerk.aws.expressions import Put
from stellwerk.aws.items import TRIES, Items, Range
from stellwerk.aws.journal import DynamoJournal
from stellwerk.aws.keys import Key
from stellwerk.aws.runs import DynamoRuns
from stellwerk.kernel.errors import RETRYABLE, Conflict, RateLimited, ServiceUnavailable
from stellwerk.runs.model import RunStatus
from tests.aws.scripted import Scripted, refusal
from tests.contracts.records import SCOPE, run, step
from tests.fakes.memory import Memory
from tests.fakes.versions import FakeValues

PUT = Put(Key("p", "s"), {"n": 1})
RAW = {"pk": {"S": "p"}, "sk": {"S": "s"}}


def items(script: Scripted) -> tuple[Items, list[float]]:
    pauses: list[float] = []
    return Items(script.client, "runs", pause=pauses.append), pauses


def test_a_contended_write_is_repeated_until_it_is_taken() -> None:
    script = Scripted(
        refusal("TransactionConflictException"), refusal("TransactionConflictException"), {}
    )
    store, pauses = items(script)
    store.put(PUT)
    assert len(script.requests) == 3
    assert len(pauses) == 2
    assert all(0 <= pause <= 0.5 for pause in pauses)


def test_a_write_contended_for_ever_gives_up_as_transient() -> None:
    store, pauses = items(Scripted(refusal("TransactionConflictException")))
    with pytest.raises(ServiceUnavailable):
        store.transact([PUT])
    assert len(pauses) == TRIES


def test_other_errors_are_not_repeated() -> None:
    script = Scripted(refusal("ThrottlingException"))
    store, _ = items(script)
    with pytest.raises(RateLimited):
        store.put(PUT)
    assert len(script.requests) == 1


def test_keys_that_a_batch_left_out_are_asked_again() -> None:
    left = {"runs": {"Keys": [{"pk": {"S": "p"}, "sk": {"S": "t"}}]}}
    script = Scripted(
        {"Responses": {"runs": [RAW]}, "UnprocessedKeys": left},
        {"Responses": {"runs": [RAW | {"sk": {"S": "t"}}]}, "UnprocessedKeys": {}},
    )
    store, _ = items(script)
    assert set(store.batch([Key("p", "s"), Key("p", "t")])) == {Key("p", "s"), Key("p", "t")}


def test_a_batch_that_is_never_answered_gives_up_as_transient() -> None:
    left = {"runs": {"Keys": [RAW]}}
    store, _ = items(Scripted({"Responses": {}, "UnprocessedKeys": left}))
    with pytest.raises(RateLimited):
        store.batch([Key("p", "s")])


def test_items_that_a_batch_left_out_are_written_again() -> None:
    request = {"PutRequest": {"Item": RAW}}
    script = Scripted({"UnprocessedItems": {"runs": [request]}}, {"UnprocessedItems": {}})
    store, _ = items(script)
    store.fill([PUT])
    assert script.requests[1]["RequestItems"] == {"runs": [request]}


def test_a_batch_that_is_never_taken_gives_up_as_transient() -> None:
    store, _ = items(Scripted({"UnprocessedItems": {"runs": [{"PutRequest": {"Item": RAW}}]}}))
    with pytest.raises(RateLimited):
        store.fill([PUT])


def test_a_query_and_a_count_go_on_to_the_last_page() -> None:
    pages = (
        {"Items": [RAW], "Count": 1, "LastEvaluatedKey": RAW},
        {"Items": [RAW | {"sk": {"S": "t"}}], "Count": 1},
    )
    script = Scripted(*pages)
    store, _ = items(script)
    assert [item["sk"] for item in store.query(Range("p"))] == ["s", "t"]
    assert script.requests[1]["ExclusiveStartKey"] == RAW
    store, _ = items(Scripted(*pages))
    assert store.count(Range("p")) == 2


class Lossy(Scripted):
    """Loses the answer of a write that was done: the client repeats it and is refused."""

    def _answer(self, **request: object) -> object:
        written = request.get("Item") or {
            str(name)[1:]: value for name, value in self._assigned(request).items()
        }
        raise refusal("ConditionalCheckFailedException", Item=written)

    @staticmethod
    def _assigned(request: dict[str, object]) -> dict[str, object]:
        clause = str(request["UpdateExpression"]).split(" REMOVE ")[0].removeprefix("SET ")
        values = request["ExpressionAttributeValues"]
        assert isinstance(values, dict)
        pairs = [part.split(" = ") for part in clause.split(", ")]
        assigned = {name: values[value] for name, value in pairs if value in values}
        return {
            "#waits": {"N": "0"},
            "#status": {"S": "running"},
            "#revision": {"N": "2"},
        } | assigned


def test_a_write_whose_answer_was_lost_is_known_again() -> None:
    store, _ = items(Lossy())
    bodies = Bodies(FakeValues(Memory()))
    assert DynamoJournal(store, bodies).write(SCOPE, step()).revision == 1
    written = run().model_copy(update={"revision": 1})
    assert DynamoRuns(store, bodies).write(SCOPE, written).revision == 2
    over = written.model_copy(update={"status": RunStatus.FAILED})
    assert DynamoRuns(store, bodies).end(SCOPE, over).status is RunStatus.FAILED


def test_the_same_entry_of_another_writer_is_still_a_conflict() -> None:
    script = Scripted(refusal("ConditionalCheckFailedException"))
    store, _ = items(script)
    with pytest.raises(Conflict):
        DynamoJournal(store, Bodies(FakeValues(Memory()))).write(SCOPE, step())


def test_a_service_that_is_away_leaves_as_our_error() -> None:
    store, _ = items(Scripted(refusal("InternalServerError")))
    with pytest.raises(Exception, match="InternalServerError"):
        store.get(Key("p", "s"))


def test_errors_leave_under_names_that_step_functions_knows() -> None:
    store, _ = items(Scripted(refusal("TransactionConflictException")))
    with pytest.raises(ServiceUnavailable) as raised:
        store.put(PUT)
    assert raised.value.type in RETRYABLE
