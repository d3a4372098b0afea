"""The contract tests of the stores, to run again behind policies."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType


def adopted(*modules: ModuleType) -> Iterator[tuple[str, object]]:
    """Yield the tests of the modules under names of their own, and fixtures under theirs."""
    for module in modules:
        for name, value in vars(module).items():
            if name.startswith("test_") and callable(value):
                yield f"{name}_in_{module.__name__.rsplit('.', 1)[-1]}", value
            elif type(value).__name__ == "FixtureFunctionDefinition" and name not in _OURS:
                yield name, value


_OURS = {"moto", "stores", "directory"}
