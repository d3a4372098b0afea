"""Fixtures: stores on moto, behind the template's policies for the module's `GROUP`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from moto import mock_aws

from stellwerk.tenancy.ports import Directory
from tests.contracts.directories import on_moto
from tests.contracts.stores import Stores
from tests.security.guard import GuardedMoto


@pytest.fixture(scope="module")
def moto(request: pytest.FixtureRequest) -> Iterator[GuardedMoto]:
    with mock_aws():
        yield GuardedMoto(request.module.GROUP)


@pytest.fixture
def stores(moto: GuardedMoto) -> Stores:
    return moto.stores()[0]


@pytest.fixture
def directory(moto: GuardedMoto) -> Directory:
    return on_moto(moto)[0]
