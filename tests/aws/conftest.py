"""Fixtures: moto in this process, and stores on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from moto import mock_aws

from tests.contracts.stores import Moto


@pytest.fixture(scope="module")
def moto() -> Iterator[Moto]:
    with mock_aws():
        yield Moto()
