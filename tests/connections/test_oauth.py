"""Consent with PKCE at an authorisation server over HTTP, and tokens renewed once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlsplit

import pytest

from stellwerk.kernel.errors import (
    BadInput,
    Conflict,
    ConnectionRejected,
    Forbidden,
    NotFound,
    RateLimited,
    ServiceUnavailable,
)
from stellwerk.toolboxes.connections import Changes, New
from stellwerk.toolboxes.kinds import MAILBOXES
from stellwerk.toolboxes.model import Kind, Status
from tests.connections.desk import ANNA, BEN, Desk
from tests.fakes.consent import consented
from tests.fakes.graph import REDIRECT, microsoft
from tests.secrets.vault import seeded


@pytest.fixture
def desk() -> Iterator[Desk]:
    with microsoft() as server:
        yield Desk(server)


def test_an_account_is_active_once_its_owner_has_consented(desk: Desk) -> None:
    made = desk.account(authorised=False)
    assert (made.status, made.problem) == (Status.EXPIRED, "Its owner has not consented yet.")
    assert made.scopes == ("offline_access", "User.Read", "Mail.Read")
    with pytest.raises(ConnectionRejected, match="not consented"):
        desk.accounts.usable(BEN, made.id, MAILBOXES)
    url = desk.authorising.begin(BEN, made.id, REDIRECT)
    asked = parse_qs(urlsplit(url).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["scope"] == ["offline_access User.Read Mail.Read"]
    assert "code_verifier" not in asked
    state, code = consented(url)
    assert desk.authorising.finish(BEN, state, code).status is Status.ACTIVE
    assert desk.microsoft.redeemed == 1
    assert desk.connections.test(BEN, made.id).message == "Microsoft lets office@example.com in."
    assert desk.acts()[-4:-2] == ["connection.authorise begun", "connection.authorise done"]


def test_a_state_is_good_once_and_for_its_user(desk: Desk) -> None:
    made = desk.account(authorised=False)
    state, code = consented(desk.authorising.begin(BEN, made.id, REDIRECT))
    with pytest.raises(NotFound, match="obody was sent away"):
        desk.authorising.finish(ANNA, state, code)
    with pytest.raises(NotFound):
        desk.authorising.finish(BEN, "forged", code)
    desk.authorising.finish(BEN, state, code)
    with pytest.raises(NotFound):
        desk.authorising.finish(BEN, state, code)


def test_a_code_that_was_given_to_another_verifier_is_refused(desk: Desk) -> None:
    made = desk.account(authorised=False)
    state, _ = consented(desk.authorising.begin(BEN, made.id, REDIRECT))
    _, stolen = consented(desk.authorising.begin(BEN, made.id, REDIRECT))
    with pytest.raises(ConnectionRejected, match="invalid_grant"):
        desk.authorising.finish(BEN, state, stolen)
    assert desk.microsoft.redeemed == 0
    assert desk.connections.get(BEN, made.id).status is Status.EXPIRED


def test_a_consent_takes_ten_minutes_at_most(desk: Desk) -> None:
    made = desk.account(authorised=False)
    state, code = consented(desk.authorising.begin(BEN, made.id, REDIRECT))
    desk.clock.advance(minutes=10)
    with pytest.raises(Conflict, match="ten minutes"):
        desk.authorising.finish(BEN, state, code)


def test_only_its_owner_consents_and_only_for_an_account_that_asks(desk: Desk) -> None:
    made, box = desk.account(authorised=False), desk.mailbox()
    with pytest.raises(Forbidden, match="Only its owner"):
        desk.authorising.begin(ANNA, made.id, REDIRECT)
    with pytest.raises(BadInput, match="asks nobody"):
        desk.authorising.begin(BEN, box.id, REDIRECT)
    with pytest.raises(BadInput, match="sent back there"):
        desk.authorising.begin(BEN, made.id, "https://attacker.example/connected")
    desk.connections.revoke(BEN, made.id)
    with pytest.raises(Conflict, match="stays so"):
        desk.authorising.begin(BEN, made.id, REDIRECT)


def test_an_application_of_ones_own_is_named_with_its_secret(desk: Desk) -> None:
    new = New(Kind.MICROSOFT, "x", {"client_id": "mine"}, {"client_secret": seeded("client")})
    made = desk.connections.create(BEN, new)
    url = desk.authorising.begin(BEN, made.id, REDIRECT)
    assert parse_qs(urlsplit(url).query)["client_id"] == ["mine"]
    assert "seeded" not in url


def test_a_token_is_used_until_five_minutes_before_its_end(desk: Desk) -> None:
    made = desk.account()
    first = desk.tokens.token(BEN, made)
    desk.clock.advance(minutes=54)
    assert desk.tokens.token(BEN, made) == first
    desk.clock.advance(minutes=1)
    second = desk.tokens.token(BEN, made)
    assert second != first
    assert desk.microsoft.refreshed == 1
    assert desk.tokens.token(BEN, made) == second


def test_ten_who_need_a_new_token_at_once_renew_it_once(desk: Desk) -> None:
    made = desk.account()
    desk.clock.advance(hours=2)
    desk.microsoft.slow = threading.Event()
    opened = threading.Timer(0.3, desk.microsoft.slow.set)
    opened.start()
    barrier = threading.Barrier(10)

    def ask(_: int) -> str:
        barrier.wait(10)
        while True:
            try:
                return desk.tokens.token(BEN, made)
            except ServiceUnavailable:  # the fake's pauses take no time
                continue

    with ThreadPoolExecutor(10) as pool:
        tokens = set(pool.map(ask, range(10)))
    opened.join()
    assert len(tokens) == 1
    assert desk.microsoft.refreshed == 1


def test_a_consent_that_is_over_marks_the_connection(desk: Desk) -> None:
    made = desk.account()
    desk.microsoft.revoke()
    verdict = desk.connections.test(BEN, made.id)
    assert not verdict.works
    assert "invalid_grant" in verdict.message
    assert verdict.remedy == "Its owner must authorise it again."
    found = desk.connections.get(BEN, made.id)
    assert (found.status, found.checked) == (Status.EXPIRED, desk.clock.now())
    with pytest.raises(ConnectionRejected):
        desk.accounts.usable(BEN, made.id, MAILBOXES)
    state, code = consented(desk.authorising.begin(BEN, made.id, REDIRECT))
    assert desk.authorising.finish(BEN, state, code).problem == ""


def test_who_waits_for_a_renewal_that_is_refused_is_refused_too(desk: Desk) -> None:
    made = desk.account()
    desk.clock.advance(hours=2)
    assert desk.store.lock(BEN, made.id, now=desk.clock.now(), holder="another")
    with pytest.raises(ServiceUnavailable, match="too long"):
        desk.tokens.token(BEN, made)
    stored = desk.store.get(BEN, made.id)
    desk.store.write(BEN, stored.model_copy(update={"status": Status.EXPIRED}))
    with pytest.raises(ConnectionRejected, match="consent is over"):
        desk.tokens.token(BEN, made)
    assert desk.microsoft.refreshed == 0


def test_while_another_renews_a_token_that_is_still_good_is_used(desk: Desk) -> None:
    made = desk.account()
    first = desk.tokens.token(BEN, made)
    desk.clock.advance(minutes=57)
    assert desk.store.lock(BEN, made.id, now=desk.clock.now(), holder="another")
    assert desk.tokens.token(BEN, made) == first
    desk.clock.advance(seconds=31)
    assert desk.tokens.token(BEN, made) != first, "the lock's holder has died"


def test_an_issuer_that_is_down_expires_nothing(desk: Desk) -> None:
    made = desk.account()
    desk.clock.advance(hours=2)
    desk.microsoft.broken = 1
    with pytest.raises(ServiceUnavailable, match="status 503"):
        desk.tokens.token(BEN, made)
    assert desk.connections.get(BEN, made.id).status is Status.ACTIVE
    assert desk.tokens.token(BEN, made)
    desk.microsoft.busy = 1
    with pytest.raises(RateLimited) as busy:
        desk.accounts.mailbox(BEN, made).check()
    assert busy.value.retry_after == 7


def test_a_token_that_graph_refuses_is_renewed_once(desk: Desk) -> None:
    made = desk.account()
    desk.microsoft.access.clear()
    assert desk.accounts.mailbox(BEN, made).check().endswith("in.")
    assert desk.microsoft.refreshed == 1


def test_new_settings_of_an_account_need_a_new_consent(desk: Desk) -> None:
    made = desk.account()
    changed = desk.connections.update(
        BEN, made.id, None, Changes(settings={"tenant": "muster.example"}, secret={})
    )
    assert changed.status is Status.EXPIRED
    with pytest.raises(ConnectionRejected, match="no consent to renew"):
        desk.tokens.token(BEN, changed)
