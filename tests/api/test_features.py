"""The routes that a feature's container brings."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.backend import Backend
from stellwerk.features.found import FoundFeatures
from tests.api.world import SpokenTokens, World

FEATURE = """
from stellwerk.features.declaring import administrator, pages
from stellwerk.tenancy.features import Feature
from stellwerk.tenancy.model import Text

UI = pages("garden", home=("Start", "Home"))
FEATURE = Feature(
    code="garden", label=Text(de="Garten", en="Garden"), icon="leaf", ui=UI,
    roles=(administrator("garden", UI),),
)
"""
ROUTES = """
from fastapi import APIRouter

from stellwerk.kernel.errors import NotFound

router = APIRouter()


@router.get("/beds/{bed}")
def get_bed(bed: int) -> dict[str, int]:
    if bed > 3:
        raise NotFound(f"there is no bed {bed}")
    if bed < 0:
        raise RuntimeError("the secret of the garden")
    return {"bed": bed}
"""


@pytest.fixture
def client(
    one_world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TestClient]:
    """A client of an application whose only feature brings routes."""
    container = tmp_path / "plots" / "garden"
    container.mkdir(parents=True)
    for name, text in {"__init__": "", "feature": FEATURE, "routes": ROUTES}.items():
        (container / f"{name}.py").write_text(text)
    (tmp_path / "plots" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    services = replace(one_world.services, features=FoundFeatures("plots"))
    yield TestClient(create_app(Backend(services, SpokenTokens())))
    for name in [name for name in sys.modules if name.partition(".")[0] == "plots"]:
        del sys.modules[name]


def test_the_routes_of_a_feature_are_served_at_its_code(client: TestClient) -> None:
    assert client.get("/api/v1/garden/beds/3").json() == {"bed": 3}
    assert client.get("/api/v1/beds/3").status_code == 404


def test_they_are_in_the_document_under_its_tag(client: TestClient) -> None:
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    operation = paths["/api/v1/garden/beds/{bed}"]["get"]
    assert (operation["operationId"], operation["tags"]) == ("getBed", ["garden"])


def test_their_errors_become_problems_as_all_others(client: TestClient) -> None:
    answer = client.get("/api/v1/garden/beds/4")
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["type"] == "urn:stellwerk:problem:not-found"
    allowed = client.post("/api/v1/garden/beds/4")
    assert (allowed.status_code, allowed.headers["Allow"]) == (405, "GET")


def test_a_fault_of_ours_is_an_answer_that_tells_nothing_of_it(client: TestClient) -> None:
    answer = client.get("/api/v1/garden/beds/-1")
    assert (answer.status_code, answer.json()["type"]) == (500, "urn:stellwerk:problem:internal")
    assert "secret" not in answer.text
    assert answer.json()["request_id"] == answer.headers["X-Request-Id"]
