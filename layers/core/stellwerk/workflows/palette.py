"""The node types that someone may use: the catalogue, as roles let it be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stellwerk.catalogue.model import Catalogue, NodeType
from stellwerk.tenancy.access import Context, Verb, decide
from stellwerk.tenancy.scope import Scope

USE = "use"
"""Begins the operations that stand for groups of types: `use.http` for all of toolbox http."""


@dataclass(frozen=True)
class Offered:
    """A type, and whether the scope may use it: one that it may not is shown where it is used."""

    declared: NodeType
    usable: bool


class Palette:
    """Shows the catalogue. Roles allow or deny whole groups: `resource.feature.X.use.http`."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def types(self, scope: Scope) -> Sequence[Offered]:
        """Return all types, by name."""
        found = self._catalogue.types()
        usable = {group: _usable(scope, group) for group in map(group_of, found)}
        return [Offered(declared, usable[group_of(declared)]) for declared in found]

    def find(self, scope: Scope, name: str) -> Offered | None:
        """Return the type called `name`; None if there is none."""
        found = self._catalogue.find(name)
        return None if found is None else Offered(found, _usable(scope, group_of(found)))


def group_of(declared: NodeType) -> str:
    """Return the group of a type, or the toolbox of an action: `http` of `http.request`."""
    return declared.type.partition(".")[0]


def _usable(scope: Scope, group: str) -> bool:
    item = f"resource.feature.{scope.feature}.{USE}.{group}"
    decision = decide(scope.principal, Context.RESOURCE, item, Verb.VIEW, place=scope.place)
    return decision.allowed
