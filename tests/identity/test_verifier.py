from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from api.identity import LONGEST, Verifier
from stellwerk.kernel.errors import Unauthenticated
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.tenancy.claims import Claims
from tests.fakes.clock import FixedClock
from tests.identity.issuers import (
    CLIENT,
    URL,
    Issuer,
    claims,
    part,
    signed,
    signed_with_public_key,
)


@dataclass
class World:
    issuer: Issuer = field(default_factory=lambda: Issuer("key-1", "key-2"))
    clock: FixedClock = field(default_factory=FixedClock)

    def verifier(self, *clients: str) -> Verifier:
        return Verifier(URL, clients, clock=self.clock, fetch=self.issuer.fetch)

    def claims(self, **changes: JsonValue) -> JsonObject:
        return claims(self.clock.now(), **changes)

    def seconds(self, **parts: float) -> int:
        return int((self.clock.now() + timedelta(**parts)).timestamp())


@pytest.fixture
def world() -> World:
    return World()


def test_a_person_is_known_by_an_access_token(world: World) -> None:
    token = signed(world.claims(email="a@b.example", email_verified=True, name="Anna"))
    assert world.verifier(CLIENT).verify(token) == Claims(
        issuer=URL,
        subject="subject-1",
        client_id=CLIENT,
        kind="person",
        expires=world.clock.now() + timedelta(hours=1),
        email="a@b.example",
        email_verified=True,
        name="Anna",
    )


def test_a_machine_is_its_client(world: World) -> None:
    token = signed(world.claims(sub="machine-1", client_id="machine-1", username=None))
    found = world.verifier().verify(token)
    assert (found.kind, found.subject, found.client_id) == ("machine", "machine-1", "machine-1")


@pytest.mark.parametrize(
    ("said", "verified"), [(True, True), ("true", True), ("false", False), (False, False)]
)
def test_cognito_writes_true_as_a_text(world: World, said: JsonValue, verified: bool) -> None:
    token = signed(world.claims(email="a@b.example", email_verified=said))
    assert world.verifier().verify(token).email_verified is verified


def test_an_address_that_nobody_vouches_for_is_not_verified(world: World) -> None:
    assert not world.verifier().verify(signed(world.claims(email="a@b.example"))).email_verified


@pytest.mark.parametrize(
    ("said", "taken"),
    [
        ({"client_id": "other"}, False),
        ({"client_id": None, "azp": "other"}, False),
        ({"client_id": None, "azp": CLIENT}, True),
        ({"client_id": None}, False),
        ({"aud": CLIENT, "client_id": None}, True),
        ({"aud": ["other", CLIENT]}, True),
        ({"aud": "other"}, False),
        ({"aud": []}, False),
    ],
)
def test_tokens_are_taken_of_known_clients_or_for_a_known_audience(
    world: World, said: JsonObject, taken: bool
) -> None:
    token = signed(world.claims(**said))
    if taken:
        assert world.verifier("x", CLIENT).verify(token).subject == "subject-1"
        return
    with pytest.raises(Unauthenticated, match="made for another application"):
        world.verifier("x", CLIENT).verify(token)


def refused(world: World) -> dict[str, tuple[str, str]]:
    """Return tokens that do not hold, with what is said of each."""
    whole = signed(world.claims())
    head, body, mac = whole.split(".")
    changed = part(world.claims(sub="somebody-else"))
    none = part({"alg": "none", "typ": "JWT", "kid": "key-1"})
    return {
        "empty": ("", "no JSON Web Token"),
        "words": ("let me in", "no JSON Web Token"),
        "cut": (f"{head}.{body[:20]}", "no JSON Web Token"),
        "two parts": (f"{head}.{body}", "no JSON Web Token"),
        "no letters of base64": (f"{head}.{body}.ä", "no JSON Web Token"),
        "a list": (f"{head}.{part([1])}.{mac}", "signature"),
        "long": ("x" * (LONGEST + 1), "more than"),
        "changed content": (f"{head}.{changed}.{mac}", "signature"),
        "changed signature": (f"{head}.{body}.{mac[:-8]}AAAAAAAA", "signature"),
        "no signature": (f"{head}.{body}.", "signature"),
        "alg none": (f"{none}.{body}.", "only algorithm"),
        "alg none, signed": (f"{none}.{body}.{mac}", "only algorithm"),
        "the public key as a secret": (signed_with_public_key(world.claims()), "only algorithm"),
        "key of another": (signed(world.claims(), "key-2", kid="key-1"), "signature"),
        "unknown key": (signed(world.claims(), "key-3"), "key that its issuer does not name"),
        "no key id": (signed(world.claims(), kid=""), "does not name its key"),
        "no subject": (signed(world.claims(sub=None)), "claims.*: sub"),
        "empty subject": (signed(world.claims(sub="")), "claims.*: sub"),
        "no expiry": (signed(world.claims(exp=None)), "claims.*: exp"),
        "no issuer": (signed(world.claims(iss=None)), "claims.*: iss"),
        "end of time": (signed(world.claims(exp=1e300)), "claims.*: exp"),
        "numbers as texts": (
            signed(world.claims(name=1, nbf=-1)),
            "claims.*: name, nbf",
        ),
        "other issuer": (signed(world.claims(iss=f"{URL}2")), "another issuer"),
        "id token": (signed(world.claims(token_use="id")), "no access token"),
        "expired": (signed(world.claims(exp=world.seconds(seconds=-31))), "expired at 2026-11-02T"),
        "not yet": (signed(world.claims(nbf=world.seconds(minutes=5))), "holds only from 2026"),
    }


@pytest.mark.parametrize("name", sorted(refused(World())))
def test_what_does_not_hold_is_refused_with_the_reason(world: World, name: str) -> None:
    token, said = refused(world)[name]
    with pytest.raises(Unauthenticated, match=said) as raised:
        world.verifier(CLIENT).verify(token)
    assert raised.value.remedy
    assert not token or len(token) < 20 or token not in str(raised.value)


def test_clocks_may_differ_by_half_a_minute(world: World) -> None:
    near = {"exp": world.seconds(seconds=-29), "nbf": world.seconds(seconds=29)}
    assert world.verifier().verify(signed(world.claims(**near))).subject == "subject-1"


def test_a_token_ends_when_its_time_is_over(world: World) -> None:
    verifier, token = world.verifier(), signed(world.claims())
    verifier.verify(token)
    moment: datetime = world.clock.advance(hours=1, seconds=30)
    with pytest.raises(Unauthenticated, match="expired"):
        verifier.verify(token)
    assert moment == world.clock.now()
