from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from api.identity import Verifier
from api.issuer_keys import LARGEST, fetched
from stellwerk.kernel.errors import ServiceUnavailable, Unauthenticated
from stellwerk.kernel.json import JsonObject
from tests.fakes.clock import FixedClock
from tests.identity.issuers import URL, Issuer, claims, described, signed

DISCOVERY, KEYS = "/.well-known/openid-configuration", "/jwks"


class World:
    def __init__(self) -> None:
        self.issuer = Issuer("key-1")
        self.clock = FixedClock()
        self.verifier = Verifier(URL, clock=self.clock, fetch=self.issuer.fetch)

    def verify(self, name: str = "key-1") -> None:
        self.verifier.verify(signed(claims(self.clock.now()), name))


@pytest.fixture
def world() -> World:
    return World()


def test_keys_are_fetched_once_for_many_tokens(world: World) -> None:
    for _ in range(5):
        world.verify()
    assert world.issuer.requests == [DISCOVERY, KEYS]


def test_a_new_key_is_fetched_when_a_token_names_it(world: World) -> None:
    world.verify()
    world.issuer.keys = [described("key-1"), described("key-2")]
    world.clock.advance(minutes=1)
    world.verify("key-2")
    world.verify()
    assert world.issuer.requests == [DISCOVERY, KEYS, KEYS]


def test_a_key_that_was_withdrawn_is_forgotten_within_an_hour(world: World) -> None:
    world.verify()
    world.issuer.keys = [described("key-2")]
    world.clock.advance(minutes=61)
    world.verify("key-2")
    with pytest.raises(Unauthenticated):
        world.verify("key-1")


def test_invented_key_ids_do_not_make_the_issuer_busy(world: World) -> None:
    world.verify()
    for _ in range(20):
        with pytest.raises(Unauthenticated, match="does not name"):
            world.verify("key-3")
    assert len(world.issuer.requests) == 2
    world.clock.advance(seconds=31)
    for _ in range(20):
        with pytest.raises(Unauthenticated):
            world.verify("key-3")
    assert len(world.issuer.requests) == 3


def test_an_issuer_that_does_not_answer_is_not_the_callers_fault(world: World) -> None:
    world.issuer.down = True
    for _ in range(3):
        with pytest.raises(ServiceUnavailable, match="issuer of tokens does not answer"):
            world.verify()
    assert len(world.issuer.requests) == 1
    world.issuer.down = False
    world.clock.advance(seconds=31)
    world.verify()


def test_known_keys_outlast_an_outage_but_not_for_ever(world: World) -> None:
    world.verify()
    world.issuer.down = True
    world.clock.advance(hours=11)
    world.verify()
    with pytest.raises(ServiceUnavailable):
        world.verify("key-2")
    world.clock.advance(hours=2)
    with pytest.raises(ServiceUnavailable):
        world.verify()


def test_an_outage_that_is_over_is_forgotten(world: World) -> None:
    world.issuer.down = True
    with pytest.raises(ServiceUnavailable):
        world.verify()
    world.issuer.down = False
    world.clock.advance(minutes=1)
    world.verify()
    with pytest.raises(Unauthenticated):
        world.verify("key-3")


def test_an_issuer_that_describes_another_one_is_not_believed(world: World) -> None:
    world.issuer.issuer = "https://other.example"
    with pytest.raises(ServiceUnavailable):
        world.verify()
    assert world.issuer.requests == [DISCOVERY]


def test_keys_of_other_kinds_in_the_set_are_passed_over(world: World) -> None:
    broken = {**described("key-2"), "n": "!"}
    encryption = {**described("key-2"), "use": "enc"}
    unnamed = {**described("key-2"), "kid": None}
    curve: JsonObject = {"kty": "EC", "kid": "key-2"}
    world.issuer.keys = [broken, encryption, unnamed, curve, described("key-1")]
    world.verify()
    with pytest.raises(Unauthenticated):
        world.verify("key-2")


@pytest.mark.parametrize("answer", [b"", b"{}", b"[]", b"<html>"])
def test_what_is_no_key_set_is_an_outage(answer: bytes) -> None:
    issuer = Issuer("key-1")

    def fetch(url: str) -> bytes:
        return answer if url.endswith("/jwks") else issuer.fetch(url)

    clock = FixedClock()
    with pytest.raises(ServiceUnavailable):
        Verifier(URL, clock=clock, fetch=fetch).verify(signed(claims(clock.now())))
    with pytest.raises(ServiceUnavailable):
        Verifier(URL, clock=clock, fetch=lambda url: answer).verify(signed(claims(clock.now())))


def test_many_first_tokens_at_once_fetch_once(world: World) -> None:
    token = signed(claims(world.clock.now()))
    threads = [threading.Thread(target=world.verifier.verify, args=(token,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert world.issuer.requests == [DISCOVERY, KEYS]


@contextmanager
def served(status: int, body: bytes, **headers: str) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_keys_come_over_http() -> None:
    body = json.dumps({"keys": []}).encode()
    with served(200, body) as url:
        assert fetched(f"{url}/jwks") == body


@pytest.mark.parametrize(
    ("status", "body"), [(404, b"{}"), (500, b"{}"), (200, b"x" * (LARGEST + 1)), (302, b"")]
)
def test_what_else_http_may_answer_is_an_outage(status: int, body: bytes) -> None:
    with served(status, body, Location="/elsewhere") as url, pytest.raises(ServiceUnavailable):
        fetched(url)


def test_nobody_at_the_address_is_an_outage() -> None:
    with served(200, b"") as url:
        pass
    with pytest.raises(ServiceUnavailable, match="does not answer"):
        fetched(url)
