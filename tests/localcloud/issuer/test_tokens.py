from __future__ import annotations

import base64
import stat
from pathlib import Path

import httpx2
import pytest
from starlette.testclient import TestClient

from api.identity import Verifier
from localcloud.issuer.app import create_issuer
from localcloud.issuer.codes import MOST
from localcloud.issuer.keys import FILE, SigningKey
from stellwerk.kernel.errors import Unauthenticated
from tests.localcloud.issuer.conftest import ISSUER, ORIGIN, SECRET, World, said


def verifier(world: World, *clients: str) -> Verifier:
    return Verifier(
        ISSUER, clients, clock=world.clock, fetch=lambda url: world.client.get(url).content
    )


def error(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


def test_an_access_token_is_like_one_of_cognito(world: World) -> None:
    tokens = world.signed_in()
    claims = said(tokens["access_token"])
    now = int(world.clock.now().timestamp())
    assert (
        claims.items()
        >= {
            "iss": ISSUER,
            "sub": "u-demo",
            "client_id": "stellwerk",
            "token_use": "access",
            "scope": "openid email",
            "username": "u-demo",
            "iat": now,
            "exp": now + 3600,
        }.items()
    )
    assert tokens["token_type"] == "Bearer"
    assert str(tokens["expires_in"]) == "3600"


def test_the_api_takes_the_tokens(world: World) -> None:
    claims = verifier(world, "stellwerk").verify(world.signed_in("u-nord-user")["access_token"])
    assert (claims.subject, claims.kind, claims.name) == ("u-nord-user", "person", "Nils Küst")
    assert (claims.email, claims.email_verified) == ("nils@nordwind.example", True)
    assert claims.client_id == "stellwerk"


def test_only_access_tokens_open_the_api(world: World) -> None:
    tokens = world.signed_in()
    for name in ("id_token", "refresh_token"):
        with pytest.raises(Unauthenticated, match="no access token"):
            verifier(world).verify(tokens[name])


def test_the_id_token_is_for_the_client_and_carries_its_nonce(world: World) -> None:
    claims = said(world.signed_in(nonce="n-1")["id_token"])
    assert (claims["aud"], claims["nonce"], claims["name"]) == ("stellwerk", "n-1", "Anna Muster")
    assert "nonce" not in said(world.signed_in()["id_token"])


def test_a_code_is_good_once(world: World) -> None:
    code = world.code()
    assert world.exchange(code).status_code == 200
    assert error(world.exchange(code)) == (400, "invalid_grant")


@pytest.mark.parametrize(
    "changes",
    [
        {"code_verifier": "w" * 50},
        {"code_verifier": ""},
        {"redirect_uri": "http://127.0.0.1:9998/callback"},
        {"code": "guessed"},
    ],
)
def test_a_code_needs_all_that_belongs_to_it(world: World, changes: dict[str, str]) -> None:
    code = world.code()
    assert error(world.exchange(code, **changes)) == (400, "invalid_grant")
    if "code" not in changes:
        assert error(world.exchange(code)) == (400, "invalid_grant"), "it is used up"


def test_a_code_expires_after_a_minute(world: World) -> None:
    code = world.code()
    world.clock.advance(seconds=61)
    assert error(world.exchange(code)) == (400, "invalid_grant")


def test_codes_that_nobody_redeems_are_forgotten(world: World) -> None:
    first = world.code()
    for _ in range(MOST):
        last = world.code()
    assert error(world.exchange(first)) == (400, "invalid_grant")
    assert world.exchange(last).status_code == 200


def test_a_refresh_token_gives_new_access_tokens(world: World) -> None:
    tokens = world.signed_in()
    world.clock.advance(hours=3)
    form = {"grant_type": "refresh_token", "client_id": "stellwerk"}
    answer = world.token(**form, refresh_token=tokens["refresh_token"])
    claims = said(answer.json()["access_token"])
    assert (claims["sub"], claims["scope"]) == ("u-demo", "openid email")
    assert verifier(world).verify(answer.json()["access_token"]).subject == "u-demo"
    assert "refresh_token" not in answer.json()
    assert answer.headers["cache-control"] == "no-store"


def test_what_is_no_refresh_token_gives_nothing(world: World) -> None:
    tokens = world.signed_in()
    form = {"grant_type": "refresh_token", "client_id": "stellwerk"}
    for token in ("", "x.y.z", tokens["access_token"], tokens["id_token"]):
        assert error(world.token(**form, refresh_token=token)) == (400, "invalid_grant")
    world.clock.advance(hours=12)
    answer = world.token(**form, refresh_token=tokens["refresh_token"])
    assert error(answer) == (400, "invalid_grant")


def test_a_revoked_refresh_token_gives_nothing(world: World) -> None:
    token = world.signed_in()["refresh_token"]
    other = world.signed_in()["refresh_token"]
    assert world.client.post("/oidc/revoke", data={"token": token}).status_code == 200
    assert world.client.post("/oidc/revoke", data={"token": "nonsense"}).status_code == 200
    assert world.client.post("/oidc/revoke", data={"a": "x" * 50_000}).status_code == 413
    form = {"grant_type": "refresh_token", "client_id": "stellwerk"}
    assert error(world.token(**form, refresh_token=token)) == (400, "invalid_grant")
    assert world.token(**form, refresh_token=other).status_code == 200


def test_a_machine_signs_in_with_its_secret(world: World) -> None:
    answer = world.token(grant_type="client_credentials", client_id="mc-1", client_secret=SECRET)
    claims = verifier(world, "stellwerk").verify(answer.json()["access_token"])
    assert (claims.kind, claims.subject, claims.client_id) == ("machine", "mc-1", "mc-1")
    assert "refresh_token" not in answer.json()
    encoded = base64.b64encode(f"mc-1:{SECRET}".encode()).decode()
    basic = world.client.post(
        "/oidc/token",
        data={"grant_type": "client_credentials"},
        headers={"Authorization": f"Basic {encoded}"},
    )
    assert basic.status_code == 200


@pytest.mark.parametrize(
    "form", [{"client_id": "mc-1", "client_secret": "guess"}, {"client_id": "mc-1"}, {}]
)
def test_a_machine_without_its_secret_is_refused(world: World, form: dict[str, str]) -> None:
    answer = world.token(grant_type="client_credentials", **form)
    assert error(answer) == (401, "invalid_client")
    assert SECRET not in answer.text


def test_a_header_that_cannot_be_read_is_refused(world: World) -> None:
    answer = world.client.post(
        "/oidc/token", data={"grant_type": "x"}, headers={"Authorization": "Basic ###"}
    )
    assert error(answer) == (401, "invalid_client")


def test_unknown_grants_and_clients_are_refused(world: World) -> None:
    form = {"client_id": "stellwerk"}
    assert error(world.token(grant_type="password", **form)) == (400, "unsupported_grant_type")
    assert error(world.token(grant_type="refresh_token")) == (401, "invalid_client")


def test_without_machines_none_signs_in() -> None:
    client = TestClient(create_issuer(ISSUER), base_url=ORIGIN)
    form = {"grant_type": "client_credentials", "client_id": "a", "client_secret": "b"}
    assert error(client.post("/token", data=form)) == (401, "invalid_client")


def test_the_issuer_describes_itself(world: World) -> None:
    found = world.client.get("/oidc/.well-known/openid-configuration").json()
    assert found["issuer"] == ISSUER
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri", "revocation_endpoint"):
        path = str(found[name]).removeprefix(ORIGIN)
        assert world.client.get(path).status_code != 404
    assert found["code_challenge_methods_supported"] == ["S256"]


def test_the_key_set_holds_the_public_key_alone(world: World) -> None:
    (key,) = world.client.get("/oidc/.well-known/jwks.json").json()["keys"]
    assert set(key) == {"kty", "n", "e", "kid", "use", "alg"}


def test_the_key_outlasts_the_local_cloud_and_is_its_owners(tmp_path: Path) -> None:
    first = SigningKey.of(tmp_path / "data")
    second = SigningKey.of(tmp_path / "data")
    assert first.public == second.public
    file = tmp_path / "data" / FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in file.parent.iterdir()] == [FILE]
    assert SigningKey.of(None).public != first.public


def test_a_file_with_another_kind_of_key_is_not_used(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    key = generate_private_key(SECP256R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / FILE).write_bytes(pem)
    with pytest.raises(TypeError, match="holds no RSA key"):
        SigningKey.of(tmp_path)
