"""The catalogue as shipped: `catalogue.json`, derived from the declarations of all handlers."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from pydantic import TypeAdapter

from stellwerk.catalogue.model import NodeType

SHIPPED = Path(__file__).with_name("catalogue.json")


class StoredCatalogue:
    """Node types of a file, read when first asked for."""

    def __init__(self, file: Path = SHIPPED) -> None:
        self._file = file

    def find(self, name: str) -> NodeType | None:
        """Return the type called `name`, or by one of its aliases."""
        return self._by_name.get(name)

    def types(self) -> tuple[NodeType, ...]:
        """Return all types, sorted by name."""
        return self._types

    @cached_property
    def _types(self) -> tuple[NodeType, ...]:
        read = TypeAdapter(tuple[NodeType, ...]).validate_json(self._file.read_bytes())
        return tuple(sorted(read, key=lambda declared: declared.type))

    @cached_property
    def _by_name(self) -> dict[str, NodeType]:
        found = {alias: declared for declared in self._types for alias in declared.aliases}
        return found | {declared.type: declared for declared in self._types}
