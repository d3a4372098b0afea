"""Whatever the stores ask for a node, the template allows to nodes: their contract runs again."""

from __future__ import annotations

from tests.contracts import (
    test_journal,
    test_key_values,
    test_runs,
    test_tasks,
    test_values,
    test_waits,
)
from tests.security.adopted import adopted
from tests.security.guard import GuardedMoto

GROUP = "nodes"
globals().update(
    adopted(test_journal, test_key_values, test_runs, test_tasks, test_values, test_waits)
)


def test_the_policies_were_asked(moto: GuardedMoto) -> None:
    used = ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "BatchWriteItem")
    assert moto.asked >= {f"dynamodb:{action}" for action in used}
    assert moto.asked >= {"s3:GetObject", "s3:PutObject", "dynamodb:ConditionCheckItem"}
