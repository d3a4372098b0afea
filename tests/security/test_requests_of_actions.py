"""Whatever an action that waits for mail asks of the stores, the template allows to actions."""

from __future__ import annotations

from stellwerk.aws.connections import DynamoConnections
from stellwerk.aws.mailboxes import DynamoMailboxes
from stellwerk.toolboxes.model import ConnectionId
from tests.contracts import test_waits
from tests.contracts.records import SCOPE, START
from tests.contracts.test_mailboxes import INBOX, MAIL, WAIT
from tests.security.adopted import adopted
from tests.security.guard import GuardedMoto

GROUP = "actions"
globals().update(adopted(test_waits))


def test_a_step_watches_and_withdraws(moto: GuardedMoto) -> None:
    boxes = DynamoMailboxes(moto.platform())
    boxes.watch(SCOPE, INBOX, WAIT, START)
    assert boxes.arrive(SCOPE, INBOX.id, WAIT.id, MAIL) is not None
    assert boxes.withdraw(SCOPE, INBOX.id, WAIT.id) == MAIL
    boxes.unwatch(SCOPE, INBOX.id, WAIT)
    assert boxes.withdraw(SCOPE, INBOX.id, WAIT.id) is None


def test_a_token_is_renewed_under_the_lock(moto: GuardedMoto) -> None:
    store = DynamoConnections(moto.platform())
    one = ConnectionId("c-1")
    assert store.lock(SCOPE, one, now=START, holder="h")
    store.unlock(SCOPE, one, holder="h")


def test_the_policies_were_asked(moto: GuardedMoto) -> None:
    assert moto.asked >= {f"dynamodb:{one}" for one in ("PutItem", "UpdateItem", "DeleteItem")}
