from __future__ import annotations

from tests.contracts.conftest import moto

__all__ = ["moto"]
