from __future__ import annotations

import pytest

from stellwerk.config import Settings
from stellwerk.kernel.errors import BadInput


def test_without_variables_it_is_a_local_deployment() -> None:
    settings = Settings.of({})
    assert (settings.stage, settings.prefix, settings.endpoint_url) == ("local", "stellwerk", None)
    assert (settings.platform_table, settings.runs_table) == (
        "stellwerk-platform",
        "stellwerk-runs",
    )
    assert settings.states_role == f"arn:aws:iam::{settings.account}:role/stellwerk-states"
    assert (settings.tenant_role, settings.group) == ("", "local")
    assert settings.http_allow == ()
    assert (settings.clients, settings.rate_limit) == ((), 600)
    assert settings.hook_rate == 6000
    assert settings.microsoft_login == "https://login.microsoftonline.com"
    assert settings.microsoft_graph == "https://graph.microsoft.com/v1.0"
    assert settings.microsoft_client == ""
    assert settings.redirects == ("http://localhost:8401/connected",)
    assert settings.issuer == "http://127.0.0.1:8400/oidc"


def test_the_prefix_begins_every_name() -> None:
    settings = Settings.of({"STELLWERK_PREFIX": "demo", "AWS_REGION": "eu-west-1"})
    names = (settings.platform_table, settings.runs_table, settings.bucket)
    assert all(name.startswith("demo-") for name in names)
    assert settings.region == "eu-west-1"
    assert settings.bucket.endswith("-eu-west-1")


def test_each_setting_can_be_given() -> None:
    settings = Settings.of(
        {
            "STELLWERK_STAGE": "aws",
            "STELLWERK_REGION": "eu-north-1",
            "STELLWERK_RUNS_TABLE": "r",
            "STELLWERK_PLATFORM_TABLE": "p",
            "STELLWERK_BUCKET": "b",
            "STELLWERK_STATES_ROLE": "arn:role",
            "STELLWERK_ENDPOINT_URL": "http://127.0.0.1:4566",
            "STELLWERK_DATA": "/data",
            "STELLWERK_HTTP_ALLOW": "127.0.0.1:8080, localhost:9, ",
            "STELLWERK_AUDIT_TABLE": "a",
            "STELLWERK_TENANT_ROLE": "arn:tenants",
            "STELLWERK_GROUP": "api",
            "STELLWERK_ISSUER": "https://issuer.example/pool/",
            "STELLWERK_CLIENTS": "web,cli",
            "STELLWERK_RATE_LIMIT": "60",
            "AWS_REGION": "elsewhere",
        }
    )
    assert (settings.audit_table, settings.rate_limit) == ("a", 60)
    assert (settings.tenant_role, settings.group) == ("arn:tenants", "api")
    assert (settings.issuer, settings.clients) == ("https://issuer.example/pool", ("web", "cli"))
    assert settings.region == "eu-north-1"
    assert (settings.runs_table, settings.platform_table, settings.bucket) == ("r", "p", "b")
    assert settings.endpoint_url == "http://127.0.0.1:4566"
    assert settings.http_allow == ("127.0.0.1:8080", "localhost:9")


def test_all_bad_variables_are_named_at_once() -> None:
    with pytest.raises(BadInput) as raised:
        Settings.of(
            {"STELLWERK_STAGE": "moon", "STELLWERK_PREFIX": "x" * 21, "STELLWERK_RATE_LIMIT": "-1"}
        )
    assert "STELLWERK_STAGE" in raised.value.message
    assert "STELLWERK_PREFIX" in raised.value.message
    assert "STELLWERK_RATE_LIMIT" in raised.value.message


def test_the_process_has_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STELLWERK_PREFIX", "mine")
    assert Settings.from_environment().prefix == "mine"
