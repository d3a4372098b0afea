"""Tokens follow the workflow, proofs and deliveries follow the request."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, Unauthenticated
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.tenancy.scope import Scope, of_platform
from stellwerk.triggers.deliveries import delivery_of
from stellwerk.triggers.hooks import FORM, WEBHOOK, Hook, HookPart
from stellwerk.triggers.model import Armed, TriggerNode
from stellwerk.triggers.proofs import Authentication, Incoming, Kind, check_proof, proof_headers
from stellwerk.triggers.webhooks import challenge_in
from tests.contracts.records import SCOPE, WORKFLOW, workflow
from tests.fakes.clock import FixedClock
from tests.fakes.triggers import FakeAddresses, FakeHooks

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
ORDER = NodeKey("order")


def armed(*nodes: TriggerNode, active: bool = True) -> Armed:
    published = workflow().model_copy(update={"active": active, "published": 1})
    return Armed(published, nodes)


def node(type_: str = WEBHOOK, **parameters: JsonValue) -> TriggerNode:
    return TriggerNode(ORDER, type_, parameters)


class Armory:
    """A part over fakes."""

    def __init__(self, hooks: FakeHooks | None = None) -> None:
        self.hooks = hooks or FakeHooks()
        self.addresses = FakeAddresses()
        self.part = HookPart(self.hooks, self.addresses, FixedClock())

    def synchronise(self, wanted: Armed) -> list[Hook]:
        self.part.synchronise(SCOPE, wanted)
        return list(self.hooks.of_workflow(SCOPE, WORKFLOW))


def test_a_token_is_given_once_and_leads_to_its_node() -> None:
    armory = Armory()
    [hook] = armory.synchronise(armed(node()))
    [again] = armory.synchronise(armed(node()))
    assert (again, hook.revision) == (hook, 1)
    address = armory.addresses.find(of_platform(), hook.token)
    assert address is not None
    assert (address.workflow, address.node) == (WORKFLOW, ORDER)
    assert hook.path == f"/hooks/{hook.token}"
    assert hook.token not in repr(hook)


def test_another_version_changes_the_parameters_and_not_the_token() -> None:
    armory = Armory()
    [before] = armory.synchronise(armed(node()))
    [after] = armory.synchronise(armed(node(mode="wait")))
    assert (after.token, after.parameters) == (before.token, {"mode": "wait"})


def test_a_pause_keeps_the_token_and_a_node_that_goes_takes_it_along() -> None:
    armory = Armory()
    [before] = armory.synchronise(armed(node()))
    [paused] = armory.synchronise(armed(active=False))
    assert (paused.token, paused.armed) == (before.token, False)
    [back] = armory.synchronise(armed(node()))
    assert (back.token, back.armed) == (before.token, True)
    assert armory.synchronise(armed()) == []
    assert armory.addresses.kept == {}


def test_a_node_of_another_type_has_another_address() -> None:
    armory = Armory()
    [before] = armory.synchronise(armed(node()))
    [after] = armory.synchronise(armed(node(FORM)))
    assert (after.type, after.token != before.token) == (FORM, True)
    assert armory.addresses.find(of_platform(), before.token) is None


class Hurried(FakeHooks):
    """Hooks that somebody else writes first."""

    def __init__(self) -> None:
        super().__init__()
        self.hurry = True

    def write(self, scope: Scope, hook: Hook) -> Hook:
        if self.hurry:
            self.hurry = False
            super().write(scope, hook.model_copy(update={"token": "faster"}))
            raise Conflict("somebody was faster")
        return super().write(scope, hook)


def test_of_two_who_arm_at_once_one_gives_the_token() -> None:
    armory = Armory(Hurried())
    [hook] = armory.synchronise(armed(node()))
    assert hook.token == "faster"
    assert armory.addresses.kept == {}


SECRET = "c2VjcmV0IHNlY3JldA=="


def proof(kind: Kind, *, at: datetime = NOW, body: bytes = b"{}", secret: str = SECRET) -> Incoming:
    """Return a request that proves itself in that way."""
    stamp = str(int(at.timestamp()))
    key = base64.b64decode(secret) if kind == "standard" else secret.encode()
    told = b"d-1." + stamp.encode() if kind == "standard" else stamp.encode()
    mac = hmac.new(key, told + b"." + body, hashlib.sha256)
    headers = {
        "hmac": {"x-signature": f"sha256={mac.hexdigest()}", "x-timestamp": stamp},
        "stripe": {"stripe-signature": f"t={stamp}, v1=00, v1={mac.hexdigest()}"},
        "standard": {
            "webhook-id": "d-1",
            "webhook-timestamp": stamp,
            "webhook-signature": f"v1,AAAA v1,{base64.b64encode(mac.digest()).decode()}",
        },
    }[kind]
    return Incoming(body, headers)


SIGNED: list[Kind] = ["hmac", "stripe", "standard"]


@pytest.mark.parametrize("kind", SIGNED)
@pytest.mark.parametrize("late", [-300, 0, 300])
def test_what_is_signed_in_time_is_taken(kind: Kind, late: int) -> None:
    got = proof(kind, at=NOW + timedelta(seconds=late))
    check_proof(Authentication(kind=kind), SECRET, got, NOW)


@pytest.mark.parametrize("kind", SIGNED)
@pytest.mark.parametrize("late", [-301, 301])
def test_what_is_signed_too_early_or_late_is_not(kind: Kind, late: int) -> None:
    got = proof(kind, at=NOW + timedelta(seconds=late))
    with pytest.raises(Unauthenticated):
        check_proof(Authentication(kind=kind), SECRET, got, NOW)


@pytest.mark.parametrize("kind", SIGNED)
def test_a_signature_is_of_that_body_by_that_secret(kind: Kind) -> None:
    good = proof(kind)
    other = base64.b64encode(b"another").decode()
    for got, secret in (
        (Incoming(b"{ }", good.headers), SECRET),
        (good, other),
        (good, None),
        (good, ""),
        (Incoming(b"{}"), SECRET),
    ):
        with pytest.raises(Unauthenticated):
            check_proof(Authentication(kind=kind), secret, got, NOW)


def test_a_time_that_is_none_is_refused() -> None:
    for stamp in ("", "soon", "٣", "9" * 13):
        mac = hmac.new(SECRET.encode(), f"{stamp}.".encode(), hashlib.sha256).hexdigest()
        got = Incoming(b"", {"x-signature": mac, "x-timestamp": stamp})
        with pytest.raises(Unauthenticated):
            check_proof(Authentication(kind="hmac"), SECRET, got, NOW)


@pytest.mark.parametrize("kind", ["basic", "bearer", "header"])
def test_odd_headers_prove_nothing(kind: Kind) -> None:
    for value in ("", "Basic", "Basic ???", "Bearer", "Digest x", f"Token {SECRET}"):
        got = Incoming(b"", {"authorization": value, "x-webhook-secret": value})
        with pytest.raises(Unauthenticated):
            check_proof(Authentication(kind=kind), SECRET, got, NOW)


def test_a_secret_that_is_no_key_proves_nothing() -> None:
    with pytest.raises(Unauthenticated):
        check_proof(Authentication(kind="standard"), "no base 64", proof("standard"), NOW)


def test_headers_that_prove_something_are_known() -> None:
    assert "x-mine" in proof_headers(Authentication(kind="header", header="X-Mine"))
    assert "authorization" in proof_headers(Authentication())


def test_a_delivery_is_named_by_path_header_event_or_content() -> None:
    body: JsonObject = {"id": "evt_1", "order": {"id": 7}}
    plain = Incoming(b"{}")
    named = Incoming(b"{}", {"x-github-delivery": "g-1", "webhook-id": "w-1"})
    assert delivery_of(ORDER, named, body, NOW, path="order.id") == "order/body/7"
    assert delivery_of(ORDER, named, body, NOW) == "order/x-github-delivery/g-1"
    assert delivery_of(ORDER, plain, body, NOW, kind="stripe") == "order/stripe/evt_1"
    first = delivery_of(ORDER, plain, body, NOW)
    assert first == delivery_of(ORDER, plain, body, NOW + timedelta(milliseconds=900))
    assert first != delivery_of(ORDER, plain, body, NOW + timedelta(seconds=1))
    assert first != delivery_of(ORDER, Incoming(b"{ }"), body, NOW)
    assert first == delivery_of(ORDER, plain, [], NOW, kind="slack")


@pytest.mark.parametrize("body", [{}, {"order": 7}, {"order": {"id": None}}, {"order": {"id": ""}}])
def test_a_delivery_without_its_name_is_refused(body: JsonObject) -> None:
    with pytest.raises(BadInput, match=r"order\.id"):
        delivery_of(ORDER, Incoming(b"{}"), body, NOW, path="order.id")


def test_challenges_are_short_texts() -> None:
    assert challenge_in({"validationToken": "x"}, None) == "x"
    assert challenge_in({}, {"type": "url_verification", "challenge": "y"}) == "y"
    assert challenge_in({}, {"type": "url_verification", "challenge": 7}) is None
    assert challenge_in({"validationToken": "x" * 5000}, None) is None
    assert challenge_in({}, {"type": "other", "challenge": "y"}) is None
