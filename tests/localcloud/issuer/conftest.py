from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from localcloud.issuer.app import create_issuer
from localcloud.issuer.codes import challenge_of
from stellwerk.kernel.errors import Unauthenticated
from stellwerk.kernel.ids import UserId
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.model import User
from tests.fakes.clock import START, FixedClock
from tests.secrets.vault import seeded

ORIGIN = "http://127.0.0.1:8400"
ISSUER = f"{ORIGIN}/oidc"
CALLBACK = "http://127.0.0.1:9999/callback?from=oidc"
VERIFIER = "v" * 50
SECRET = seeded("machine")


class OneMachine:
    """Knows one machine."""

    def machine(self, client_id: str, secret: str) -> User:
        if (client_id, secret) != ("mc-1", SECRET):
            raise Unauthenticated("the client id or the secret is wrong")
        return User(id=UserId("mc-1"), kind="machine", subject="mc-1", name="CI", created=START)


@dataclass
class World:
    """The issuer as clients and browsers reach it."""

    client: TestClient
    clock: FixedClock

    def ask(self, **changes: str | None) -> httpx2.Response:
        """Open the sign-in page as a client asks for it, with changes; None leaves one out."""
        return self.client.get("/oidc/authorize", params=asked(**changes))

    def choose(self, person: str = "u-demo", /, **changes: str | None) -> httpx2.Response:
        """Choose a person on the page."""
        form = {**asked(**changes), "person": person}
        return self.client.post("/oidc/authorize", data=form, headers={"Origin": ORIGIN})

    def code(self, person: str = "u-demo", /, **changes: str | None) -> str:
        """Return the code that the client gets for a person."""
        return told(self.choose(person, **changes))["code"]

    def token(self, **form: str) -> httpx2.Response:
        """Ask for tokens."""
        return self.client.post("/oidc/token", data=form)

    def exchange(self, code: str, /, **changes: str) -> httpx2.Response:
        """Turn a code into tokens."""
        form = {
            "grant_type": "authorization_code",
            "client_id": "stellwerk",
            "redirect_uri": CALLBACK,
            "code": code,
            "code_verifier": VERIFIER,
        }
        return self.token(**{**form, **changes})

    def signed_in(self, person: str = "u-demo", /, **changes: str | None) -> Mapping[str, str]:
        """Return the tokens of a person."""
        answer: dict[str, str] = self.exchange(self.code(person, **changes)).json()
        return answer


def asked(**changes: str | None) -> dict[str, str]:
    wanted: dict[str, str | None] = {
        "response_type": "code",
        "client_id": "stellwerk",
        "redirect_uri": CALLBACK,
        "scope": "openid email",
        "state": "s-1",
        "code_challenge": challenge_of(VERIFIER),
        "code_challenge_method": "S256",
        **changes,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def told(answer: httpx2.Response) -> dict[str, str]:
    """Return what an answer tells the client's address."""
    assert answer.status_code == 303, answer.text
    return dict(parse_qsl(urlsplit(answer.headers["location"]).query))


def said(token: str) -> JsonObject:
    """Return what a token says."""
    body = token.split(".")[1]
    found: JsonObject = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    return found


def fields(page: str) -> list[tuple[str, str]]:
    """Return the hidden fields of a page."""
    return re.findall(r'<input type="hidden" name="(.*?)" value="(.*?)">', page)


@pytest.fixture
def world() -> World:
    clock = FixedClock()
    issuer = create_issuer(
        ISSUER,
        machines=OneMachine(),
        clock=clock,
        clients={"stellwerk": ("https://app.example/signed-in",)},
    )
    app = Starlette(routes=[Mount("/oidc", issuer)])
    return World(TestClient(app, base_url=ORIGIN, follow_redirects=False), clock)
