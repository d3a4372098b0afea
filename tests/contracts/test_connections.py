"""Connections and their secrets: in memory, and on moto's DynamoDB and Secrets Manager."""

from __future__ import annotations

import threading
from datetime import timedelta

import boto3
import pytest

from stellwerk.aws.connections import DynamoConnections
from stellwerk.aws.secrets import ManagedSecrets
from stellwerk.kernel.errors import BadInput, Conflict, NotFound
from stellwerk.tenancy.scope import of_run
from stellwerk.toolboxes.model import Connection, ConnectionId, Kind, Pending
from stellwerk.toolboxes.ports import Connections, Secrets
from tests.contracts.records import SCOPE, START, STRANGERS
from tests.contracts.stores import Moto
from tests.fakes.connections import FakeConnections, FakeSecrets
from tests.secrets.vault import seeded

ONE = ConnectionId("c-1")
BEN = of_run("m-one", "i-one", "u-ben")


@pytest.fixture(params=["fake", "moto"])
def store(request: pytest.FixtureRequest) -> Connections:
    if request.param == "fake":
        return FakeConnections()
    moto: Moto = request.getfixturevalue("moto")
    return DynamoConnections(moto.platform())


@pytest.fixture(params=["fake", "moto"])
def secrets(request: pytest.FixtureRequest) -> Secrets:
    if request.param == "fake":
        return FakeSecrets()
    request.getfixturevalue("moto")
    session = boto3.Session("test", "test", region_name="us-east-1")
    client = session.client("secretsmanager")
    return ManagedSecrets(lambda _: client, "stellwerk")


def connection(number: int = 1) -> Connection:
    return Connection(
        id=ConnectionId(f"c-{number}"),
        kind=Kind.SMTP_IMAP,
        label="Office",
        owner=SCOPE.user,
        settings={"imap_host": "imap.example.com"},
        created=START,
    )


def pending() -> Pending:
    return Pending(connection=ONE, verifier="v", redirect="r", expires=START + timedelta(minutes=9))


def test_a_connection_is_what_was_added_once(store: Connections) -> None:
    added = store.add(SCOPE, connection())
    assert added == connection().model_copy(update={"revision": 1})
    assert store.get(SCOPE, ONE) == added
    with pytest.raises(Conflict):
        store.add(SCOPE, connection())


def test_a_write_replaces_the_revision_that_it_carries(store: Connections) -> None:
    added = store.add(SCOPE, connection())
    renamed = store.write(SCOPE, added.model_copy(update={"label": "Post"}))
    assert (renamed.revision, store.get(SCOPE, ONE).label) == (2, "Post")
    with pytest.raises(Conflict):
        store.write(SCOPE, added)
    store.remove(SCOPE, ONE)
    store.remove(SCOPE, ONE)
    with pytest.raises(NotFound):
        store.get(SCOPE, ONE)
    with pytest.raises(Conflict):
        store.write(SCOPE, renamed)


def test_connections_are_listed_by_page(store: Connections) -> None:
    for number in range(4):
        store.add(SCOPE, connection(number))
    first = store.list(SCOPE, cursor=None, limit=3)
    rest = store.list(SCOPE, cursor=first.cursor, limit=3)
    assert [one.id for one in (*first.items, *rest.items)] == ["c-0", "c-1", "c-2", "c-3"]
    assert rest.cursor is None
    with pytest.raises(BadInput):
        store.list(SCOPE, cursor="nonsense", limit=3)


def test_one_of_many_gets_the_lock_until_it_is_free_or_its_holder_has_died(
    store: Connections,
) -> None:
    got: list[str] = []

    def try_it(name: str) -> None:
        if store.lock(SCOPE, ONE, now=START, holder=name):
            got.append(name)

    threads = [threading.Thread(target=try_it, args=(f"h-{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 1
    store.unlock(SCOPE, ONE, holder="somebody else")
    assert not store.lock(SCOPE, ONE, now=START + timedelta(seconds=29), holder="late")
    assert store.lock(SCOPE, ONE, now=START + timedelta(seconds=30), holder="late")
    store.unlock(SCOPE, ONE, holder=got[0])
    assert not store.lock(SCOPE, ONE, now=START + timedelta(seconds=31), holder="later")
    store.unlock(SCOPE, ONE, holder="late")
    assert store.lock(SCOPE, ONE, now=START + timedelta(seconds=31), holder="later")


def test_a_state_comes_back_once_and_to_its_user(store: Connections) -> None:
    store.ask(SCOPE, "state", pending())
    for other in (*STRANGERS, BEN):
        with pytest.raises(NotFound):
            store.answered(other, "state")
    assert store.answered(SCOPE, "state") == pending()
    with pytest.raises(NotFound):
        store.answered(SCOPE, "state")


def test_a_stranger_finds_and_changes_nothing(store: Connections) -> None:
    added = store.add(SCOPE, connection())
    assert store.lock(SCOPE, ONE, now=START, holder="mine")
    for stranger in STRANGERS:
        with pytest.raises(NotFound):
            store.get(stranger, ONE)
        with pytest.raises(Conflict):
            store.write(stranger, added)
        store.remove(stranger, ONE)
        store.unlock(stranger, ONE, holder="mine")
        assert store.list(stranger, cursor=None, limit=9).items == []
    assert store.get(SCOPE, ONE) == added
    assert not store.lock(SCOPE, ONE, now=START, holder="other")


def test_a_secret_is_kept_replaced_and_forgotten(secrets: Secrets) -> None:
    with pytest.raises(NotFound):
        secrets.get(SCOPE, ONE)
    for word in ("first", "second"):
        secrets.put(SCOPE, ONE, {"password": seeded(word)})
        assert secrets.get(SCOPE, ONE) == {"password": seeded(word)}
    for stranger in STRANGERS:
        with pytest.raises(NotFound):
            secrets.get(stranger, ONE)
        secrets.remove(stranger, ONE)
        secrets.put(stranger, ONE, {})
    assert secrets.get(SCOPE, ONE) == {"password": seeded("second")}
    secrets.remove(SCOPE, ONE)
    secrets.remove(SCOPE, ONE)
    with pytest.raises(NotFound):
        secrets.get(SCOPE, ONE)
