"""Fixtures: each test of the chain runs once in memory and once on moto."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from moto import mock_aws

from tests.contracts.audit_logs import Evidence, in_memory, on_moto
from tests.contracts.stores import Moto


@pytest.fixture(scope="module")
def moto() -> Iterator[Moto]:
    with mock_aws():
        yield Moto()


@pytest.fixture(params=["fake", "moto"])
def evidence(request: pytest.FixtureRequest) -> Evidence:
    if request.param == "fake":
        return in_memory()
    return on_moto(request.getfixturevalue("moto"))[0]
