"""Whatever watching asks for, the template allows to system Lambdas."""

from __future__ import annotations

from tests.aws import test_remains
from tests.contracts import test_outbox, test_run_events, test_tallies
from tests.security.adopted import adopted
from tests.security.guard import GuardedMoto

GROUP = "system"
globals().update(adopted(test_run_events, test_outbox, test_tallies, test_remains))


def test_the_policies_were_asked(moto: GuardedMoto) -> None:
    dynamo = ("BatchGetItem", "BatchWriteItem", "PutItem", "Query", "UpdateItem")
    assert moto.asked >= {f"dynamodb:{action}" for action in dynamo} | {"s3:DeleteObject"}
