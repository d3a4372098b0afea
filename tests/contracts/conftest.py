"""Fixtures: each contract test runs once in memory and once on moto."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from moto import mock_aws

from stellwerk.tenancy.ports import Directory
from tests.contracts.directories import on_moto
from tests.contracts.stores import Moto, Stores, in_memory
from tests.fakes.directory import directory as fake_directory


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


@pytest.fixture(params=["fake", "moto"])
def directory(request: pytest.FixtureRequest) -> Directory:
    if request.param == "fake":
        return fake_directory()
    moto: Moto = request.getfixturevalue("moto")
    return on_moto(moto)[0]
