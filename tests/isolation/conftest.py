from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.isolation.world import World, world


@pytest.fixture(scope="module")
def tenants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The two seeded companies."""
    with world(tmp_path_factory.mktemp("issuer")) as made:
        yield made
