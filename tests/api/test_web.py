"""The API as `stellwerk up` serves it: over HTTP, with tokens of its own issuer."""

from __future__ import annotations

import base64
import hashlib
import re
import socket
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from localcloud import web
from localcloud.cli.hosting import hosted
from localcloud.server import PortInUse
from stellwerk.config import Settings

VERIFIER = "v" * 50


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = Settings.of({"STELLWERK_DATA": str(tmp_path_factory.mktemp("web"))})
    with hosted(settings, api_port=0) as connection:
        assert connection.api is not None
        yield connection.api


def signed_in(address: str, person: str) -> str:
    """Choose a person on the sign-in page, and return the access token."""
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=")
    asked = {
        "client_id": "stellwerk",
        "response_type": "code",
        "redirect_uri": "http://127.0.0.1:5555/callback",
        "scope": "openid",
        "state": "s",
        "code_challenge": challenge.decode(),
        "code_challenge_method": "S256",
    }
    with httpx2.Client() as browser:
        page = browser.get(f"{address}/oidc/authorize", params=asked)
        fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
        chosen = browser.post(
            f"{address}/oidc/authorize", data={**fields, "person": person}, params=asked
        )
        code = parse_qs(urlsplit(chosen.headers["location"]).query)["code"][0]
        answer = browser.post(
            f"{address}/oidc/token",
            data={
                "grant_type": "authorization_code",
                "client_id": "stellwerk",
                "code": code,
                "redirect_uri": asked["redirect_uri"],
                "code_verifier": VERIFIER,
            },
        )
    token: str = answer.json()["access_token"]
    return token


def test_a_person_signs_in_and_sees_her_mandate(address: str) -> None:
    token = signed_in(address, "u-demo")
    me = httpx2.get(f"{address}/api/v1/me", headers={"Authorization": f"Bearer {token}"})
    assert me.status_code == 200, me.text
    assert me.json()["mandates"][0]["id"] == "m-demo"


def test_health_names_the_issuer_that_is_served_beside_it(address: str) -> None:
    health = httpx2.get(f"{address}/api/v1/health").json()
    assert health["issuer"] == f"{address}/oidc"
    found = httpx2.get(f"{health['issuer']}/.well-known/openid-configuration").json()
    assert found["issuer"] == health["issuer"]


def test_a_token_that_nobody_signed_is_refused(address: str) -> None:
    for token in ("nonsense", "a.b.c", "e30.e30."):
        me = httpx2.get(f"{address}/api/v1/me", headers={"Authorization": f"Bearer {token}"})
        assert me.status_code == 401


def test_a_name_that_was_made_to_point_here_is_refused(address: str) -> None:
    answer = httpx2.get(f"{address}/api/v1/health", headers={"Host": "evil.example"})
    assert answer.status_code == 400


def test_a_body_in_pieces_is_counted(address: str) -> None:
    token = signed_in(address, "u-demo")
    answer = httpx2.post(
        f"{address}/api/v1/mandates/m-demo/instances/i-demo/validate",
        content=(b"x" * 65_536 for _ in range(100)),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"


def test_answers_are_sent_without_waiting_for_the_client_to_confirm_their_head() -> None:
    with web.listening(0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_that_is_taken_is_named() -> None:
    with web.listening(0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse, match=str(port)):
            web.listening(port)
