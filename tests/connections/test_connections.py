"""Connections: made, seen, changed, used and ended by those who may."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, Forbidden, InvalidParameters, NotFound
from stellwerk.kernel.json import JsonObject
from stellwerk.kernel.records import Stale
from stellwerk.tenancy.access import Level
from stellwerk.toolboxes.connections import Changes, New
from stellwerk.toolboxes.kinds import MAILBOXES
from stellwerk.toolboxes.known import KnownConnections
from stellwerk.toolboxes.model import ConnectionId, Kind, Status
from tests.connections.desk import ANNA, BEN, CLARA, MAILBOX, Desk, scope
from tests.secrets.vault import seeded


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_connection_is_kept_apart_from_its_secret(desk: Desk) -> None:
    made = desk.mailbox()
    assert (made.owner, made.status, made.shared) == ("u-ben", Status.ACTIVE, False)
    assert made.settings == {
        **MAILBOX,
        "imap_port": 993,
        "imap_security": "tls",
        "smtp_port": 465,
        "smtp_security": "tls",
    }
    assert desk.kept.get(BEN, made.id) == {"password": seeded("mailbox")}
    assert seeded("mailbox") not in made.model_dump_json()
    assert desk.acts() == ["connection.create begun", "connection.create done"]


@pytest.mark.parametrize(
    ("kind", "settings", "secret", "told"),
    [
        (Kind.SMTP_IMAP, {}, {"password": "p"}, "settings.user: Field required"),
        (Kind.SMTP_IMAP, {**MAILBOX, "imap_host": "a b"}, {"password": "p"}, "settings.imap_host"),
        (Kind.SMTP_IMAP, MAILBOX, {}, "secret.password"),
        (Kind.SMTP_IMAP, MAILBOX, {"password": "p", "more": 1}, "secret.more"),
        (Kind.MICROSOFT, {"tenant": "a/b"}, {}, "settings.tenant"),
        (Kind.SLACK, {}, {}, "exactly one"),
        (Kind.SLACK, {}, {"webhook_url": "https://x", "bot_token": "t"}, "exactly one"),
        (Kind.WEBHOOK, {}, {"url": "ftp://x"}, "secret.url"),
    ],
)
def test_what_is_no_connection_is_refused_by_field(
    desk: Desk, kind: Kind, settings: JsonObject, secret: JsonObject, told: str
) -> None:
    with pytest.raises(BadInput, match=told):
        desk.connections.create(BEN, New(kind, "x", settings, secret))
    assert desk.kept.kept == {}


def test_a_refusal_repeats_no_secret(desk: Desk) -> None:
    secret: JsonObject = {"url": f"ftp://{seeded('address')}", "headers": [seeded("header")]}
    with pytest.raises(BadInput) as refused:
        desk.connections.create(BEN, New(Kind.WEBHOOK, "x", {}, secret))
    assert "sw-seeded" not in refused.value.message


@pytest.mark.parametrize("label", ["", "  ", "a\nb", "x" * 201])
def test_a_label_is_a_line(desk: Desk, label: str) -> None:
    with pytest.raises(BadInput, match="label"):
        desk.connections.create(BEN, New(Kind.SMTP_IMAP, label, MAILBOX, {"password": "p"}))


def test_everybody_sees_his_own_and_the_instances(desk: Desk) -> None:
    bens, shared = desk.mailbox(BEN), desk.mailbox(ANNA, shared=True)
    annas = desk.mailbox(ANNA)
    assert {one.id for one in desk.connections.list(BEN).items} == {bens.id, shared.id}
    assert {one.id for one in desk.connections.list(ANNA).items} == {bens.id, shared.id, annas.id}
    assert desk.connections.get(BEN, shared.id) == shared
    with pytest.raises(NotFound):
        desk.connections.get(BEN, annas.id)
    with pytest.raises(Forbidden):
        desk.connections.list(CLARA)
    with pytest.raises(NotFound) as hidden:
        desk.connections.get(CLARA, shared.id)
    assert isinstance(hidden.value.__cause__, Forbidden)


def test_only_who_may_change_all_gives_to_the_instance(desk: Desk) -> None:
    with pytest.raises(Forbidden, match="your own alone"):
        desk.mailbox(BEN, shared=True)
    own = desk.mailbox(BEN)
    with pytest.raises(Forbidden):
        desk.connections.update(BEN, own.id, None, Changes(shared=True))
    with pytest.raises(Conflict, match="Only its owner"):
        desk.connections.update(ANNA, own.id, None, Changes(shared=True))
    annas = desk.mailbox(ANNA)
    given = desk.connections.update(ANNA, annas.id, 1, Changes(shared=True))
    assert given.shared
    with pytest.raises(Forbidden):
        desk.connections.update(BEN, annas.id, None, Changes(label="mine"))
    assert not desk.connections.update(ANNA, annas.id, 2, Changes(shared=False)).shared


def test_nobody_leads_a_kept_secret_elsewhere(desk: Desk) -> None:
    own = desk.mailbox(BEN)
    moved: JsonObject = {**MAILBOX, "imap_host": "imap.attacker.example"}
    with pytest.raises(BadInput, match="together with the secret"):
        desk.connections.update(ANNA, own.id, None, Changes(settings=moved))
    secret: JsonObject = {"password": seeded("annas-own")}
    changed = desk.connections.update(ANNA, own.id, 1, Changes(settings=moved, secret=secret))
    assert changed.settings["imap_host"] == "imap.attacker.example"
    assert desk.kept.get(BEN, own.id) == secret


def test_a_change_is_of_the_revision_that_was_seen(desk: Desk) -> None:
    own = desk.mailbox(BEN)
    assert desk.connections.update(BEN, own.id, 1, Changes(label="Post")).label == "Post"
    with pytest.raises(Stale) as stale:
        desk.connections.update(BEN, own.id, 1, Changes(label="Mail"))
    assert stale.value.current == desk.connections.get(BEN, own.id)


def test_a_revoked_connection_has_no_secret_and_no_way_back(desk: Desk) -> None:
    own = desk.mailbox(BEN)
    assert desk.connections.revoke(BEN, own.id).status is Status.REVOKED
    with pytest.raises(NotFound):
        desk.kept.get(BEN, own.id)
    with pytest.raises(Conflict, match="stays so"):
        desk.connections.update(BEN, own.id, None, Changes(secret={"password": "p"}))
    with pytest.raises(Conflict, match="revoked"):
        desk.connections.test(BEN, own.id)
    desk.connections.remove(BEN, own.id)
    with pytest.raises(NotFound):
        desk.connections.get(BEN, own.id)


def test_what_one_owns_nobody_else_uses_whatever_his_roles(desk: Desk) -> None:
    own, shared = desk.mailbox(BEN), desk.mailbox(ANNA, shared=True)
    known = KnownConnections(desk.store)
    assert known.known(BEN, own.id) and known.known(BEN, shared.id)
    assert not known.known(ANNA, own.id)
    assert not known.known(BEN, "c-nobodys")
    assert not known.known(scope("u-ben", Level.MY, "instance"), own.id)
    assert not known.known(scope("u-ben", Level.MY, "own"), shared.id)
    assert known.known(scope("u-ben", Level.NONE, "instance"), shared.id)
    assert desk.accounts.usable(BEN, own.id, MAILBOXES) == own
    with pytest.raises(NotFound):
        desk.connections.test(ANNA, own.id)
    with pytest.raises(NotFound):
        desk.accounts.usable(ANNA, own.id, MAILBOXES)
    with pytest.raises(InvalidParameters, match="of kind smtp_imap"):
        desk.accounts.usable(BEN, own.id, {Kind.SLACK})
    desk.connections.revoke(BEN, own.id)
    assert not known.known(BEN, own.id)


def test_a_stranger_finds_nothing(desk: Desk) -> None:
    own = desk.mailbox(BEN)
    elsewhere = scope("u-ben", Level.ALL, "own", "instance", place=type(BEN.instance)("i-two"))
    for act in (desk.connections.get, desk.connections.revoke, desk.connections.test):
        with pytest.raises(NotFound):
            act(elsewhere, ConnectionId(own.id))
    with pytest.raises(NotFound):
        desk.connections.remove(elsewhere, own.id)
    assert desk.connections.list(elsewhere).items == []
    assert desk.connections.get(BEN, own.id) == own
