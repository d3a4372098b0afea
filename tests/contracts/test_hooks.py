"""Hooks, addresses, secrets and subscriptions: the same in memory and on DynamoDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

import pytest

from stellwerk.aws.bodies import Bodies
from stellwerk.aws.expressions import Item, Write
from stellwerk.aws.hooks import DynamoAddresses, DynamoHooks, DynamoSecrets
from stellwerk.aws.items import Items, Range
from stellwerk.aws.keys import Key
from stellwerk.aws.subscriptions import DynamoSubscriptions
from stellwerk.aws.values import S3Values
from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.kernel.json import JsonValue
from stellwerk.tenancy.scope import of_platform
from stellwerk.triggers.hooks import WEBHOOK, Address, Addresses, Hook, Hooks
from stellwerk.triggers.secrets import Secrets
from stellwerk.triggers.subscriptions import (
    EVENT,
    FAILURE,
    FILE,
    Subscription,
    Subscriptions,
    topic_of,
)
from tests.contracts.records import SCOPE, START, STRANGERS, WORKFLOW
from tests.contracts.stores import Moto
from tests.fakes.triggers import FakeAddresses, FakeHooks, FakeSecrets, FakeSubscriptions

PLATFORM = of_platform()
OTHER = WorkflowId("w-2")


@pytest.fixture(params=["fake", "moto"])
def is_fake(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "fake")


@pytest.fixture
def hooks(is_fake: bool, moto: Moto) -> Hooks:
    if is_fake:
        return FakeHooks()
    values = S3Values(lambda _: moto.s3, moto.bucket())
    return DynamoHooks(moto.platform(), Bodies(values))


@pytest.fixture
def addresses(is_fake: bool, moto: Moto) -> Addresses:
    return FakeAddresses() if is_fake else DynamoAddresses(moto.platform())


@pytest.fixture
def secrets(is_fake: bool, moto: Moto) -> Secrets:
    return FakeSecrets() if is_fake else DynamoSecrets(moto.platform())


@pytest.fixture
def subscriptions(is_fake: bool, moto: Moto) -> Subscriptions:
    return FakeSubscriptions() if is_fake else DynamoSubscriptions(moto.platform())


def hook(node: str = "order", workflow: WorkflowId = WORKFLOW) -> Hook:
    return Hook(
        workflow=workflow,
        node=NodeKey(node),
        type=WEBHOOK,
        token=f"token-{node}",
        parameters={"mode": "wait"},
        created=START,
    )


def test_a_hook_is_what_was_written(hooks: Hooks) -> None:
    written = hooks.write(SCOPE, hook())
    assert written == hook().model_copy(update={"revision": 1})
    assert hooks.get(SCOPE, WORKFLOW, NodeKey("order")) == written
    again = hooks.write(SCOPE, written.model_copy(update={"armed": False}))
    assert (again.revision, hooks.of_workflow(SCOPE, WORKFLOW)) == (2, [again])


def test_a_workflow_has_its_hooks_alone(hooks: Hooks) -> None:
    for node in ("b", "a"):
        hooks.write(SCOPE, hook(node))
    hooks.write(SCOPE, hook("c", OTHER))
    assert [one.node for one in hooks.of_workflow(SCOPE, WORKFLOW)] == ["a", "b"]


def test_whoever_has_not_seen_a_hook_changes_nothing(hooks: Hooks) -> None:
    written = hooks.write(SCOPE, hook())
    for stale in (hook(), written.model_copy(update={"revision": 7})):
        with pytest.raises(Conflict):
            hooks.write(SCOPE, stale)
        hooks.remove(SCOPE, stale)
    assert hooks.of_workflow(SCOPE, WORKFLOW) == [written]
    hooks.remove(SCOPE, written)
    hooks.remove(SCOPE, written)
    assert hooks.of_workflow(SCOPE, WORKFLOW) == []


def test_strangers_find_and_change_no_hook(hooks: Hooks) -> None:
    written = hooks.write(SCOPE, hook())
    for stranger in STRANGERS:
        assert hooks.of_workflow(stranger, WORKFLOW) == []
        with pytest.raises(NotFound):
            hooks.get(stranger, WORKFLOW, NodeKey("order"))
        with pytest.raises(Conflict):
            hooks.write(stranger, written)
        hooks.remove(stranger, written)
    assert hooks.get(SCOPE, WORKFLOW, NodeKey("order")) == written


def test_a_token_leads_to_its_place_and_is_forgotten(addresses: Addresses) -> None:
    address = Address(
        mandate=SCOPE.mandate, instance=SCOPE.instance, workflow=WORKFLOW, node=NodeKey("order")
    )
    addresses.keep(PLATFORM, "token", address)
    assert addresses.find(PLATFORM, "token") == address
    assert (address.scope.mandate, address.scope.instance) == (SCOPE.mandate, SCOPE.instance)
    assert addresses.find(PLATFORM, "tokem") is None
    for stranger in (SCOPE, *STRANGERS):
        assert addresses.find(stranger, "token") is None
        addresses.forget(stranger, "token")
    addresses.forget(PLATFORM, "token")
    addresses.forget(PLATFORM, "token")
    assert addresses.find(PLATFORM, "token") is None


def test_a_secret_is_its_instances_alone(secrets: Secrets) -> None:
    secrets.put(SCOPE, "hook/w/n", "one")
    secrets.put(SCOPE, "hook/w/n", "two")
    assert secrets.get(SCOPE, "hook/w/n") == "two"
    assert secrets.get(SCOPE, "hook/w/m") is None
    for stranger in STRANGERS:
        assert secrets.get(stranger, "hook/w/n") is None
        secrets.put(stranger, "hook/w/n", "three")
    assert secrets.get(SCOPE, "hook/w/n") == "two"


def waiting(
    node: str, type_: str, workflow: WorkflowId = WORKFLOW, **named: JsonValue
) -> Subscription:
    return Subscription(workflow=workflow, node=NodeKey(node), type=type_, parameters=named)


SHOP = waiting("a", EVENT, pattern={"source": ["shop", "till"]})
ANY = waiting("b", EVENT, pattern={"type": ["x"]})
SOME_FILE = waiting("c", FILE, prefix="a")
SOME_FAILURE = waiting("d", FAILURE, OTHER)


def test_what_waits_is_found_by_topic(subscriptions: Subscriptions) -> None:
    subscriptions.replace(SCOPE, WORKFLOW, [SHOP, ANY, SOME_FILE])
    subscriptions.replace(SCOPE, OTHER, [SOME_FAILURE])
    for topic in (topic_of("shop"), topic_of("till")):
        assert subscriptions.of(SCOPE, topic) == [SHOP]
    assert subscriptions.of(SCOPE, topic_of("other")) == []
    assert subscriptions.of(SCOPE, "event") == [ANY]
    assert subscriptions.of(SCOPE, "file") == [SOME_FILE]
    assert subscriptions.of(SCOPE, "failure") == [SOME_FAILURE]


def test_what_no_longer_waits_is_gone(subscriptions: Subscriptions) -> None:
    subscriptions.replace(SCOPE, WORKFLOW, [SHOP, SOME_FILE])
    changed = waiting("a", EVENT, pattern={"source": ["till", "bank"]})
    subscriptions.replace(SCOPE, WORKFLOW, [changed])
    assert subscriptions.of(SCOPE, topic_of("shop")) == []
    assert subscriptions.of(SCOPE, topic_of("till")) == [changed]
    assert subscriptions.of(SCOPE, "file") == []
    subscriptions.replace(SCOPE, WORKFLOW, [])
    assert subscriptions.of(SCOPE, topic_of("bank")) == []


def test_strangers_neither_find_nor_end_what_waits(subscriptions: Subscriptions) -> None:
    subscriptions.replace(SCOPE, WORKFLOW, [SHOP])
    for stranger in STRANGERS:
        assert subscriptions.of(stranger, topic_of("shop")) == []
        subscriptions.replace(stranger, WORKFLOW, [])
    assert subscriptions.of(SCOPE, topic_of("shop")) == [SHOP]


def test_more_than_one_transaction_holds(subscriptions: Subscriptions) -> None:
    many = [waiting(f"n{number:03}", FILE, prefix=str(number)) for number in range(120)]
    subscriptions.replace(SCOPE, WORKFLOW, many)
    assert subscriptions.of(SCOPE, "file") == many
    subscriptions.replace(SCOPE, WORKFLOW, many[:1])
    assert subscriptions.of(SCOPE, "file") == many[:1]


class Watched:
    """A table that counts transactions, and lets something happen after each reading."""

    def __init__(self, items: Items, act: Callable[[], None] | None = None) -> None:
        self._items = items
        self._act = act
        self.transactions = 0

    def get(self, key: Key) -> Item | None:
        found = self._items.get(key)
        if self._act is not None:
            self._act()
        return found

    def query(self, wanted: Range) -> Iterator[Item]:
        return self._items.query(wanted)

    def transact(self, writes: Sequence[Write]) -> None:
        self.transactions += 1
        self._items.transact(writes)


def test_nothing_is_written_where_nothing_differs(moto: Moto) -> None:
    watched = Watched(moto.platform())
    kept = DynamoSubscriptions(cast("Items", watched))
    for _ in range(3):
        kept.replace(SCOPE, WORKFLOW, [SHOP])
    assert watched.transactions == 1


def test_two_who_change_a_workflow_at_once_do_not_mix(moto: Moto) -> None:
    items = moto.platform()
    other = DynamoSubscriptions(items)
    watched = Watched(items, lambda: other.replace(SCOPE, WORKFLOW, [SOME_FILE]))
    kept = DynamoSubscriptions(cast("Items", watched))
    with pytest.raises(Conflict):
        kept.replace(SCOPE, WORKFLOW, [SHOP])
    assert kept.of(SCOPE, "file") == [SOME_FILE]
    assert kept.of(SCOPE, topic_of("shop")) == []
