"""A desk for every test of the service."""

from __future__ import annotations

import pytest

from tests.workflows.desk import Desk


@pytest.fixture
def desk() -> Desk:
    return Desk()
