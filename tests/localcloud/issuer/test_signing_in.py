from __future__ import annotations

import pytest

from localcloud.seeding.people import PEOPLE
from tests.localcloud.issuer.conftest import (
    CALLBACK,
    ISSUER,
    ORIGIN,
    World,
    asked,
    fields,
    told,
)


def test_the_page_shows_all_who_can_sign_in(world: World) -> None:
    answer = world.ask()
    assert answer.status_code == 200
    for person in PEOPLE:
        assert f'value="{person.id}"' in answer.text
        assert person.name in answer.text
    assert "Muster AG" in answer.text
    assert "Nordwind GmbH" in answer.text
    assert dict(fields(answer.text))["code_challenge_method"] == "S256"


def test_the_page_runs_no_scripts_and_loads_nothing_from_elsewhere(world: World) -> None:
    answer = world.ask()
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "'unsafe-inline'" not in policy
    assert "form-action 'self' http://127.0.0.1:9999;" in policy
    assert "frame-ancestors 'none'" in policy
    for mark in ("<script", "style=", "onclick", "http://127.0.0.1:8400"):
        assert mark not in answer.text
    assert answer.headers["cache-control"] == "no-store"
    for name, kind in (("style.css", "text/css"), ("icon.svg", "image/svg+xml")):
        found = world.client.get(f"/oidc/{name}")
        assert (found.status_code, found.headers["content-type"].partition(";")[0]) == (200, kind)


@pytest.mark.parametrize(
    ("accepted", "wanted", "heading"),
    [
        ("de-CH,de;q=0.9,en;q=0.8", None, "Anmelden"),
        ("en-GB,en;q=0.9", None, "Sign in"),
        ("fr,de;q=0.5", None, "Anmelden"),
        ("fr", None, "Sign in"),
        ("", None, "Sign in"),
        ("en", "de", "Anmelden"),
        ("de", "fr en", "Sign in"),
    ],
)
def test_the_page_speaks_german_or_english(
    world: World, accepted: str, wanted: str | None, heading: str
) -> None:
    world.client.headers["accept-language"] = accepted
    answer = world.ask(ui_locales=wanted)
    assert f"<h1>{heading}</h1>" in answer.text
    assert f'lang="{"de" if heading == "Anmelden" else "en"}"' in answer.text
    assert "ui_locales=de" in answer.text
    assert "ui_locales=en" in answer.text


def test_what_a_client_sends_is_shown_as_text(world: World) -> None:
    answer = world.ask(state='"><script>alert(1)</script>', nonce="$title&amp;")
    assert "<script" not in answer.text
    assert dict(fields(answer.text))["state"].startswith("&quot;&gt;&lt;script")
    assert dict(fields(answer.text))["nonce"] == "$title&amp;amp;"


def test_whoever_is_chosen_goes_back_to_the_client_with_a_code(world: World) -> None:
    answer = world.choose()
    assert answer.headers["location"].startswith("http://127.0.0.1:9999/callback?from=oidc&")
    found = told(answer)
    assert (found["state"], found["iss"], found["from"]) == ("s-1", ISSUER, "oidc")
    assert len(found["code"]) > 40


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:1/",
        "http://[::1]:8401/callback",
        "http://localhost/callback",
        "https://app.example/signed-in",
    ],
)
def test_codes_go_to_this_machine_or_a_registered_address(world: World, address: str) -> None:
    assert world.choose(redirect_uri=address).headers["location"].startswith(address)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "https://evil.example/",
        "https://app.example/signed-in/",
        "https://app.example/signed-in?x=1",
        "https://127.0.0.1/",
        "http://127.0.0.1.evil.example/",
        "http://127.0.0.1@evil.example/",
        "http://user@127.0.0.1/",
        "http://127.0.0.1:8401/#fragment",
        "http://127.0.0.1:x/",
        "http://127.0.0.1:8401\\@evil.example/",
        "http://127.0.0.1/\r\nSet-Cookie: a=b",
        "http://[::1",
        "javascript:alert(1)",
        "//127.0.0.1/",
    ],
)
def test_codes_go_nowhere_else(world: World, address: str) -> None:
    for answer in (world.ask(redirect_uri=address), world.choose(redirect_uri=address)):
        assert answer.status_code == 400
        assert "location" not in answer.headers
        assert "neither registered nor a page of this machine" in answer.text


def test_an_unknown_client_is_told_to_the_person(world: World) -> None:
    world.client.headers["accept-language"] = "de"
    answer = world.ask(client_id="<b>")
    assert answer.status_code == 400
    assert "Anmelden ist so nicht möglich" in answer.text
    assert "&lt;b&gt;" in answer.text


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "unsupported_response_type"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
    ],
)
def test_what_else_is_wrong_is_told_to_the_client(
    world: World, changes: dict[str, str | None], error: str
) -> None:
    for answer in (world.ask(**changes), world.choose(**changes)):
        found = told(answer)
        assert (found["error"], found["state"]) == (error, "s-1")
        assert answer.headers["location"].startswith("http://127.0.0.1:9999/callback")
        assert "code" not in found


def test_nobody_else_can_be_chosen(world: World) -> None:
    for person in ("", "u-nobody"):
        assert told(world.choose(person))["error"] == "access_denied"


def test_forms_of_other_sites_are_refused(world: World) -> None:
    for origin in ("https://evil.example", "null", "http://127.0.0.1:8401"):
        form = {**asked(), "person": "u-demo"}
        answer = world.client.post("/oidc/authorize", data=form, headers={"Origin": origin})
        assert answer.status_code == 403
    answer = world.client.post(
        "/oidc/authorize", data=form, headers={"Origin": ORIGIN.replace("127.0.0.1", "localhost")}
    )
    assert answer.status_code == 303


@pytest.mark.parametrize(
    "body", ["client_id=a&client_id=b", "a=" + "x" * 40_000, "%ff\xff", "&" * 99]
)
def test_forms_that_cannot_be_read_are_refused(world: World, body: str) -> None:
    content = body.encode("latin-1")
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    for path in ("/oidc/authorize", "/oidc/token"):
        answer = world.client.post(path, content=content, headers=headers)
        assert answer.status_code in {400, 401, 413}


def test_a_query_in_which_a_name_comes_twice_is_refused(world: World) -> None:
    answer = world.client.get(
        f"/oidc/authorize?client_id=x&client_id=stellwerk&redirect_uri={CALLBACK}"
    )
    assert answer.status_code == 400
    assert "a parameter comes twice" in answer.text


def test_signing_out_leads_to_an_allowed_address_and_nowhere_else(world: World) -> None:
    def leave(**params: str) -> str | None:
        answer = world.client.get("/oidc/logout", params=params)
        assert answer.status_code in {200, 303}
        return answer.headers.get("location")

    here = "http://localhost:8401/signed-out"
    assert leave(client_id="stellwerk", logout_uri=here) == here
    assert (
        leave(client_id="stellwerk", post_logout_redirect_uri=here, state="x") == f"{here}?state=x"
    )
    assert leave(client_id="stellwerk", logout_uri="https://evil.example/") is None
    assert leave(client_id="other", logout_uri=here) is None
    assert leave() is None
    assert world.client.get("/oidc/logout?a=1&a=2").status_code == 200
    assert "Signed out" in world.client.get("/oidc/logout").text
