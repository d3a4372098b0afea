from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from tests.api.world import World, world


@pytest.fixture(scope="session")
def one_world() -> Iterator[World]:
    """A seeded world that all tests share: each makes what it needs."""
    with world() as made:
        yield made


@pytest.fixture
def anna(one_world: World) -> TestClient:
    """The administrator of m-demo."""
    return one_world.someone("u-demo")


@pytest.fixture
def ben(one_world: World) -> TestClient:
    """A user of m-demo."""
    return one_world.someone("u-demo-user")


@pytest.fixture
def nora(one_world: World) -> TestClient:
    """The administrator of m-nord."""
    return one_world.someone("u-nord-admin")
