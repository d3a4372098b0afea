"""Fixtures: each contract test runs once in memory and once on moto."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from moto import mock_aws

from tests.contracts.stores import Moto, Stores, in_memory


@pytest.fixture(scope="module")
def moto() -> Iterator[Moto]:
    with mock_aws():
        yield Moto()


@pytest.fixture(params=["fake", "moto"])
def stores(request: pytest.FixtureRequest) -> Stores:
    if request.param == "fake":
        return in_memory()
    moto: Moto = request.getfixturevalue("moto")
    return moto.stores()[0]
