from __future__ import annotations

from collections.abc import Mapping

import pytest
from botocore.exceptions import ClientError

from stellwerk.aws.bodies import Bodies
from stellwerk.aws.items import Items
from stellwerk.aws.key_values import DynamoKeyValues
from stellwerk.aws.standing import close_wait
from stellwerk.aws.tasks import DynamoTasks
from stellwerk.kernel.errors import NotFound, ServiceUnavailable
from stellwerk.kernel.ids import TaskId
from stellwerk.runs.model import TaskStatus
from tests.aws.scripted import Scripted, refusal
from tests.contracts.records import RUN, SCOPE, WORKFLOW, decision, task
from tests.fakes.memory import Memory
from tests.fakes.versions import FakeValues


def refused(item: Mapping[str, object] | None, *, more: int = 0) -> ClientError:
    """Return the refusal of a transaction for its first write, `more` others being innocent."""
    reason = {"Code": "ConditionalCheckFailed", **({"Item": item} if item else {})}
    reasons = [reason, *[{"Code": "None"}] * more]
    return refusal("TransactionCanceledException", CancellationReasons=reasons)


def items(*answers: object) -> Items:
    return Items(Scripted(*answers).client, "runs", pause=lambda seconds: None)


def test_a_count_that_changes_at_every_try_gives_up_as_transient() -> None:
    stands = {"status": {"S": "paused"}, "waits": {"N": "2"}}
    with pytest.raises(ServiceUnavailable):
        close_wait(items(refused(stands)), SCOPE, RUN, WORKFLOW, [])


def test_a_run_that_has_vanished_is_not_found() -> None:
    with pytest.raises(NotFound):
        close_wait(items(refused(None)), SCOPE, RUN, WORKFLOW, [])


def test_a_task_whose_token_changes_at_every_try_gives_up_as_transient() -> None:
    bodies = Bodies(FakeValues(Memory()))
    stored = bodies.item(SCOPE, task(), "runs/r-1")
    raw = {
        "body": {"S": stored["body"]},
        "revision": {"N": "1"},
        "status": {"S": "pending"},
        "token": {"S": "t-1"},
        "answered": {"BOOL": False},
    }
    tasks = DynamoTasks(items({"Item": raw}, refused(raw, more=1)), bodies)
    with pytest.raises(ServiceUnavailable):
        tasks.close(SCOPE, TaskId("task-1"), TaskStatus.COMPLETED, decision())


def test_a_number_that_changes_at_every_try_gives_up_as_transient() -> None:
    class Busy(Scripted):
        def _answer(self, **request: object) -> object:
            if "UpdateExpression" in request:
                raise refusal("ConditionalCheckFailedException")
            return {}

    numbers = DynamoKeyValues(Items(Busy().client, "platform"), FakeValues(Memory()))
    with pytest.raises(ServiceUnavailable):
        numbers.increment(SCOPE, WORKFLOW, "n", 1, once="a")
