from __future__ import annotations

import pytest

from tests.tenancy.world import World, world


@pytest.fixture(name="world")
def seeded() -> World:
    """A seeded world of the test's own."""
    return world()
