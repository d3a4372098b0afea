"""A stage for every test."""

from __future__ import annotations

import pytest

from tests.runs.stage import Stage


@pytest.fixture
def stage() -> Stage:
    return Stage()
